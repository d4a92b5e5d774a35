package tiles

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// dotBlocks returns a number of blocks that is taken.
func dotBlocks(trial int) int {
	blocks := slices.DeleteFunc(slices.Compact(slices.Clone(tileDotBlocks[:])), func(b int) bool { return b == 0 })
	return blocks[trial%len(blocks)]
}

// TestTileDotKernels compares the sums of the machine's kernel with the sums of the loop in Go.
func TestTileDotKernels(t *testing.T) {
	fast := machineTiles()
	if fast == nil {
		t.Skip("no unit")
	}
	r := testseed.Rand(t, 8, 1)
	for trial := range testlength.Trials(300) {
		blocks := dotBlocks(trial)
		n := tileNumbers * (1 + r.IntN(3))
		number := func() *num.Array {
			f := num.Format{Kind: num.MP, Prec: uint32(64 * (2 + r.IntN(2*blocks+2)))}
			return numtest.Numbers(r, f, n, trial)
		}
		x, y := number(), number()
		scale := make([]int64, n)
		for i := range scale {
			switch scale[i] = int64(-r.IntN(64)); r.IntN(20) {
			case 0:
				scale[i] = superacc.NoScale
			case 1:
				scale[i] -= int64(r.IntN(200 * blocks))
			}
		}
		var sums [2][]uint32
		var negatives [2][]int32
		var far [2][]uint8
		for k, u := range []*Unit{fast, &portable} {
			p := Plan{u, blocks}
			room := superacc.Aligned(p.tileDotRoom())
			far[k] = make([]uint8, n/8)
			j := &tileDotJob{room: unsafe.Pointer(&room[0]), ref: 2, limit: 8 * p.Digits(), far: unsafe.Pointer(&far[k][0]), blocks: blocks}
			for range 2 { // sums go on
				j.run(p, x, 0, y, 0, scale)
			}
			sums[k], negatives[k] = j.sums(), j.negatives()
		}
		if !slices.Equal(far[0], far[1]) || !slices.Equal(sums[0], sums[1]) || !slices.Equal(negatives[0], negatives[1]) {
			t.Fatalf("trial %d: %d blocks, %d and %d words, %d numbers: far %v, products %v, negatives %v", trial, blocks, x.Limbs(), y.Limbs(), n,
				slices.Equal(far[0], far[1]), slices.Equal(sums[0], sums[1]), slices.Equal(negatives[0], negatives[1]))
		}
	}
}

// tileDotValue returns the exact value of number i, times 2^shift.
func tileDotValue(a *num.Array, i int, shift int64) *big.Int {
	if a.Cls[i].Class() != num.Finite {
		return new(big.Int)
	}
	v := a.Value(i, make([]uint64, num.MaxValueWords))
	z := numtest.Integer(v.Mag)
	z.Lsh(z, uint(v.Exp+shift))
	if v.Neg {
		z.Neg(z)
	}
	return z
}

// TestTileDotBound compares sums on tiles, and their bounds, with exact ones: numbers of all signs,
// of digits as large as they get, far apart, 0, and chunks as long as they get.
func TestTileDotBound(t *testing.T) {
	EachUnit(16, func(name string) {
		t.Run(name, func(t *testing.T) {
			r := testseed.Rand(t, 8, 2)
			for trial := range testlength.Trials(60) {
				p := Plan{tilesOf(), dotBlocks(trial)}
				n := 1 + r.IntN(200)
				kind := r.IntN(6)
				format := func() num.Format {
					return num.Format{Kind: num.MP, Prec: uint32(64*(2+r.IntN(2*p.Blocks+1)) - r.IntN(64))}
				}
				if trial == 10 { // sums as large as they get
					n, kind = DotChunk, 0
					p.Blocks = mostDotBlocks
					format = func() num.Format { return num.Format{Kind: num.MP, Prec: 128 * mostDotBlocks} }
				}
				x, y := num.New(format(), n), num.New(format(), n)
				const spread = 5000
				for _, a := range []*num.Array{x, y} {
					l := a.Limbs()
					for i := range n {
						sig := a.Sig[i*l:][:l]
						for k := range sig {
							if sig[k] = r.Uint64(); kind < 2 {
								sig[k] = math.MaxUint64
							}
						}
						sig[0] &= math.MaxUint64 << (64*l - int(a.Prec))
						sig[l-1] |= 1 << 63
						c := num.Finite
						switch kind {
						case 0: // all of one sign
						case 1:
							a.Exp[i] = int32(r.IntN(2))
						case 2:
							a.Exp[i] = -int32(r.IntN(32))
						case 3: // far apart
							a.Exp[i] = -int32(r.IntN(32))
							if r.IntN(100) == 0 {
								a.Exp[i] -= int32(r.IntN(spread - 40))
							}
						case 4:
							if r.IntN(3) == 0 {
								c = num.Zero
							}
						}
						a.Cls[i] = num.MakeCls(kind != 0 && r.IntN(2) == 0, c)
					}
				}
				if kind == 5 { // the sum is 0, or nearly
					for i := 0; i+1 < n; i += 2 {
						x.CopyFrom(i+1, x, i)
						y.CopyFrom(i+1, y, i)
						y.Negate(i + 1)
					}
				}
				scale, ref := make([]int64, n), int64(math.MinInt64)
				want := new(big.Int)
				const shift = spread + 64*40
				for i := range scale {
					scale[i] = superacc.NoScale
					if x.Cls[i].Class() == num.Finite && y.Cls[i].Class() == num.Finite {
						scale[i] = int64(y.Exp[i])
						ref = max(ref, int64(x.Exp[i])+scale[i])
					}
					a, b := tileDotValue(x, i, shift), tileDotValue(y, i, shift)
					want.Add(want, a.Mul(a, b))
				}
				if ref == math.MinInt64 {
					continue
				}
				var acc, bound superacc.Acc
				s := NewDot(p)
				for i := range s.room {
					s.room[i] = r.Uint64()
				}
				if !s.Add(&acc, &bound, num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 1, N: n}, ref, scale) {
					if kind != 3 {
						t.Fatalf("trial %d: kind %d has numbers far apart", trial, kind)
					}
					continue
				}
				exact := func(a *superacc.Acc) *big.Int {
					v := a.Exact()
					z := numtest.Integer(v.Mag)
					if e := v.Exp + 2*shift; e >= 0 {
						z.Lsh(z, uint(e))
					} else {
						t.Fatalf("trial %d: bits below 2^%d", trial, -2*shift)
					}
					if v.Neg {
						z.Neg(z)
					}
					return z
				}
				diff := exact(&acc)
				diff.Sub(diff, want).Abs(diff)
				most := new(big.Int).Lsh(big.NewInt(int64(n)*int64(p.Digits()+1)), uint(ref+2*shift-int64(8*p.Digits())))
				if got := exact(&bound); got.Cmp(most) != 0 {
					t.Fatalf("trial %d: bound %x, want %x", trial, got, most)
				}
				if diff.Cmp(most) >= 0 {
					t.Fatalf("trial %d: %d blocks, %d numbers of %d and %d bits, kind %d: wrong by %v bounds", trial, p.Blocks, n, x.Prec, y.Prec, kind,
						new(big.Rat).SetFrac(diff, most).FloatString(3))
				}
			}
		})
	})
}
