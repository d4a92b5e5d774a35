package linsolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testseed"
)

// tridiagonal returns T of order n, with 9/8 on the diagonal, 3/4 beside it and row k multiplied by
// f, and the inverse of T.
func tridiagonal(n, k int, f *big.Rat) (t, inverse [][]*big.Rat) {
	pivots, side := make([]*big.Rat, n), big.NewRat(3, 4)
	for i := range n {
		t, inverse = append(t, make([]*big.Rat, n)), append(inverse, make([]*big.Rat, n))
		for j := range n {
			t[i][j] = new(big.Rat)
		}
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				t[i][j].Set(side)
			}
		}
		t[i][i].SetFrac64(9, 8)
		if pivots[i] = big.NewRat(9, 8); i > 0 {
			pivots[i].Sub(pivots[i], new(big.Rat).Quo(new(big.Rat).Mul(side, side), pivots[i-1]))
		}
	}
	for j := range n {
		for i := range n {
			inverse[i][j] = new(big.Rat)
			if i == j {
				inverse[i][j].SetInt64(1)
			}
			if i > 0 {
				l := new(big.Rat).Quo(side, pivots[i-1])
				inverse[i][j].Sub(inverse[i][j], l.Mul(l, inverse[i-1][j]))
			}
		}
		for i := n - 1; i >= 0; i-- {
			if i < n-1 {
				inverse[i][j].Sub(inverse[i][j], new(big.Rat).Mul(side, inverse[i+1][j]))
			}
			inverse[i][j].Quo(inverse[i][j], pivots[i])
		}
	}
	for j := range n {
		t[k][j].Mul(t[k][j], f)
		inverse[j][k].Quo(inverse[j][k], f)
	}
	return t, inverse
}

// timesPower returns x 2^e in format f, for an x whose exponent is not near the ends of the
// range: x is rounded before e is applied.
func timesPower(f halfulp.Format, x *big.Rat, e int) *big.Float {
	v := new(big.Float).SetPrec(uint(f.Bits())).SetRat(x)
	return v.SetMantExp(v, e)
}

// For matrices 2^-(i s) T 2^(j s), entries of inverses, factors and solutions leave the exponents
// of MP. A routine must return an error for that, or a right result.
func TestBeyondExponents(t *testing.T) {
	const n, row = 12, 5
	_, plain := tridiagonal(n, row, big.NewRat(1, 1))
	// Entry (0, row) is 1 + 2^-60 or so.
	near := new(big.Rat).Mul(plain[0][row], new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(1, 1<<60)))
	near, _ = new(big.Float).SetPrec(150).SetRat(near).Rat(nil)
	for name, factor := range map[string]*big.Rat{"plain": big.NewRat(1, 1), "near a number": near} {
		m, inverse := tridiagonal(n, row, factor)
		for _, step := range []int{429496730, -429496730, 1 << 28, -1 << 28, 178956971, 195225786} {
			a := halfulp.NewMatrix(halfulp.MP(200), n, n)
			for i := range n {
				for j := range n {
					a.SetBig(i, j, timesPower(a.NumberFormat(), m[i][j], (j-i)*step))
				}
			}
			for _, f := range []halfulp.Format{halfulp.MP(24), halfulp.MP(106), halfulp.MP(424)} {
				report := func(routine string, err error, right func() error) {
					switch {
					case errors.Is(err, call.ErrRange) || errors.Is(err, halfulp.ErrMemory):
						return
					case err == nil:
						err = right()
					}
					if err != nil {
						t.Errorf("%s, steps of 2^%d, %s in %v: %v", name, step, routine, f, err)
					}
				}
				same := func(x *halfulp.Matrix, columns []int) func() error {
					return func() error {
						for c, j := range columns {
							for i := range n {
								want := halfulp.NewScalar(f, timesPower(f, inverse[i][j], (j-i)*step))
								if got := x.At(i, c); !got.Same(want) {
									return fmt.Errorf("entry (%d, %d) is %s, want %s", i, j, got.Hex(), want.Hex())
								}
							}
						}
						return nil
					}
				}
				x := halfulp.NewMatrix(f, n, n)
				all := make([]int, n)
				for j := range all {
					all[j] = j
				}
				err := lintest.Into(x)(Inverse(a, x.NumberFormat(), nil))
				report("Inverse", err, same(x, all))
				b, y := halfulp.NewMatrix(halfulp.Float64, n, 2), halfulp.NewMatrix(f, n, 2)
				columns := []int{row, n - 1}
				for c, j := range columns {
					b.SetBig(j, c, big.NewFloat(1))
				}
				err = lintest.Into(y)(Solve(a, b, y.NumberFormat(), nil))
				report("Solve", err, same(y, columns))
				low, high, err := Enclose(a, b, 2, f, nil)
				report("Enclose", err, func() error {
					for c, j := range columns {
						for i := range n {
							want := timesPower(halfulp.MP(2000), inverse[i][j], (j-i)*step)
							if low.Big(i, c).Cmp(want) > 0 || high.Big(i, c).Cmp(want) < 0 {
								return fmt.Errorf("entry (%d, %d) is not in [%s, %s]", i, j, low.At(i, c).Hex(), high.At(i, c).Hex())
							}
						}
					}
					return nil
				})
				_, err = Cond(halfulp.InfNorm, a, f, nil)
				report("Cond", err, func() error { return nil })
				z, err := Det(a, f, nil)
				report("Det", err, func() error {
					if z.IsInf(0) || z.Big().Sign() == 0 {
						return errors.New("no number")
					}
					return nil
				})
			}
		}
	}
}

// TestRhoOfFarExponents decomposes matrices whose exponents lie so far apart that the first bits do
// not suffice: the bound of such an attempt must not appear in Stats.
func TestRhoOfFarExponents(t *testing.T) {
	r := testseed.Rand(t, 11, 12)
	for trial := range 30 {
		n := 2 + r.IntN(4)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := range i + 1 {
				x := math.Ldexp(float64(r.IntN(9)-4), r.IntN(2000)-1000)
				a.SetFloat64(i, j, x)
				a.SetFloat64(j, i, x)
			}
		}
		if trial == 0 { // an attempt whose bound is beyond float64
			a = halfulp.NewMatrixFloat64(5, 5, 5, []float64{
				-1e-193, 1e130, 7e299, 0, 7e274,
				1e130, -1e-51, 3e-180, 1e113, 1e-127,
				7e299, 3e-180, 1e-181, 7e-199, 1e-232,
				0, 1e113, 7e-199, 1e-65, -1e-172,
				7e274, 1e-127, 1e-232, -1e-172, -1e-82,
			})
		}
		for name, factor := range map[string]func(opt *halfulp.Options) error{
			"LU":   func(opt *halfulp.Options) error { _, err := LU(a, halfulp.Float64, opt); return err },
			"LDLT": func(opt *halfulp.Options) error { _, err := LDLT(a, halfulp.Float64, opt); return err },
			"QR":   func(opt *halfulp.Options) error { _, err := QR(a, halfulp.Float64, opt); return err },
		} {
			var stats halfulp.Stats
			err := factor(&halfulp.Options{Stats: &stats})
			if err != nil && !errors.Is(err, ErrSingular) && !errors.Is(err, call.ErrRange) {
				t.Errorf("%s of\n%v: %v", name, a, err)
			}
			if stats.Rho >= 1 {
				t.Errorf("%s of\n%v: rho %v", name, a, stats.Rho)
			}
			if _, err := json.Marshal(stats); err != nil {
				t.Errorf("%s of\n%v: %v", name, a, err)
			}
		}
	}
}
