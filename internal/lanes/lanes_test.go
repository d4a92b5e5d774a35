package lanes

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// lane returns the number of one lane of sums, times B^D.
func (l Lanes) lane(sums []int64, lane int) *big.Int {
	z := new(big.Int)
	for c := range l.digits + 1 {
		z.Lsh(z, uint(l.Bits())).Add(z, big.NewInt(sums[c*l.Count()+lane]))
	}
	return z
}

// TestLanes compares what Lanes do with exact arithmetic.
func TestLanes(t *testing.T) {
	EachUnit(func(name string) {
		t.Run(name, func(t *testing.T) {
			seed := testseed.Of(t)
			r := rand.New(rand.NewPCG(seed, 0))
			for trial := range testlength.Trials(200) {
				d := 2 + r.IntN(8)
				if trial%10 == 0 {
					d = 18 + r.IntN(20)
				}
				l, ok := New(d)
				if !ok || l.Bits() != Bits() {
					t.Fatalf("no lanes of %d digits", d)
				}
				lanes, size := l.Count(), l.Size()
				one := new(big.Int).Lsh(big.NewInt(1), uint(d*l.Bits()))
				// n numbers a lane between -1 and 1, by factors between 0 and 1.
				n := 1 + r.IntN(6)
				if trial%20 == 0 {
					n = 1000/d + 1 + r.IntN(20)
				}
				each := r.IntN(2) == 0
				width := d
				if each {
					width *= lanes
				}
				a, x := make([]uint64, n*size), make([]uint64, n*width)
				want, all := make([]*big.Int, lanes), make([]*big.Int, lanes)
				for k := range lanes {
					want[k], all[k] = new(big.Int), new(big.Int)
				}
				sums := make([]int64, size)
				for i := range n {
					s, f := make([]int64, size), make([]int64, size)
					for k := range s {
						s[k], f[k] = r.Int64N(1<<l.Bits()), r.Int64N(1<<l.Bits())
						switch c := k / lanes; {
						case c == 0:
							s[k], f[k] = -r.Int64N(2), 0
						case r.IntN(4) == 0:
							s[k], f[k] = []int64{0, 1<<l.Bits() - 1}[r.IntN(2)], []int64{0, 1<<l.Bits() - 1}[r.IntN(2)]
						}
					}
					// The same numbers with digits that are to be carried.
					loose := append([]int64(nil), s...)
					for k := range size - lanes {
						v := r.Int64N(1<<10) - 1<<9
						loose[k] += v
						loose[k+lanes] -= v << l.Bits()
					}
					l.Carry(loose)
					for k, v := range loose {
						if v != s[k] {
							t.Fatalf("seed %d, trial %d: carried to %v, want %v", seed, trial, loose, s)
						}
					}
					if !l.Vector(a[i*size:], s) {
						t.Fatalf("seed %d, trial %d: no vector of %v", seed, trial, s)
					}
					vector := make([]int64, size)
					l.Sum(vector, a[i*size:])
					l.Sum(sums, a[i*size:])
					for k := range lanes {
						exact := l.lane(s, k)
						if exact.Sign() < 0 {
							exact.Add(exact, big.NewInt(1))
						}
						if v := l.lane(vector, k); v.Cmp(exact) != 0 {
							t.Fatalf("seed %d, trial %d: a vector has %v, want %v", seed, trial, v, exact)
						}
						all[k].Add(all[k], exact)
						of := 0
						if each {
							of = k
							l.Factor(x[i*width+k:], lanes, f, k)
						} else if k == 0 {
							l.Factor(x[i*width:], 1, f, 0)
						}
						want[k].Add(want[k], new(big.Int).Mul(exact, l.lane(f, of)))
						near(t, "vector", l.VectorFloat(a[i*size:], k), exact, one, 0)
						if each || k > 0 {
							continue
						}
						v := new(big.Int).Lsh(l.lane(f, of), 2)
						near(t, "factor", l.FactorFloat(x[i*width:]), v.Sub(v, new(big.Int).Lsh(one, 1)), one, 0x1p-90)
					}
				}
				acc := make([]int64, size)
				l.Add(acc, a, size, x, width, each, n)
				for k := range lanes {
					if v := l.lane(sums, k); v.Cmp(all[k]) != 0 {
						t.Fatalf("seed %d, trial %d: the sum is %v, want %v", seed, trial, v, all[k])
					}
					off := new(big.Int).Mul(l.lane(acc, k), one)
					off.Sub(off, want[k])
					most := new(big.Int).Mul(one, big.NewInt(int64(n*(3*d+1))))
					if off.CmpAbs(most) > 0 {
						t.Fatalf("seed %d, trial %d, %d digits, %d products: off by %v, bound %v", seed, trial, d, n, off, most)
					}
					for c := 1; c <= d; c++ {
						if v := acc[c*lanes+k]; v < 0 || v>>l.Bits() != 0 {
							t.Fatalf("seed %d, trial %d: digit %d is %d", seed, trial, c, v)
						}
					}
				}
				acc[r.IntN(lanes)] = []int64{1, -2}[r.IntN(2)]
				if l.Vector(a, acc) {
					t.Fatalf("seed %d, trial %d: a vector of %v", seed, trial, acc[:lanes])
				}
			}
		})
	})
}

// TestLanesTotal adds up so many numbers of large digits that these are beyond int64 together.
func TestLanesTotal(t *testing.T) {
	EachUnit(func(name string) {
		t.Run(name, func(t *testing.T) {
			const d, n = 3, 1100
			l, _ := New(d)
			one, sums, a := make([]int64, l.Size()), make([]int64, l.Size()), make([]uint64, l.Size())
			for k := range one {
				if k >= l.Count() {
					one[k] = 1<<l.Bits() - 1 - int64(k)
				}
			}
			l.Vector(a, one)
			want, got := new(big.Int), new(big.Int)
			for range n {
				l.Sum(sums, a)
			}
			for k := range l.Count() {
				want.Add(want, l.lane(one, k))
			}
			digits := make([]int64, d+1)
			l.Total(digits, sums)
			for _, v := range digits {
				got.Lsh(got, uint(l.Bits())).Add(got, big.NewInt(v))
			}
			if want.Mul(want, big.NewInt(n)).Cmp(got) != 0 {
				t.Fatalf("the total is %v, want %v", got, want)
			}
		})
	})
}

// near fails if a number is not right to 2^-48 of x/unit, or to least.
func near(t *testing.T, what string, got float64, x, unit *big.Int, least float64) {
	t.Helper()
	want, _ := new(big.Rat).SetFrac(x, unit).Float64()
	if off := math.Abs(got - want); off > math.Abs(want)*0x1.01p-48 && off > least && math.Abs(want) > 0x1p-900 {
		t.Fatalf("a %s is %g, want %g", what, got, want)
	}
}
