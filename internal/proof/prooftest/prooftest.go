// Package prooftest has functions that the tests of packages under internal/proof share: a run, and
// checks of inverses and enclosures.
package prooftest

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
)

// Run returns a run for tests, on the host.
func Run(t testing.TB, threads int) *call.Run {
	t.Helper()
	return Limited(t, threads, 0)
}

// Limited is Run with a limit of memory in bytes; 0: the default.
func Limited(t testing.TB, threads int, limit int64) *call.Run {
	t.Helper()
	run := par.Run{Ctx: t.Context(), Threads: threads, Memory: memlimit.Default()}
	if limit > 0 {
		run.Memory = limit
	}
	return call.New(place.Settings{Run: run, Limit: limit, Device: place.Name{Kind: place.Auto}, Method: "auto"})
}

// Outside returns the distance of x from the enclosure of entry (i, j) of y, as a multiple of the
// enclosure's radius; 0 if x lies within.
func Outside(y *bound.Nearly, i, j int, x *big.Float) float64 {
	mid := interval.ExactAdd(y.X.Big(i, j), y.D.Big(i, j))
	mid.SetMantExp(mid, int(y.Left[i]+y.Right[j]))
	d, _ := interval.ExactSub(mid, x).Float64()
	return max(0, math.Abs(math.Ldexp(d, -int(y.Err[j]+y.Left[i]+y.Right[j])))-1)
}

// CheckWidth fails unless the errors of each column are at most 2^(wider-bits) times its largest
// entry.
func CheckWidth(t testing.TB, name string, y *bound.Nearly, bits, wider int) {
	t.Helper()
	for j, top := range call.ColumnTops(y.X, math.MinInt32) {
		if y.Err[j] > top+int64(wider-bits) {
			t.Fatalf("%s: column %d has entries of 2^%d with errors of 2^%d, more than 2^(%d - %d) of them", name, j, top, y.Err[j], wider, bits)
		}
	}
}

// CheckInverse fails unless rho and norm are upper bounds of ‖I - F R‖∞ and ‖R‖∞, for the product
// F R, which it changes.
func CheckInverse(t testing.TB, name string, product, r [][]*big.Rat, rho, norm float64) {
	t.Helper()
	for i := range product {
		left, size := new(big.Rat), new(big.Rat)
		for j, z := range product[i] {
			if i == j {
				z.Sub(z, big.NewRat(1, 1))
			}
			left.Add(left, z.Abs(z))
			size.Add(size, new(big.Rat).Abs(r[i][j]))
		}
		if !(rho > math.MaxFloat64) && left.Cmp(numtest.Exact(rho)) > 0 {
			t.Fatalf("%s: row %d of I - F R is %s, bound %g", name, i, left.FloatString(20), rho)
		}
		if size.Cmp(numtest.Exact(norm)) > 0 {
			t.Fatalf("%s: row %d of R is %s, bound %g", name, i, size.FloatString(20), norm)
		}
	}
}
