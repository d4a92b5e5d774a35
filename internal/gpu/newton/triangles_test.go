package newton_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/newton"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testseed"
)

// onDevices runs f on a fake device and on the machine's.
func onDevices(t *testing.T, f func(t *testing.T, dev *cuda.Device)) {
	t.Run("reference", func(t *testing.T) { f(t, gputest.FactorsReference(t, new(fake.Driver))) })
	t.Run("device", func(t *testing.T) { f(t, gputest.Machine(t)) })
}

// random returns an m x n view of a larger matrix of MP with signs, zeros and exponents far apart.
func random(rng *rand.Rand, prec, m, n int, transposed bool) num.Mat {
	if transposed {
		x := random(rng, prec, n, m, false)
		return num.Mat{Arr: x.Arr, Off: x.Off, RS: x.CS, CS: x.RS, Rows: m, Cols: n}
	}
	a := gputest.RandomMat(rng, gputest.MP(prec), gputest.Spread, m+2, n+1)
	for i := range a.Arr.Exp {
		if a.Arr.Exp[i] += int32(rng.IntN(200)) - 100; rng.IntN(10) == 0 {
			a.Arr.Set(i, num.Real{Class: num.Zero})
		}
	}
	return num.Mat{Arr: a.Arr, Off: a.At(1, 1), RS: a.RS, CS: a.CS, Rows: m, Cols: n}
}

func bigOf(a *num.Array, i int) *big.Float {
	r := a.Value(i, make([]uint64, num.ValueWords(a.Format)))
	z := new(big.Float)
	if r.Class == num.Finite {
		words := new(big.Int)
		for k := len(r.Mag) - 1; k >= 0; k-- {
			words.Lsh(words, 64).Or(words, new(big.Int).SetUint64(r.Mag[k]))
		}
		z.SetInt(words)
		z.SetMantExp(z, int(r.Exp))
		if r.Neg {
			z.Neg(z)
		}
	}
	return z
}

// TestTriangle compares what becomes of matrices, and of numbers around them, with the host's.
func TestTriangle(t *testing.T) {
	onDevices(t, func(t *testing.T, dev *cuda.Device) {
		rng := testseed.Rand(t, 1, 2)
		for _, n := range []int{0, 1, 2, 7, 33, 300} {
			for _, prec := range []int{24, 64, 200} {
				h := random(rng, prec, n, n, n%2 == 1)
				// Nearly symmetric.
				count := 0
				for j := range n {
					for i := j + 1; i < n; i++ {
						if rng.IntN(20) > 0 {
							h.Arr.CopyFrom(h.At(j, i), h.Arr, h.At(i, j))
						} else if h.Arr.Class(h.At(i, j)) == num.Finite {
							h.Arr.CopyFrom(h.At(j, i), h.Arr, h.At(i, j))
							switch rng.IntN(3) {
							case 0:
								h.Arr.Exp[h.At(i, j)]++
							case 1:
								h.Arr.Sig[h.At(i, j)*h.Arr.Limbs()+h.Arr.Limbs()-1] ^= 1 << 41
							case 2:
								gputest.Negate(h.Arr, h.At(i, j))
							}
						}
						if !h.Arr.SameBits(h.At(i, j), h.Arr, h.At(j, i)) {
							count++
						}
					}
				}
				bad := 0
				for i := range n {
					if bigOf(h.Arr, h.At(i, i)).Sign() <= 0 {
						bad++
					}
				}
				for op, want := range map[place.TriangleOperation]int{place.HalveDiagonal: 0, place.MirrorLower: 0, place.CountNotPositive: bad, place.CountAsymmetric: count} {
					name := fmt.Sprintf("operation %d, n = %d, %d bits", op, n, prec)
					expect := num.New(h.Arr.Format, h.Arr.Len())
					for i := range h.Arr.Len() {
						expect.CopyFrom(i, h.Arr, i)
					}
					for j := range n {
						for i := range n {
							switch at := h.At(i, j); {
							case op == place.HalveDiagonal && i == j && h.Arr.Class(at) == num.Finite:
								expect.Exp[at]--
							case op == place.MirrorLower && i < j:
								expect.CopyFrom(at, h.Arr, h.At(j, i))
							}
						}
					}
					if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
						a, err := mem.Upload(s, h.Arr)
						if err != nil {
							return err
						}
						defer a.Free()
						m := mem.Matrix{Arr: a, Off: h.Off, RS: h.RS, CS: h.CS, Rows: n, Cols: n}
						got, err := newton.Triangle(s, op, m, nil)
						if err != nil {
							return err
						}
						if op == place.CountNotPositive || op == place.CountAsymmetric {
							tally, err := mem.NewArray(s, num.Float64, 1)
							if err != nil {
								return err
							}
							defer tally.Free()
							for range 2 {
								if n, err := newton.Triangle(s, op, m, tally); err != nil || n != 0 {
									t.Errorf("%s: %d beside the tally, %v", name, n, err)
								}
							}
							h, err := tally.Host(s)
							if err != nil {
								return err
							}
							if n := math.Float64bits(h.F64[0][0]); n != uint64(2*want) {
								t.Errorf("%s: %d in the tally, want %d", name, n, 2*want)
							}
						}
						if got != want {
							t.Errorf("%s: %d, want %d", name, got, want)
						}
						z, err := a.Host(s)
						if err != nil {
							return err
						}
						for i := range z.Len() {
							if !z.SameBits(i, expect, i) {
								t.Fatalf("%s: number %d is %s, want %s", name, i, gputest.Show(z, i), gputest.Show(expect, i))
							}
						}
						return nil
					}); err != nil {
						t.Fatal(name, err)
					}
				}
			}
		}
	})
}

// TestSpread compares bounds with exact norms: they are no smaller, and not much larger.
func TestSpread(t *testing.T) {
	onDevices(t, func(t *testing.T, dev *cuda.Device) {
		rng := testseed.Rand(t, 3, 4)
		for trial := range 12 {
			m, k, n := 1+rng.IntN(70), 1+rng.IntN(70), 1+rng.IntN(70)
			a, b := random(rng, 24+rng.IntN(200), m, k, trial%2 == 1), random(rng, 24+rng.IntN(200), k, n, trial%3 == 1)
			var norm [2]*big.Float
			sum := func(list []*big.Float) *big.Float {
				z := new(big.Float).SetPrec(2000)
				for _, x := range list {
					z.Add(z, x)
				}
				return z
			}
			product := make([][]*big.Float, m)
			for i := range m {
				for j := range n {
					var terms []*big.Float
					for h := range k {
						x, y := bigOf(a.Arr, a.At(i, h)), bigOf(b.Arr, b.At(h, j))
						terms = append(terms, new(big.Float).SetPrec(2000).Mul(x.Abs(x), y.Abs(y)))
					}
					product[i] = append(product[i], sum(terms))
				}
			}
			for side := range norm {
				norm[side] = new(big.Float)
				for i := range []int{m, n}[side] {
					list := product[i%m]
					if side == 1 {
						list = nil
						for _, row := range product {
							list = append(list, row[i])
						}
					}
					if x := sum(list); x.Cmp(norm[side]) > 0 {
						norm[side] = x
					}
				}
			}
			spread := func(a, b num.Mat) (rows, cols float64) {
				if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
					x, err := mem.Upload(s, a.Arr)
					if err != nil {
						return err
					}
					defer x.Free()
					y, err := mem.Upload(s, b.Arr)
					if err != nil {
						return err
					}
					defer y.Free()
					rows, cols, err = newton.Spread(s, mem.Matrix{Arr: x, Off: a.Off, RS: a.RS, CS: a.CS, Rows: m, Cols: k},
						mem.Matrix{Arr: y, Off: b.Off, RS: b.RS, CS: b.CS, Rows: k, Cols: n}, true)
					return err
				}); err != nil {
					t.Fatal(err)
				}
				return rows, cols
			}
			rows, cols := spread(a, b)
			for side, got := range []float64{rows, cols} {
				most, _ := new(big.Float).Mul(norm[side], big.NewFloat(1+1e-12)).Float64()
				if new(big.Float).SetFloat64(got).Cmp(norm[side]) < 0 || got > most+0x1p-800 {
					t.Errorf("trial %d, norm %d: %g, want %g", trial, side, got, norm[side])
				}
			}
			a.Arr.Set(a.At(m/2, k/2), num.Real{Class: num.Finite, Mag: []uint64{1}, Exp: 1001})
			if rows, cols := spread(a, b); !math.IsInf(rows, 1) || !math.IsInf(cols, 1) {
				t.Errorf("trial %d: %g and %g with a number beyond 2^1000", trial, rows, cols)
			}
		}
	})
}
