package digits

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// digitLower is the factor L of an elimination in digits, without its diagonal blocks. Its entries
// are 2^exp (x - 1/2) for factors 0 ≤ x < 1.
type digitLower struct {
	Numbers
	rows   [][]uint64 // the factors of each row, D words apart
	length func(i int) int
	exp    int
	radius []float64 // error bounds: radius_i 2^unit for the entries of row i
	unit   int
}

// float returns entry (i, j) approximately: right to 2^-48 of itself or to 2^(exp-92).
func (t *digitLower) float(i, j int) float64 {
	return math.Ldexp(t.FactorFloat(t.rows[i][j*t.D:]), t.exp-2)
}

// setRadius sets the error bound of the entries of each row: off times the sum of the magnitudes of
// that row of L, its diagonal 1 included.
func (t *digitLower) setRadius(s *call.Run, off *big.Float) error {
	f := new(big.Float)
	t.unit = off.MantExp(f)
	x, _ := f.Float64()
	t.radius = make([]float64, len(t.rows))
	return par.Each(s.Ctx, s.Threads, len(t.rows), func(i int) {
		sum := 1.0
		for j := range t.length(i) {
			sum += math.Abs(t.float(i, j))
		}
		t.radius[i] = float64(float64(sum*(1+0x1p-30)) * x * (1 + 0x1p-30))
	})
}

// cutOf returns how many lowest bits, in units 2^-(b d), can be cut off numbers whose errors are
// bounded by most 2^unit.
func (t Numbers) cutOf(most float64, unit int) int {
	_, e := math.Frexp(most)
	return max(unit+t.Bits()*t.D+e-40, 0)
}

// Enclosed returns entry (i, j) without its cut lowest bits, in the memory of mag.
func (t *digitLower) Enclosed(mag []uint64, i, j, cut int) (v bound.EnclosedEntry) {
	b, d, x := t.Bits(), t.D, t.rows[i][j*t.D:]
	clear(mag)
	for c := range d {
		t.putDigit(mag, t.FactorDigit(x, c), c, cut)
	}
	at := b*d - 1 - cut // position of 1/2
	half, top := uint64(1)<<uint(at%64), mag[at/64:]
	v.Neg = top[0]&half == 0
	if top[0] ^= half; v.Neg { // 1/2 - x instead of x - 1/2
		num.Negate(mag)
		top[0] &= half<<1 - 1
		clear(top[1:])
	}
	v.Mag, v.Exp = trimmed(mag), int64(t.exp+cut-b*d)
	return v
}

// putDigit adds digit c to a number without its cut lowest bits.
func (t Numbers) putDigit(mag []uint64, v uint64, c, cut int) {
	if low := t.Bits()*(t.D-1-c) - cut; low >= 0 {
		setBits(mag, low, v)
	} else {
		mag[0] |= v >> uint(-low)
	}
}

// EnclosedVector returns the number in a lane of a vector without its cut lowest bits, in the
// memory of mag.
func (t Numbers) EnclosedVector(mag, x []uint64, lane, cut int) (v bound.EnclosedEntry) {
	clear(mag)
	for c := range t.D {
		digit, less := t.VectorDigit(x, c, lane)
		v.Neg = v.Neg || less
		t.putDigit(mag, digit, c, cut)
	}
	v.Mag, v.Exp = trimmed(mag), int64(cut-t.Bits()*t.D)
	return v
}

// EnclosedInteger is EnclosedVector for x B^-D.
func (t Numbers) EnclosedInteger(mag []uint64, x *big.Int, cut int) (v bound.EnclosedEntry) {
	clear(mag)
	for k, word := range new(big.Int).Rsh(new(big.Int).Abs(x), uint(cut)).Bits() {
		mag[k*bits.UintSize/64] |= uint64(word) << uint(k*bits.UintSize%64)
	}
	v.Neg, v.Mag, v.Exp = x.Sign() < 0, trimmed(mag), int64(cut-t.Bits()*t.D)
	return v
}

// Room returns the memory for a number, as Enclosed, EnclosedVector and EnclosedInteger need it.
func (t Numbers) Room() []uint64 { return make([]uint64, (t.D*t.Bits()+63)/64+1) }

// roundTo rounds the decided entries into z and returns the undecided entries. It is not ok unless
// it is proved that no entry exceeds bound in magnitude.
func (t *digitLower) roundTo(s *call.Run, z num.Mat, bound *big.Float) (open [][2]int, ok bool, err error) {
	cut := t.cutOf(math.Ldexp(call.LargestOf(t.radius), -t.exp), t.unit)
	n := len(t.rows)
	left, fails := make([][][2]int, n), make([]bool, n)
	rounders, mags := t.rounders(s, z.Arr.Format)
	quick, _ := bound.Float64()
	quick = float64(quick * (1 - 0x1p-40))
	err = par.For(s.Ctx, s.Threads, n, func(worker, i int) {
		r := math.Ldexp(t.radius[i], t.unit)
		e, short := headError(t.radius[i], t.unit-t.exp)
		short = short && z.Arr.Kind == num.F64
		for j := range t.length(i) {
			if short {
				high, low, neg := t.head(t.rows[i][j*t.D:])
				x, ok := roundHead(high, low, neg, int64(t.exp-headBits), e)
				if ok && math.Abs(x)+r < quick {
					z.Arr.F64[0][z.At(i, j)] = x
					continue
				}
			}
			v := t.Enclosed(mags[worker], i, j, cut)
			v.Within(t.radius[i], t.unit)
			if !(math.Abs(t.float(i, j))+r < quick) && !v.Below(bound) {
				fails[i] = true
				return
			}
			if !v.RoundTo(rounders[worker], z.Arr, z.At(i, j)) {
				left[i] = append(left[i], [2]int{i, j})
			}
		}
	})
	ok = true
	for i := range left {
		open, ok = append(open, left[i]...), ok && !fails[i]
	}
	return open, ok, err
}

// rounders returns the rounders and the memory of numbers for all workers.
func (t Numbers) rounders(s *call.Run, f num.Format) ([]*bound.Rounder, [][]uint64) {
	rounders, mags := make([]*bound.Rounder, s.Threads), make([][]uint64, s.Threads)
	for w := range rounders {
		rounders[w], mags[w] = &bound.Rounder{Ends: num.New(f, 2)}, t.Room()
	}
	return rounders, mags
}

// openEntries returns m x n entries, all unknown yet, whose errors will be about 2^-(b d).
func (t Numbers) openEntries(m, n int) *bound.Nearly {
	all := t.Bits() * t.D
	return &bound.Nearly{
		X: num.NewMat(num.Precision(uint(all)), m, n), D: num.NewMat(num.Precision(num.MinPrec), m, n),
		Words: call.WordsFor(all), Err: make([]int64, n), Left: make([]int64, m), Right: make([]int64, n),
	}
}

// enclosure returns enclosures of the open entries of L.
func (t *digitLower) enclosure(u *ziv.Unknown) *bound.Nearly {
	n := len(t.rows)
	y, mag := t.openEntries(n, n), t.Room()
	for i, r := range t.radius {
		y.Err[i] = exponentOf(r, t.unit)
	}
	for _, w := range u.Open {
		if w.Part == ziv.OfL && w.J < t.length(w.I) {
			y.Set(w.J, w.I, t.Enclosed(mag, w.I, w.J, 0))
		}
	}
	return y
}

// exponentOf returns an e with r 2^unit ≤ 2^e.
func exponentOf(r float64, unit int) int64 {
	_, e := math.Frexp(r)
	return int64(e + unit)
}
