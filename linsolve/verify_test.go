package linsolve

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// TestVerify changes entries of right results by known numbers of ulps.
func TestVerify(t *testing.T) {
	for _, f := range lintest.Formats {
		n := 6
		a, b := gallery.Random(f, n, n, 3, 1), gallery.Random(f, n, 2, 3, 2)
		for name, right := range map[string]func(*halfulp.Matrix, *halfulp.Options) (Accuracy, error){
			"solution": func(x *halfulp.Matrix, opt *halfulp.Options) (Accuracy, error) { return VerifySolution(a, b, x, opt) },
			"product":  func(x *halfulp.Matrix, opt *halfulp.Options) (Accuracy, error) { return VerifyProduct(a, b, x, opt) },
		} {
			x := halfulp.NewMatrix(f, n, 2)
			steps := 0
			if name == "solution" {
				var stats halfulp.Stats
				err := lintest.Into(x)(Solve(a, b, x.NumberFormat(), &halfulp.Options{Stats: &stats}))
				if err != nil {
					t.Fatal(err)
				}
				steps = stats.Steps
			} else if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), nil, x, nil); err != nil {
				t.Fatal(err)
			}
			var stats halfulp.Stats
			v, err := right(x, &halfulp.Options{Stats: &stats}) // solved once
			if err != nil || v != (Accuracy{Entries: 2 * n, Correct: 2 * n}) || stats.Steps != steps {
				t.Fatalf("%v, %s: %+v, %v, %+v", f, name, v, err, stats)
			}
			move := func(i, j int, ulps float64) {
				y := x.Big(i, j)
				ulp := new(big.Float).SetMantExp(big.NewFloat(ulps), y.MantExp(nil)-f.Bits())
				x.SetBig(i, j, new(big.Float).SetPrec(uint(f.Bits()+64)).Add(y, ulp))
			}
			move(2, 1, 100)
			move(3, 0, -7)
			v, err = right(x, nil)
			if err != nil || v.Wrong != 2 || v.Correct != 2*n-2 || v.Row != 2 || v.Col != 1 || math.Abs(float64(v.Largest)-100) > 0.51 {
				t.Fatalf("%v, %s: %+v, %v", f, name, v, err)
			}
			x.Set(5, 1, halfulp.NaN(f))
			v, err = right(x, nil)
			if err != nil || v.Wrong != 3 || v.Row != 5 || !math.IsInf(float64(v.Largest), 1) {
				t.Fatalf("%v, %s: %+v, %v", f, name, v, err)
			}
		}
		// 1/3 rounded down or up is faithful, and one of them correctly rounded.
		three, one := halfulp.NewMatrix(f, 1, 1), halfulp.Identity(f, 1)
		three.Set(0, 0, halfulp.Float(3))
		low, high := halfulp.NewMatrix(f, 1, 1), halfulp.NewMatrix(f, 1, 1)
		third := new(big.Float).SetPrec(2000).Quo(big.NewFloat(1), big.NewFloat(3))
		low.SetBig(0, 0, third)
		z := low.Big(0, 0)
		d := new(big.Float).SetMantExp(big.NewFloat(1), z.MantExp(nil)-f.Bits())
		if z.Cmp(third) > 0 {
			d.Neg(d)
		}
		high.SetBig(0, 0, new(big.Float).SetPrec(2000).Add(z, d))
		if v, err := VerifySolution(three, one, low, nil); err != nil || v.Correct != 1 {
			t.Fatalf("%v: %+v, %v", f, v, err)
		}
		if v, err := VerifySolution(three, one, high, nil); err != nil || v.Faithful != 1 || v.Largest <= 0.5 || v.Largest >= 1 {
			t.Fatalf("%v: %+v, %v", f, v, err)
		}
	}
}

// TestVerifyLimits uses errors that equal an ulp, or differ from an ulp by less than values rounded
// to any usual number of bits can show, and values around powers of two, where ulps change.
func TestVerifyLimits(t *testing.T) {
	power := func(e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(1), e) }
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.DD, halfulp.QD, halfulp.MP(10)} {
		p := f.Bits()
		for _, c := range []struct {
			name  string
			value *big.Float
			x     *big.Float
		}{
			{"an ulp above x", interval.ExactAdd(power(9), power(10-p)), power(9)},
			{"an ulp below x", interval.ExactAdd(power(9), power(11-p)), interval.ExactAdd(power(9), power(12-p))},
			{"the next number", interval.ExactAdd(power(9), power(10-p)), interval.ExactAdd(power(9), power(11-p))},
			{"a power of two, x an ulp above", power(9), interval.ExactAdd(power(9), power(10-p))},
			{"a power of two, x an ulp below", power(9), interval.ExactSub(power(9), power(9-p))},
			{"a power of two, x two ulps below", power(9), interval.ExactSub(power(9), power(10-p))},
		} {
			for _, d := range []int{0, -(p + 62), -(p + 65), -1500} {
				for _, side := range []float64{1, -1} {
					for _, sign := range []float64{1, -1} {
						value := new(big.Float).Copy(c.value)
						if d != 0 {
							value = interval.ExactAdd(value, new(big.Float).SetMantExp(big.NewFloat(side), d))
						}
						// The error in ulps of the value, exactly.
						ulp := value.MantExp(nil) - p
						want := interval.ExactSub(value, c.x)
						want.Abs(want).SetMantExp(want, -ulp)
						wrong := want.Cmp(big.NewFloat(1)) >= 0
						value.Mul(value, big.NewFloat(sign))
						x := halfulp.NewMatrix(f, 2, 2)
						x.SetBig(1, 1, new(big.Float).Mul(c.x, big.NewFloat(sign)))
						x.SetFloat64(0, 0, 3) // all of it is right
						x.SetFloat64(1, 0, 5)
						x.SetFloat64(0, 1, 7)
						exact := rowsOf([]*big.Float{big.NewFloat(3), big.NewFloat(7)}, []*big.Float{big.NewFloat(5), value})
						a := rowsOf([]*big.Float{big.NewFloat(3), big.NewFloat(1)}, []*big.Float{big.NewFloat(1), big.NewFloat(2)})
						b := halfulp.NewMatrix(halfulp.MP(borderBits), 2, 2)
						if err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, exact, halfulp.Float(0), nil, b, nil); err != nil {
							t.Fatal(err)
						}
						inverse := rowsOf([]*big.Float{big.NewFloat(1), new(big.Float)}, []*big.Float{big.NewFloat(0.5), big.NewFloat(1)})
						// inverse factor = exact
						factor := halfulp.NewMatrix(halfulp.MP(borderBits), 2, 2)
						for j := range 2 {
							factor.SetBig(0, j, exact.Big(0, j))
							factor.SetBig(1, j, interval.ExactSub(exact.Big(1, j), interval.ExactMul(exact.Big(0, j), big.NewFloat(0.5))))
						}
						for name, verified := range map[string]func() (Accuracy, error){
							"solution": func() (Accuracy, error) { return VerifySolution(a, b, x, nil) },
							"product":  func() (Accuracy, error) { return VerifyProduct(inverse, factor, x, nil) },
						} {
							v, err := verified()
							if err != nil {
								t.Fatal(err)
							}
							correct := solve.Equal(x.View().Entry(1, 1), num.NewScalar(f.View(), value))
							size, _ := want.Float64()
							if correct {
								size, wrong = 0, false
							}
							if v.Correct+v.Faithful+v.Wrong != 4 || (v.Wrong == 1) != wrong || (v.Correct == 4) != correct || v.Wrong > 0 != (v.Largest >= 1) || math.Abs(float64(v.Largest)-size) > 0x1p-50 {
								t.Errorf("%v, %s, %s, %+g 2^%d, sign %g: %+v, want %g ulps, wrong: %v", f, name, c.name, side, d, sign, v, size, wrong)
							}
						}
					}
				}
			}
		}
	}
}

// TestVerifyNotFinite uses infinities and NaN in operands, which are errors, and in the compared
// matrix, where the exact value may be beyond the format.
func TestVerifyNotFinite(t *testing.T) {
	one := halfulp.Identity(halfulp.Float64, 2)
	huge := halfulp.FromRows(halfulp.Float64, [][]float64{{0x1p1000, 0}, {0, 0x1p1000}})
	tiny := halfulp.FromRows(halfulp.Float64, [][]float64{{0x1p-1000, 0}, {0, 0x1p-1000}})
	for name, c := range map[string]struct {
		verify func(a, b, x *halfulp.Matrix, opt *halfulp.Options) (Accuracy, error)
		left   *halfulp.Matrix // whose result with huge is beyond the format
	}{"solution": {VerifySolution, tiny}, "product": {VerifyProduct, huge}} {
		for _, z := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			bad := one.Clone()
			bad.SetFloat64(1, 0, z)
			if _, err := c.verify(bad, one, one, nil); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "A[1,0]") {
				t.Errorf("%s, %v in A: %v", name, z, err)
			}
			if _, err := c.verify(one, bad, one, nil); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "B[1,0]") {
				t.Errorf("%s, %v in B: %v", name, z, err)
			}
			if v, err := c.verify(one, one, bad, nil); err != nil || v.Wrong != 1 || v.Row != 1 || v.Col != 0 || !math.IsInf(float64(v.Largest), 1) {
				t.Errorf("%s, %v compared: %+v, %v", name, z, v, err)
			}
		}
		x := halfulp.FromRows(halfulp.Float64, [][]float64{{math.Inf(1), 0}, {0, math.Inf(1)}})
		if v, err := c.verify(c.left, huge, x, nil); err != nil || v.Correct != 4 {
			t.Errorf("%s beyond the format: %+v, %v", name, v, err)
		}
	}
}
