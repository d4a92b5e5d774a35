package ziv

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// Part is the factor that an entry belongs to.
type Part uint8

const (
	OfL    Part = iota // of L
	OfU                // of U
	OfRoot             // of L diag(U)^(1/2)
)

// Wanted is an undecided entry of a factor of C, and the place where it is stored. It is kept small
// because there may be one for each entry of the factors.
type Wanted struct {
	I, J int // position in the factor
	Z    *num.Mat
	At   [2]int32
	near *nearNumber // a number that the entry may equal, or nil
	// missing is the result of BitsMissing for the last enclosure
	missing int32
	Part
	done bool // decided
}

// A nearNumber is a number that an entry may equal.
type nearNumber struct {
	tie *big.Float
	off *big.Float // bounds the distance of the entry from tie
}

// Unknown holds the undecided entries of the factors of a matrix with given pivots, in a block
// partition. The matrix is C, or C above the rows of Below, which may have another format: a copy
// of both in one format can take more memory than the factors.
type Unknown struct {
	C      num.Mat
	Below  num.Mat // without an array: no rows
	K      int
	Blocks []int // sizes of the diagonal blocks, each 1 or 2; their sum is K
	filled [][]uint64
	Open   []Wanted
	to     []*num.Mat // the matrices where entries are stored
	copied []Wanted   // entries copied from C, whose underflows decide has not counted
}

// NewUnknown returns the factors of c without wanted entries. There is room for some wanted
// entries.
func NewUnknown(c num.Mat, k int, blocks []int, some int) *Unknown {
	u := &Unknown{C: c, K: k, Blocks: blocks, Open: make([]Wanted, 0, some)}
	u.Fill()
	return u
}

// rows returns the number of rows of the matrix.
func (u *Unknown) rows() int { return u.C.Rows + u.Below.Rows }

// at returns the array and the index of entry (i, j) of the matrix.
func (u *Unknown) at(i, j int) (*num.Array, int) {
	if i < u.C.Rows {
		return u.C.Arr, u.C.At(i, j)
	}
	return u.Below.Arr, u.Below.At(i-u.C.Rows, j)
}

// join copies C and the rows of Below into one matrix, which replaces C. C has at least the bits of
// Below.
func (u *Unknown) join(s *call.Run) error {
	if u.Below.Arr == nil {
		return nil
	}
	f, m, n := u.C.Format(), u.rows(), u.C.Cols
	if err := s.Budget.Check(float64(call.MatrixBytes(f, m, n))); err != nil {
		return err
	}
	c := num.NewMat(f, m, n)
	for j := range n {
		for i := range m {
			from, at := u.at(i, j)
			c.Arr.Convert(c.At(i, j), from, at)
		}
	}
	u.C, u.Below = c, num.Mat{}
	return nil
}

// Ones returns the sizes of k blocks of size 1.
func Ones(k int) []int {
	b := make([]int, k)
	for i := range b {
		b[i] = 1
	}
	return b
}

// Fill eliminates symbolically, with the pattern of C. A zero entry from which the elimination
// subtracts nothing stays 0.
func (u *Unknown) Fill() {
	m, n := u.rows(), u.C.Cols
	u.filled = make([][]uint64, m)
	for i := range u.filled {
		u.filled[i] = make([]uint64, (n+63)/64)
		for j := range n {
			if from, at := u.at(i, j); from.Class(at) != num.Zero {
				u.filled[i][j/64] |= 1 << (j % 64)
			}
		}
	}
	or := func(x, y []uint64) {
		for i, v := range y {
			x[i] |= v
		}
	}
	b := 0
	for _, size := range u.Blocks {
		pivot := slices.Clone(u.filled[b])
		if size == 2 {
			or(pivot, u.filled[b+1])
		}
		clearBelow(pivot, b) // there the rows keep their entries of L
		if size == 2 {
			for i := range 2 {
				or(u.filled[b+i], pivot)
				u.filled[b+i][(b+i)/64] |= 1 << ((b + i) % 64)
			}
		}
		for i := b + size; i < m; i++ {
			hit := false
			for j := b; j < b+size; j++ {
				hit = hit || u.Has(i, j)
			}
			if hit {
				or(u.filled[i], pivot)
			}
		}
		b += size
	}
}

// clearBelow clears the bits below bit n.
func clearBelow(x []uint64, n int) {
	clear(x[:n/64])
	x[n/64] &= ^uint64(0) << (n % 64)
}

// Has reports whether entry (i, j) of the factors may differ from 0.
func (u *Unknown) Has(i, j int) bool { return u.filled[i][j/64]>>(j%64)&1 != 0 }

// untouched reports whether the elimination subtracts nothing from row i. Row i of U is then row i
// of C.
func (u *Unknown) untouched(i int) bool {
	for _, w := range u.filled[i][:i/64] {
		if w != 0 {
			return false
		}
	}
	return u.filled[i][i/64]<<(63-i%64)<<1 == 0
}

// Want requests that entry (i, j) of a factor be stored in z[r,c], which is 0. Entries of L above
// the diagonal must not be requested.
func (u *Unknown) Want(p Part, i, j int, z num.Mat, r, c int) {
	switch {
	case !u.Has(i, j):
	case p == OfU && u.untouched(i):
		from, at := u.at(i, j)
		z.Arr.Convert(z.At(r, c), from, at)
		if z.Format().IsMP() {
			return
		}
		u.copied = append(u.copied, u.wanted(p, i, j, z, r, c))
	default:
		u.Open = append(u.Open, u.wanted(p, i, j, z, r, c))
	}
}

// wanted returns entry (i, j) of a factor, to be stored in z[r,c].
func (u *Unknown) wanted(p Part, i, j int, z num.Mat, r, c int) Wanted {
	k := slices.IndexFunc(u.to, func(m *num.Mat) bool { return *m == z })
	if k < 0 {
		k = len(u.to)
		u.to = append(u.to, &z)
	}
	return Wanted{Part: p, I: i, J: j, Z: u.to[k], At: [2]int32{int32(r), int32(c)}}
}

// lose calls Lose for the entry, which lies between lo and hi.
func (w *Wanted) lose(s *call.Run, lo, hi *big.Float) {
	Lose(s, *w.Z, int(w.At[0]), int(w.At[1]), lo, hi)
}

// RoundFactors rounds the entries whose enclosures round to one number. Other entries may be 0 or
// halfway between two numbers of the format; it records these numbers as ties. A nonzero number of
// a format of one term is not recorded: an entry that may equal it is rounded with a few more bits,
// which other entries are likely to need as well.
func RoundFactors(s *call.Run, u *Unknown, e *Enclosure) error {
	for _, w := range u.copied {
		from, at := u.at(w.I, w.J)
		x := from.Big(at)
		w.lose(s, x, x)
	}
	u.copied = nil
	roots := map[int]interval.Interval{} // square roots of the diagonal of U
	for _, w := range u.Open {
		if _, known := roots[w.J]; w.Part == OfRoot && e.Root == nil && !known {
			roots[w.J] = e.Arithmetic().Sqrt(e.Upper(w.J, w.J)) // positive, which is proved
		}
	}
	rounders := make([]map[*bound.Nearly]*bound.Rounder, s.Threads)
	const some = 256 // entries a call
	err := par.For(s.Ctx, s.Threads, (len(u.Open)+some-1)/some, func(worker, part int) {
		if rounders[worker] == nil {
			rounders[worker] = map[*bound.Nearly]*bound.Rounder{}
		}
		for k := part * some; k < min(len(u.Open), (part+1)*some); k++ {
			w := &u.Open[k]
			y, i, j := e.entry(w)
			var x interval.Interval
			if y != nil {
				t := rounders[worker][y]
				if t == nil {
					t = &bound.Rounder{Adder: bound.NewAdder(y.Words), Ends: num.New(w.Z.Arr.Format, 2), Tmp: nil}
					rounders[worker][y] = t
				}
				z, mx, md := w.Z, y.X, y.D
				v := t.Enclose(y, &mx, &md, i, j)
				if w.done = v.RoundTo(t, z.Arr, z.At(int(w.At[0]), int(w.At[1]))); w.done {
					continue
				}
				x = y.Interval(i, j, e.Bits)
			} else if w.Part == OfL {
				x = e.Lower(w.I, w.J)
			} else if w.Part == OfU {
				x = e.Upper(w.I, w.J)
			} else if x = roots[w.J]; w.I != w.J {
				x = e.Arithmetic().Mul(e.Lower(w.I, w.J), x)
			}
			if w.done = x.IsZero(); w.done { // with either sign, and z has a 0 without one
				continue
			}
			lower, upper := num.NewScalar(w.Z.Format(), x.Lo), num.NewScalar(w.Z.Format(), x.Hi)
			if w.done = lower.Same(upper); w.done {
				w.Z.SetEntry(int(w.At[0]), int(w.At[1]), lower)
				w.lose(s, x.Lo, x.Hi)
				continue
			}
			w.missing = int32(min(BitsMissing(x, w.Z.Format().Bits()), math.MaxInt32))
			w.near = nil
			tie := x.Simplest()
			if single := w.Z.Arr.Terms() < 2; single && tie != nil && tie.Sign() != 0 && num.NewScalar(w.Z.Format(), tie).Big().Cmp(tie) == 0 {
				tie = nil
			}
			if tie != nil {
				w.near = &nearNumber{tie, interval.Prec(64).Difference(interval.Prec(64).Up(), x.Hi, x.Lo, 1)}
			}
		}
	})
	u.Open = slices.DeleteFunc(u.Open, func(w Wanted) bool { return w.done })
	return err
}

// BitsMissing returns how many bits narrower an enclosure must be so that most numbers can be
// rounded to the given bits; call.None32 if the enclosure does not determine the size of the
// number.
func BitsMissing(x interval.Interval, bits int) int {
	if x.Lo.Sign() != x.Hi.Sign() || x.Lo.Sign() == 0 {
		return call.None32
	}
	width := new(big.Float).SetPrec(64).Sub(x.Hi, x.Lo)
	return max(0, width.MantExp(nil)-min(x.Lo.MantExp(nil), x.Hi.MantExp(nil))+bits+Suspicion/2)
}

// prove decides the entries that equal the ties recorded for them. The error wraps ErrRange if
// primes of more than MaxDeterminant bits are needed.
//
// Minors of C are integers times powers of two. An entry of L or U is a quotient of two minors
// (Gantmacher, The theory of matrices, chapter 2). The square of an entry of L diag(U)^(1/2) is the
// square of a minor divided by the product of two minors. So the difference of an entry (or its
// square) from its tie (or the tie's square), times the denominators, is an integer below a power
// of Hadamard's bound. It is 0 if it is 0 modulo primes whose product exceeds the bound. The minors
// of entry (i, j) use the rows before the end of block min(i, j) and row i: entries in the first
// rows and columns need few primes, and few steps of an elimination.
//
// The enclosures that have not decided an entry bound its distance from its tie and its
// denominator, which is a product of pivots. So they bound this integer as well, usually by far
// less than Hadamard's bound, which covers the largest possible minors. If their bound is 1 the
// integer is 0, and no prime is needed.
func prove(s *call.Run, u *Unknown, e *Enclosure) error {
	var ties []suspect
	for k := range u.Open {
		if w := &u.Open[k]; w.near != nil {
			ties = append(ties, suspect{Wanted: w, order: min(w.I, w.J, u.K-1) + 1})
		}
	}
	if len(ties) == 0 {
		return nil
	}
	if err := u.join(s); err != nil {
		return err
	}
	z := modular.ToIntegers(u.C)
	orders := make([]int, u.K+1) // orders[b] is the end of the block that contains row b-1
	for b, k := 0, 0; k < len(u.Blocks); k++ {
		for range u.Blocks[k] {
			b++
			orders[b] = b
		}
		orders[b-u.Blocks[k]+1] = b
	}
	leading, d := z.LeadingMinors(u.K), denominatorsOf(z, u, e)
	most := 0
	for k := range ties {
		w := &ties[k]
		w.order = orders[w.order]
		minor := leading[w.order]
		if w.I >= w.order {
			minor += z.RowBits(w.I)
		}
		var shift int64 // the entry is a quotient of integers times 2^shift
		power := 1
		switch w.Part {
		case OfL:
			shift = z.Rows[w.I] - z.Rows[w.J]
		case OfU:
			shift = z.Rows[w.I] + z.Cols[w.J]
		case OfRoot:
			shift = 2*z.Rows[w.I] - z.Rows[w.J] + z.Cols[w.J]
			power = 2
		}
		low := int64(0)
		if w.near.tie.Sign() != 0 {
			low = int64(w.near.tie.MantExp(nil)) - int64(w.near.tie.MinPrec())
		}
		off := int64(power)*low - shift
		need := int64(power)*(int64(float64(minor*(1+0x1p-40)))+2+int64(w.near.tie.MinPrec())) + max(off, -off) + 4
		w.need = int(min(need, max(d.bits(w.Wanted, shift, int64(power)*low), 0), math.MaxInt32))
	}
	settled := ties[:0]
	for _, w := range ties {
		if w.need == 0 {
			exactly(s, w.Wanted)
			continue
		}
		settled = append(settled, w)
		most = max(most, w.need)
	}
	ties = settled
	next, step := modular.Primes(), call.PrimeStep(u.C)
	singular := 0.0 // bits of primes that divide a leading minor, none of which is 0
	for _, b := range leading {
		singular += b
	}
	for have := 0; len(ties) > 0; {
		if have >= refuting && most > MaxDeterminant {
			return fmt.Errorf("zeros or ties of factors take primes of %d bits: %w", most, call.ErrRange)
		}
		f := modular.New(next())
		steps := 0
		for _, w := range ties {
			steps = max(steps, w.order)
		}
		lu, err := modulo(s, u, f, steps)
		if err != nil {
			return err
		}
		s.Stats.Primes++
		if lu == nil {
			if singular -= 60; singular < -60 {
				return call.Contradiction("leading minors that are not 0 are divided by primes beyond Hadamard's bound")
			}
			continue // the prime divides a leading minor
		}
		have += 60
		left := ties[:0]
		most = 0
		for _, w := range ties {
			x, t := lu[w.I][w.J], f.Rational(w.near.tie)
			if w.Part == OfRoot {
				d := lu[w.J][w.J]
				if w.I == w.J {
					x = d
				} else {
					x = f.Mul(f.Mul(x, x), d)
				}
				t = f.Mul(t, t)
			}
			switch {
			case x != t:
			case have < w.need:
				left = append(left, w)
				most = max(most, w.need)
			default:
				exactly(s, w.Wanted)
			}
		}
		ties = left
		s.Did(step)
		s.Plan(float64((most-have)/60) * step)
	}
	u.Open = slices.DeleteFunc(u.Open, func(w Wanted) bool { return w.done })
	return nil
}

// refuting is the number of bits of primes that are used to refute ties before the bits that are
// needed to prove the remaining ties are compared with MaxDeterminant.
const refuting = 120

// exactly stores the tie that an entry is proved to equal.
func exactly(s *call.Run, w *Wanted) {
	w.Z.SetBig(int(w.At[0]), int(w.At[1]), w.near.tie)
	w.lose(s, w.near.tie, w.near.tie)
	w.done = true
	s.Stats.Ties++
	s.Stats.Exact++
}

// denominators are bounds of the leading minors of the integer matrix of C.
type denominators struct {
	minors     []wideBound // bounds of the minors of each order at which a block ends
	start, end []int       // of the block that contains each row
}

// wideBound is a bound x 2^exp whose exponent may exceed the range of math/big.
type wideBound struct {
	x   *big.Float // in [1/2, 1), or 0
	exp int64
}

// times returns a bound of p y 2^exp for y ≥ 0.
func (p wideBound) times(y *big.Float, exp int64) wideBound {
	m := new(big.Float)
	e := y.MantExp(m)
	z := bound.Upper().Mul(p.x, m)
	more := z.MantExp(z)
	return wideBound{z, p.exp + exp + int64(e) + int64(more)}
}

// denominatorsOf returns the bounds from enclosures of the pivots: a leading minor is a product of
// pivots.
func denominatorsOf(z modular.Integers, u *Unknown, e *Enclosure) denominators {
	d := denominators{make([]wideBound, u.K+1), make([]int, u.K), make([]int, u.K)}
	d.minors[0] = wideBound{bound.Upper().SetFloat64(0.5), 1}
	magnitude := func(x interval.Interval) *big.Float { return bound.UpperOf(x.Larger()) }
	b := 0
	for _, size := range u.Blocks {
		pivot := magnitude(e.Square(b, b))
		shift := z.Rows[b] + z.Cols[b]
		if size == 2 { // symmetric
			off := magnitude(e.Upper(b, b+1))
			pivot = bound.Upper().Add(pivot.Mul(pivot, magnitude(e.Upper(b+1, b+1))), off.Mul(off, off))
			shift += z.Rows[b+1] + z.Cols[b+1]
		}
		for i := b; i < b+size; i++ {
			d.start[i], d.end[i] = b, b+size
		}
		d.minors[b+size] = d.minors[b].times(pivot, -shift)
		b += size
	}
	return d
}

// bits bounds the bits of an integer that is 0 if and only if the entry equals its tie, or for
// OfRoot the square of the entry equals the square of the tie. For an entry N/D 2^shift and a tie
// that is a multiple of 2^low the integer is
//
//	D (entry - tie) 2^-min(shift, low).
//
// For the square, D is the product of the denominator of L and the denominator of the pivot.
func (d denominators) bits(w *Wanted, shift, low int64) int64 {
	if w.near.tie.Sign() != 0 {
		shift = min(shift, low)
	}
	var limit wideBound
	switch w.Part {
	case OfL:
		limit = d.minors[d.end[w.J]].times(w.near.off, -shift)
	case OfU:
		limit = d.minors[d.start[w.I]].times(w.near.off, -shift)
	case OfRoot: // |x² - t²| ≤ |x - t| (2 |t| + |x - t|)
		sum := bound.UpperOf(w.near.tie)
		sum.Add(sum.Add(sum, sum), w.near.off)
		limit = d.minors[d.end[w.J]].times(w.near.off, -shift).times(sum, 0)
		one := d.minors[d.start[w.J]]
		limit = limit.times(one.x, one.exp)
	}
	return limit.exp
}

// suspect is an entry that may equal its tie.
type suspect struct {
	*Wanted
	order int // largest order of the minors in its quotient
	need  int // bits of primes that prove the tie
}

// modulo returns L, below its diagonal blocks, and U modulo a prime, computed in their first steps
// columns and rows; nil if the prime divides one of their leading minors.
func modulo(s *call.Run, u *Unknown, f *modular.Field, steps int) ([][]uint64, error) {
	rows, err := f.Matrix(s.Ctx, s.Threads, u.C)
	if err != nil {
		return nil, err
	}
	b := 0
	for _, size := range u.Blocks {
		if b >= steps {
			break
		}
		ok, err := f.EliminateBlock(s.Ctx, s.Threads, rows, b, size)
		if err != nil || !ok {
			return nil, err
		}
		b += size
	}
	return rows, nil
}

// Lower returns the rows and columns of entries of L below the diagonal blocks that may differ from
// 0.
func (u *Unknown) Lower() (at [][2]int) {
	b := 0
	for _, size := range u.Blocks {
		for j := b; j < b+size; j++ {
			for i := b + size; i < u.rows(); i++ {
				if u.Has(i, j) {
					at = append(at, [2]int{i, j})
				}
			}
		}
		b += size
	}
	return at
}
