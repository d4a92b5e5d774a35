package stats

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// draw returns a vector: numbers near a large one, numbers of all sizes, a constant, or few values
// with infinities and NaN.
func draw(r *rand.Rand, f halfulp.Format, n int) *halfulp.Vector {
	x := gallery.Random(f, n, 1, r.IntN(60), r.Uint64()).Col(0)
	kind, base := r.IntN(5), math.Ldexp(1, r.IntN(40))
	for i := range n {
		switch kind {
		case 0:
			x.SetFloat64(i, base+float64(r.IntN(5)))
		case 1:
			x.SetFloat64(i, base)
		case 2:
			x.SetFloat64(i, []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.NaN()}[r.IntN(6)])
		}
	}
	return x
}

// TestStatistics compares with exact fractions.
func TestStatistics(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	formats := []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(2), halfulp.MP(53), halfulp.MP(300)}
	for range testlength.Trials(600) {
		x := draw(r, formats[r.IntN(len(formats))], r.IntN(12))
		f, n := formats[r.IntN(len(formats))], x.Len()
		var got [3]halfulp.Scalar
		for i, s := range []func(*halfulp.Vector, halfulp.Format, *halfulp.Options) (halfulp.Scalar, error){Mean, StdDev, Autocorr1} {
			var err error
			var st halfulp.Stats
			if got[i], err = s(x, f, &halfulp.Options{Stats: &st}); err != nil {
				t.Fatalf("%v: %v", x, err)
			}
			if st.Device != "cpu" || st.Method != halfulp.Direct || st.Exact != 1 {
				t.Fatalf("%+v", st)
			}
		}
		finite, zero := true, true
		sum := new(big.Rat)
		var list []*big.Rat
		for i := range n {
			v := x.At(i)
			if finite = finite && !v.IsNaN() && !v.IsInf(0); !finite {
				break
			}
			q, _ := v.Big().Rat(nil)
			list = append(list, q)
			sum.Add(sum, q)
			zero = zero && v.Sign() == 0
		}
		want := [3]halfulp.Scalar{halfulp.NaN(f), halfulp.NaN(f), halfulp.NaN(f)}
		switch {
		case !finite:
			want[0] = got[0] // as Sum has it
			s, err := halfulp.Sum(x, f, nil)
			if err != nil || !s.Same(got[0]) {
				t.Fatalf("the mean of %v is %v, the sum %v, %v", x, got[0], s, err)
			}
		case n > 0:
			mean := new(big.Rat).Quo(sum, big.NewRat(int64(n), 1))
			if want[0] = lintest.Nearest(f, mean); zero { // the sign of zero is the sign of the sum
				want[0], _ = halfulp.Sum(x, f, nil)
			}
			above, below := new(big.Rat), new(big.Rat)
			for i, q := range list {
				d := new(big.Rat).Sub(q, mean)
				below.Add(below, new(big.Rat).Mul(d, d))
				if i > 0 {
					above.Add(above, d.Mul(d, new(big.Rat).Sub(list[i-1], mean)))
				}
			}
			if n > 1 {
				want[1] = lintest.NearestRoot(f, big.NewRat(1, 1), new(big.Rat).Quo(below, big.NewRat(int64(n-1), 1)))
			}
			if below.Sign() != 0 {
				want[2] = lintest.Nearest(f, above.Quo(above, below))
			}
		}
		for i := range want {
			if !got[i].Same(want[i]) {
				t.Fatalf("statistic %d of\n%v\nin %v: %v, want %v", i, x, f, got[i], want[i])
			}
		}
	}
}

// TestErrors: options that do not apply, and nil.
func TestErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x := halfulp.NewVector(halfulp.Float64, 3)
	for _, c := range []struct {
		opt  *halfulp.Options
		want error
	}{
		{&halfulp.Options{Context: ctx}, context.Canceled}, {&halfulp.Options{Device: "abacus"}, halfulp.ErrDevice},
		{&halfulp.Options{Method: halfulp.Residue}, halfulp.ErrMethod}, {&halfulp.Options{Check: true}, halfulp.ErrMethod},
	} {
		if _, err := StdDev(x, halfulp.Float64, c.opt); !errors.Is(err, c.want) {
			t.Errorf("error %v, want %v", err, c.want)
		}
	}
	var rising []float64
	if _, err := StdDev(halfulp.NewVector(halfulp.Float64, 1e6), halfulp.Float64, &halfulp.Options{Progress: func(done float64) {
		rising = append(rising, done)
	}}); err != nil || len(rising) == 0 || math.Abs(rising[len(rising)-1]-1) > 1e-9 {
		t.Errorf("progress %v, %v", rising, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("nil has a mean")
		}
	}()
	_, _ = Mean(nil, halfulp.Float64, nil)
}
