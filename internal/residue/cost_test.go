package residue

import (
	"context"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/calibration"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestRemember lets plans rest on other costs, and forgets them.
func TestRemember(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	before := known()
	defer remember.found.Store(&before)
	empty := []Costs{}
	remember.found.Store(&empty)

	k := inForce(false)[0]
	problem := plan.Problem{M: 300, N: 300, K: 300, A: num.Float64, B: num.Float64, C: num.Float64}
	q := plan.Plan{Moduli: 20, WidthL: 71, WidthR: 71}
	parts := builtIn(k, &problem, &q)
	if got, want := work(k, &problem, &q), startCost+parts.Products+parts.Operands+parts.Results; got != want {
		t.Errorf("%g by the figures built in, want %g", got, want)
	}
	other := Costs{"another processor", k.name(), Parts{9, 9, 9}}
	here := Costs{isa.Model(), k.name(), Parts{2, 3, 4}}
	for _, c := range []Costs{other, {isa.Model(), k.name(), Parts{5, 5, 5}}, here} {
		if err := Remember([]Costs{c}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := work(k, &problem, &q), startCost+2*parts.Products+3*parts.Operands+4*parts.Results; got != want {
		t.Errorf("%g by what is remembered, want %g", got, want)
	}
	if found := calibration.Read[[]Costs](costsFile, costsVersion); len(found) != 2 || found[0] != here || found[1] != other {
		t.Errorf("the file has %+v", found)
	}

	// Another machine has written since.
	third := Costs{"a third processor", k.name(), Parts{7, 7, 7}}
	if err := calibration.Write(costsFile, costsVersion, []Costs{here, other, third}); err != nil {
		t.Fatal(err)
	}
	if err := Remember([]Costs{here}); err != nil {
		t.Fatal(err)
	}
	if found := calibration.Read[[]Costs](costsFile, costsVersion); len(found) != 3 || found[2] != third {
		t.Errorf("the file has %+v", found)
	}

	// What nothing has measured counts for nothing.
	for _, parts := range []Parts{{}, {-1, 1, 1}, {1, 1e308, 1}, {1, 1, math.NaN()}} {
		remember.found.Store(&[]Costs{{isa.Model(), k.name(), parts}})
		if got := factorsOf(k); got != (Parts{1, 1, 1}) {
			t.Errorf("%+v is taken for %+v", parts, got)
		}
	}
}

func TestMeasureCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("multiplies for seconds")
	}
	r := testseed.Rand(t, 1, 2)
	list, err := MeasureCosts(context.Background(), func(f num.Format, n int) num.Mat { return randomMat(r, f, n, n, 0) })
	if err != nil || len(list) != len(inForce(false)) {
		t.Fatal(list, err)
	}
	for _, c := range list {
		if c.CPU != isa.Model() || !(c.Products > 0 && c.Operands > 0 && c.Results > 0) {
			t.Errorf("%+v", c)
		}
	}
	t.Logf("%+v", list)
}
