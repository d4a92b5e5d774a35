package linsolve

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

// part says which factor an entry is of.
type part int

const (
	ofL    part = iota // of L
	ofU                // of U
	ofRoot             // of L diag(U)^(1/2)
)

// wanted is an entry of a factor of C that is not decided, and where it goes.
type wanted struct {
	part
	i, j int // in the factor
	z    num.Mat
	at   [2]int
	tie  *big.Float // a number that it may be
	off  *big.Float // a bound of its distance from that
	done bool       // decided
	// missing is what the last enclosure told, see there
	missing int
}

// unknown are the factors of a matrix C with given pivots, in a block partition: which entries are
// not decided.
type unknown struct {
	c      num.Mat
	k      int
	blocks []int // their sizes, each 1 or 2, k in all
	filled [][]uint64
	open   []wanted
	copied []wanted // from c, whose underflows decide counts
}

// newUnknown returns the factors of c, none of whose entries is wanted yet, and some at most will
// be.
func newUnknown(c num.Mat, k int, blocks []int, some int) *unknown {
	u := &unknown{c: c, k: k, blocks: blocks, open: make([]wanted, 0, some)}
	u.fill()
	return u
}

// ones are k blocks of size 1.
func ones(k int) []int {
	b := make([]int, k)
	for i := range b {
		b[i] = 1
	}
	return b
}

// fill eliminates with patterns: an entry that no other one is ever subtracted from stays 0.
func (u *unknown) fill() {
	m, n := u.c.Dims()
	c := u.c
	u.filled = make([][]uint64, m)
	for i := range u.filled {
		u.filled[i] = make([]uint64, (n+63)/64)
		for j := range n {
			if c.Arr.Class(c.At(i, j)) != num.Zero {
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
	for _, size := range u.blocks {
		pivot := slices.Clone(u.filled[b])
		if size == 2 {
			or(pivot, u.filled[b+1])
		}
		clearBelow(pivot, b) // what rows of L have there stays theirs
		if size == 2 {
			for i := range 2 {
				or(u.filled[b+i], pivot)
				u.filled[b+i][(b+i)/64] |= 1 << ((b + i) % 64)
			}
		}
		for i := b + size; i < m; i++ {
			hit := false
			for j := b; j < b+size; j++ {
				hit = hit || u.has(i, j)
			}
			if hit {
				or(u.filled[i], pivot)
			}
		}
		b += size
	}
}

// clearBelow removes what lies below bit n.
func clearBelow(x []uint64, n int) {
	clear(x[:n/64])
	x[n/64] &= ^uint64(0) << (n % 64)
}

// has reports whether entry (i, j) of the factors may differ from 0.
func (u *unknown) has(i, j int) bool { return u.filled[i][j/64]>>(j%64)&1 != 0 }

// untouched reports whether nothing is ever subtracted from row i, which is one of C and of U then.
func (u *unknown) untouched(i int) bool {
	for _, w := range u.filled[i][:i/64] {
		if w != 0 {
			return false
		}
	}
	return u.filled[i][i/64]<<(63-i%64)<<1 == 0
}

// want asks for entry (i, j) of a factor in z[r,c], which is 0. Entries of L above the diagonal are
// not to be asked for.
func (u *unknown) want(p part, i, j int, z num.Mat, r, c int) {
	switch {
	case !u.has(i, j):
	case p == ofU && u.untouched(i):
		from, to := u.c, z
		to.Arr.Convert(to.At(r, c), from.Arr, from.At(i, j))
		if z.Format().IsMP() {
			return
		}
		u.copied = append(u.copied, wanted{part: p, i: i, j: j, z: z, at: [2]int{r, c}})
	default:
		u.open = append(u.open, wanted{part: p, i: i, j: j, z: z, at: [2]int{r, c}})
	}
}

// decide rounds the entries whose enclosures round to one number. Others may be 0, or halfway
// between two numbers of the format: ties are what they may be. Those that may be numbers of a
// format of one term round to one with few more bits, which others are likely to need as well.
func decide(s *call.Run, u *unknown, e *enclosure) error {
	for _, w := range u.copied {
		x := u.c.Big(w.i, w.j)
		lose(s, w.z, w.at[0], w.at[1], x, x)
	}
	u.copied = nil
	roots := map[int]interval.Interval{} // of the diagonal of U
	for _, w := range u.open {
		if _, known := roots[w.j]; w.part == ofRoot && e.root == nil && !known {
			roots[w.j] = e.arithmetic().Sqrt(e.upper(w.j, w.j)) // positive, which is proved
		}
	}
	settlers := make([]map[*bound.Nearly]*bound.Settler, s.Threads)
	const some = 256 // a call
	err := par.For(s.Ctx, s.Threads, (len(u.open)+some-1)/some, func(worker, part int) {
		if settlers[worker] == nil {
			settlers[worker] = map[*bound.Nearly]*bound.Settler{}
		}
		for k := part * some; k < min(len(u.open), (part+1)*some); k++ {
			w := &u.open[k]
			y, i, j := e.entry(w)
			var x interval.Interval
			if y != nil {
				t := settlers[worker][y]
				if t == nil {
					t = &bound.Settler{Adder: bound.NewAdder(y.Words), Ends: num.New(w.z.Arr.Format, 2), Tmp: nil}
					settlers[worker][y] = t
				}
				z, mx, md := w.z, y.X, y.D
				v := t.Enclose(y, &mx, &md, i, j)
				if w.done = v.RoundTo(t, z.Arr, z.At(w.at[0], w.at[1])); w.done {
					continue
				}
				x = y.Interval(i, j, e.bits)
			} else if w.part == ofL {
				x = e.lower(w.i, w.j)
			} else if w.part == ofU {
				x = e.upper(w.i, w.j)
			} else if x = roots[w.j]; w.i != w.j {
				x = e.arithmetic().Mul(e.lower(w.i, w.j), x)
			}
			if w.done = x.IsZero(); w.done { // with either sign, and z has a 0 without one
				continue
			}
			lower, upper := num.NewScalar(w.z.Format(), x.Lo), num.NewScalar(w.z.Format(), x.Hi)
			if w.done = lower.Same(upper); w.done {
				w.z.SetEntry(w.at[0], w.at[1], lower)
				lose(s, w.z, w.at[0], w.at[1], x.Lo, x.Hi)
				continue
			}
			w.missing = bitsMissing(x, w.z.Format().Bits())
			w.tie = x.Simplest()
			if single := w.z.Arr.Terms() < 2; single && w.tie != nil && w.tie.Sign() != 0 && num.NewScalar(w.z.Format(), w.tie).Big().Cmp(w.tie) == 0 {
				w.tie = nil
			}
			if w.tie != nil {
				w.off = interval.Prec(64).Difference(interval.Prec(64).Up(), x.Hi, x.Lo, 1)
			}
		}
	})
	u.open = slices.DeleteFunc(u.open, func(w wanted) bool { return w.done })
	return err
}

// bitsMissing returns how many bits closer an enclosure has to be for most numbers to be decided to
// so many bits: none if it tells nothing of the size.
func bitsMissing(x interval.Interval, bits int) int {
	if x.Lo.Sign() != x.Hi.Sign() || x.Lo.Sign() == 0 {
		return call.None32
	}
	width := new(big.Float).SetPrec(64).Sub(x.Hi, x.Lo)
	return max(0, width.MantExp(nil)-min(x.Lo.MantExp(nil), x.Hi.MantExp(nil))+bits+suspicion/2)
}

// prove decides the entries that are the ties that they are suspected to be.
//
// Minors of C are integers times powers of two. An entry of L or U is a quotient of two of them
// (Gantmacher, The theory of matrices, chapter 2), the square of one of L diag(U)^(1/2) that of a
// square by the product of two: so the difference from a tie, times the denominators, is an integer
// below a power of Hadamard's bound, and 0 if it is 0 modulo primes whose product exceeds that. The
// minors of entry (i, j) are of rows before the end of block min(i, j) and of row i: those of the
// first rows and columns take few primes, and few steps of an elimination.
//
// The enclosures that have not decided an entry tell how far it is from its tie at most, and how
// large its denominator is, a product of pivots: so they bound that integer as well, mostly by far
// less than Hadamard's bound does, which is of the integers as large as they might be. Where they
// bound it by 1 it is 0, without a prime.
//
// The error wraps ErrRange where primes of more than maxDeterminant bits are needed.
func prove(s *call.Run, u *unknown, e *enclosure) error {
	var ties []suspect
	for k := range u.open {
		if w := &u.open[k]; w.tie != nil {
			ties = append(ties, suspect{wanted: w, order: min(w.i, w.j, u.k-1) + 1})
		}
	}
	if len(ties) == 0 {
		return nil
	}
	z := modular.ToIntegers(u.c)
	orders := make([]int, u.k+1) // that of the end of the block that the last one lies in
	for b, k := 0, 0; k < len(u.blocks); k++ {
		for range u.blocks[k] {
			b++
			orders[b] = b
		}
		orders[b-u.blocks[k]+1] = b
	}
	leading, d := z.LeadingMinors(u.k), denominatorsOf(z, u, e)
	most := 0
	for k := range ties {
		w := &ties[k]
		w.order = orders[w.order]
		minor := leading[w.order]
		if w.i >= w.order {
			minor += z.RowBits(w.i)
		}
		var shift int64 // the entry is a quotient of integers times 2^shift
		power := 1
		switch w.part {
		case ofL:
			shift = z.Rows[w.i] - z.Rows[w.j]
		case ofU:
			shift = z.Rows[w.i] + z.Cols[w.j]
		case ofRoot:
			shift = 2*z.Rows[w.i] - z.Rows[w.j] + z.Cols[w.j]
			power = 2
		}
		low := int64(0)
		if w.tie.Sign() != 0 {
			low = int64(w.tie.MantExp(nil)) - int64(w.tie.MinPrec())
		}
		off := int64(power)*low - shift
		need := int64(power)*(int64(float64(minor*(1+0x1p-40)))+2+int64(w.tie.MinPrec())) + max(off, -off) + 4
		w.need = int(min(need, max(d.bits(w.wanted, shift, int64(power)*low), 0), math.MaxInt32))
	}
	settled := ties[:0]
	for _, w := range ties {
		if w.need == 0 {
			exactly(s, w.wanted)
			continue
		}
		settled = append(settled, w)
		most = max(most, w.need)
	}
	ties = settled
	next, step := modular.Primes(), call.PrimeStep(u.c)
	for have := 0; len(ties) > 0; {
		if have >= refuting && most > maxDeterminant {
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
			continue // it divides a leading minor
		}
		have += 60
		left := ties[:0]
		most = 0
		for _, w := range ties {
			x, t := lu[w.i][w.j], f.Rational(w.tie)
			if w.part == ofRoot {
				d := lu[w.j][w.j]
				if w.i == w.j {
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
				exactly(s, w.wanted)
			}
		}
		ties = left
		s.Did(step)
		s.Plan(float64((most-have)/60) * step)
	}
	u.open = slices.DeleteFunc(u.open, func(w wanted) bool { return w.done })
	return nil
}

// refuting are bits of primes that refute ties, before those that prove them are counted.
const refuting = 120

// exactly stores the tie that an entry is proved to be.
func exactly(s *call.Run, w *wanted) {
	w.z.SetBig(w.at[0], w.at[1], w.tie)
	lose(s, w.z, w.at[0], w.at[1], w.tie, w.tie)
	w.done = true
	s.Stats.Ties++
	s.Stats.Exact++
}

// denominators are bounds of leading minors of integers that C is made of.
type denominators struct {
	minors     []wideBound // of each order that ends with a block
	start, end []int       // of the block of each row
}

// wideBound is a bound x 2^exp whose exponent may be none of math/big.
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

// denominators returns them, by what encloses the pivots: a leading minor is their product.
func denominatorsOf(z modular.Integers, u *unknown, e *enclosure) denominators {
	d := denominators{make([]wideBound, u.k+1), make([]int, u.k), make([]int, u.k)}
	d.minors[0] = wideBound{bound.Upper().SetFloat64(0.5), 1}
	magnitude := func(x interval.Interval) *big.Float { return bound.UpperOf(x.Larger()) }
	b := 0
	for _, size := range u.blocks {
		pivot := magnitude(e.square(b, b))
		shift := z.Rows[b] + z.Cols[b]
		if size == 2 { // symmetric
			off := magnitude(e.upper(b, b+1))
			pivot = bound.Upper().Add(pivot.Mul(pivot, magnitude(e.upper(b+1, b+1))), off.Mul(off, off))
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

// bits returns a number of bits that an integer is below which is 0 if the entry, or its square, is
// its tie. With the entry N/D 2^shift and the tie a multiple of 2^low that is
//
//	D (entry - tie) 2^-min(shift, low),
//
// and for the square D is the product of the denominators of L and of the pivot.
func (d denominators) bits(w *wanted, shift, low int64) int64 {
	if w.tie.Sign() != 0 {
		shift = min(shift, low)
	}
	var limit wideBound
	switch w.part {
	case ofL:
		limit = d.minors[d.end[w.j]].times(w.off, -shift)
	case ofU:
		limit = d.minors[d.start[w.i]].times(w.off, -shift)
	case ofRoot: // |x² - t²| ≤ |x - t| (2 |t| + |x - t|)
		sum := bound.UpperOf(w.tie)
		sum.Add(sum.Add(sum, sum), w.off)
		limit = d.minors[d.end[w.j]].times(w.off, -shift).times(sum, 0)
		one := d.minors[d.start[w.j]]
		limit = limit.times(one.x, one.exp)
	}
	return limit.exp
}

// suspect is an entry that may be its tie.
type suspect struct {
	*wanted
	order int // of the minors that it is made of, at most
	need  int // bits of primes that prove it
}

// modulo returns L, below its diagonal blocks, and U modulo a prime, their first steps columns and
// rows; nil if that divides a leading minor of them.
func modulo(s *call.Run, u *unknown, f *modular.Field, steps int) ([][]uint64, error) {
	rows, err := f.Matrix(s.Ctx, s.Threads, u.c)
	if err != nil {
		return nil, err
	}
	b := 0
	for _, size := range u.blocks {
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
