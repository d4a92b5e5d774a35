package digits

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// LDLT holds approximate factors L and D of a symmetric F = 2^shift P A P^T with given pivots. They
// come from an elimination in fixed point, with n³/6 products of numbers.
//
// With d digits and ε = B^-d the numbers are stored as in lanes.Lanes. Entries of U = D L^T are
// less than 1/2 in magnitude, as entries of F are less than 2^-growth; entries of L are less than
// 4. Rows of U are vectors, whose lanes are rows of L. With factors x = l/8 + 1/2
//
//	s_ij = f_ij - 8 Σ x_ik u_kj + 4 Σ u_kj,  k before the block of i,
//	l_ji / 8 ≈ 2^e s_ij · 1/(2^(e+3) p),                     1/8 ≤ 2^e |p| < 1/4,
//	l_jc / 8 ≈ 2 Σ 2^e s_ij y_ic - Σ 2^e s_ij,  y_ic = 2^-e d^-1_ic / 16 + 1/2,
//
// for pivots p and for blocks d of order 2, whose largest entry is the entry o off the diagonal,
// with 1/4 ≤ 2^e |o| < 1/2.
//
// The proof is about G = L D L^T for the l of factors. In units ε,
//
//	|F - G| ≤ (n + 1) (408 d + 420),
//
// which is the sum of
//
//   - 8 times 3 d + 1 for each product, see lanes.Lanes.Add, and 1 for truncating f;
//   - |l| ≤ 4 times 96 d + 97, the largest difference between the u in vectors and (D L^T)_kj. Here
//     u differs from s_kj by a unit, and l/8 is in error by 12 d + 12 units, times 8 |D| e ≤ 8. For
//     blocks of order 2 these 12 d + 12 units are twice the sum of 2 for the errors of vectors, 2
//     for y, and 2 (3 d + 1) for the product; pivots take less;
//   - 96 d + 97 for the entry itself.
//
// With E = L^-1 (F - G) (D L^T)^-1 and v ≥ |L^-1| e for e = (1, ..., 1),
//
//	‖E‖∞ ≤ max |F - G| max v Σ |(D L^T)^-1| ≤ max |F - G| max v  v^T |D^-1| e,
//
// which bounds the distance of L and D from the exact factors: see LUBits.
type LDLT struct {
	s *call.Run
	digitLower
	n      int
	c      num.Mat // A
	order  []int
	blocks []int
	First  []int // first row of each block
	Start  []int // for each row, the first row of its block
	Shift  int64
	upper  [][]uint64    // of each panel: vectors of rows of U
	prefix [][]int64     // of each panel: Σ_k u_kj over the known rows k
	pivots [][3]*big.Int // of each block: B^d times its two diagonal entries and the other
	inverses
	off *big.Float // 1.25 times a bound of ‖E‖∞
}

// inverses holds the inverses of pivots and blocks.
type inverses struct {
	inverse [][]uint64 // factors: 1/(2^(e+3) |p|), or the y column by column
	shifts  []int      // e
}

// digitLDLTCost returns the cost of eliminating in d digits, in the unit of Cost.
func digitLDLTCost(n, d int) float64 { return Cost(n, d) / 2 }

// NewLDLT returns factors of the symmetric matrix a with the pivots and blocks of p, with errors of
// about 2^-bits; nil where an elimination in digits is not possible. p.Loss is about how many bits
// the elimination loses. NewLDLT calls regular where an elimination or its proof lacks bits, and
// returns its error.
func NewLDLT(s *call.Run, a num.Mat, p *seed.RookOrder, bits int, regular func() error) (*LDLT, error) {
	if p == nil || s.Set.Check || lanes.Bits() == 0 {
		return nil, nil
	}
	n := a.Rows
	var z *LDLT
	loop := ziv.Loop{What: "an elimination in digits", First: bits + p.Loss, Most: RootDigits * lanes.Bits()}
	err := ziv.Decide(s, loop, func(all int) (more int, err error) {
		d := max((all+lanes.Bits()-1)/lanes.Bits(), 3)
		if rootWords(n, n, d) > digitBytes/8 {
			return ziv.Done, nil
		}
		s.Plan(digitLDLTCost(n, d) + call.WantedCost(s, n, n)/2) // may fuse: an estimate
		t, more, err := eliminateLDLT(s, a, p, d)
		switch {
		case err == nil && t.gain() >= bits:
			s.Stats.Rho = call.Measure(t.off)
			s.Stats.Precision = t.Bits() * d
			z = t
			return ziv.Done, nil
		case err == nil:
			more = bits - t.gain()
		case errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		case errors.Is(err, seed.ErrNoise) || errors.Is(err, seed.ErrProof):
			err = regular()
		}
		return max(more, (all-bits)/4), err
	})
	return z, err
}

// gain returns about how many bits enclosures determine.
func (t *LDLT) gain() int { return -t.off.MantExp(nil) - bits.Len(uint(t.n)) }

// eliminateLDLT eliminates in d digits. If these do not suffice, it guesses how many more bits
// will.
func eliminateLDLT(s *call.Run, a num.Mat, p *seed.RookOrder, d int) (t *LDLT, more int, err error) {
	lanes, _ := lanes.New(d)
	n := a.Rows
	t = &LDLT{
		s: s, n: n, c: a, order: p.Order, blocks: p.Blocks, Shift: -p.High - seed.Growth, Start: make([]int, n),
		pivots:   make([][3]*big.Int, len(p.Blocks)),
		inverses: inverses{make([][]uint64, len(p.Blocks)), make([]int, len(p.Blocks))},
	}
	for b, k := 0, 0; k < len(p.Blocks); k++ {
		t.First = append(t.First, b)
		for range p.Blocks[k] {
			t.Start[b] = t.First[k]
			b++
		}
	}
	t.digitLower = digitLower{Numbers: Numbers{lanes, d}, rows: make([][]uint64, n), length: func(i int) int { return t.Start[i] }, exp: 3}
	count, size := t.Count(), t.Size()
	room := s.Words(n * (n - 1) / 2 * d)
	for i := range t.rows {
		t.rows[i], room = room[:t.Start[i]*d], room[t.Start[i]*d:]
	}
	panels := (n + count - 1) / count
	for p := range panels {
		t.upper = append(t.upper, s.Words(min((p+1)*count, n)*size))
		t.prefix = append(t.prefix, make([]int64, size))
	}
	workers := make([]*ldltLanes, s.Threads)
	for w := range workers {
		workers[w] = newLDLTLanes(size)
	}
	from := make([]int, panels+1) // the first block that begins in each panel, or behind it
	for p := range from {
		from[p], _ = slices.BinarySearch(t.First, p*count)
	}
	known := d * t.Bits()
	// width is 2 if the last block of a panel ends in the next one.
	width := func(k int) int {
		if last := from[k+1] - 1; last >= from[k] && t.First[last]+t.blocks[last] > (k+1)*count {
			return 2
		}
		return 1
	}
	err = par.Cascade{
		Panels: panels, Steps: panels, Width: width,
		Lead: func(worker, k int) error {
			next := k + width(k)
			for b := from[k]; b < from[k+1]; b++ {
				for p := k; p < next; p++ {
					if err := t.block(p, b, workers[worker]); err != nil {
						return &pivotError{err, min(known, known*(n-t.First[b])/max(t.First[b], 1)+seed.LeastGood/2)}
					}
				}
			}
			for _, prefix := range t.prefix[k:next] {
				t.Carry(prefix)
			}
			return nil
		},
		Follow: func(worker, p, k int) error {
			for b := from[k]; b < from[k+1]; b++ {
				if err := t.block(p, b, workers[worker]); err != nil {
					return err
				}
			}
			t.Carry(t.prefix[p])
			return nil
		},
		Led: func(int) { s.Did(digitLDLTCost(n, d) / float64(panels)) },
	}.Run(s.Ctx, s.Threads)
	if err != nil {
		more, err := moreOf(err)
		return nil, more, err
	}
	more, err = t.bound()
	return t, more, err
}

// ldltLanes is the working memory of a worker.
type ldltLanes struct {
	acc, shifted [2][]int64
	sums         []int64
	vectors      []uint64
	buf          [num.MaxValueWords]uint64
}

func newLDLTLanes(size int) *ldltLanes {
	z := &ldltLanes{sums: make([]int64, size), vectors: make([]uint64, 2*size)}
	for r := range 2 {
		z.acc[r], z.shifted[r] = make([]int64, size), make([]int64, size)
	}
	return z
}

// left sets s to row i of the remaining F (the Schur complement) in panel p, from the diagonal on.
func (t *LDLT) left(s []int64, p, i int, w *ldltLanes) error {
	clear(s)
	size := t.Size()
	if k := t.Start[i]; k > 0 {
		t.Add(s, t.upper[p], size, t.rows[i], t.D, false, k)
	}
	for k, v := range t.prefix[p] {
		s[k] = 4*v - 8*s[k]
	}
	count := t.Count()
	for j := max(p*count, i); j < min((p+1)*count, t.n); j++ {
		if !t.addNumber(s, j-p*count, t.c.Arr, t.c.At(t.order[j], t.order[i]), t.Shift, &w.buf) {
			return call.ErrRange
		}
	}
	t.Carry(s)
	return nil
}

// block computes the rows of U of block k in panel p, and the columns of L, from all rows above.
func (t *LDLT) block(p, k int, w *ldltLanes) error {
	count, size, d := t.Count(), t.Size(), t.D
	b, rows := t.First[k], t.blocks[k]
	for r := range rows {
		if err := t.left(w.acc[r], p, b+r, w); err != nil {
			return err
		}
	}
	if p == b/count {
		if err := t.pivot(p, k, w); err != nil {
			return err
		}
	}
	first := p * count
	known := max(b+rows-first, 0) // lanes of this block and of earlier blocks
	noise := seed.ErrNoise
	if o := t.pivots[k][2*rows-2]; o.BitLen() > d*t.Bits()/2 {
		noise = call.ErrRange // other pivots are larger
	}
	if known >= count {
		return nil
	}
	e := t.shifts[k]
	for r, acc := range w.acc[:rows] {
		if known > 0 {
			for c := 0; c < size; c += count {
				clear(acc[c : c+known])
			}
		}
		if !t.small(acc) || !t.below(acc, e) {
			return noise
		}
		t.shiftLanes(w.shifted[r], acc, e)
		u := t.upper[p][(b+r)*size:][:size]
		if !t.Vector(u, acc) || !t.Vector(w.vectors[r*size:][:size], w.shifted[r]) {
			return noise
		}
	}
	for r := range rows {
		t.Sum(t.prefix[p], t.upper[p][(b+r)*size:][:size])
	}
	half := int64(1) << (t.Bits() - 1)
	for c := range rows {
		l := w.sums
		clear(l)
		t.Add(l, w.vectors, size, t.inverse[k][c*rows*d:], d, false, rows)
		switch {
		case rows == 2:
			for i, v := range l {
				l[i] = 2*v - w.shifted[0][i] - w.shifted[1][i]
			}
		case t.pivots[k][0].Sign() < 0:
			for i, v := range l {
				l[i] = -v
			}
		}
		t.Carry(l)
		if !t.small(l) {
			return noise
		}
		for j := first + known; j < min(first+count, t.n); j++ {
			// Adding 1/2 to carried digits of l/8, |l/8| ≤ 1/2, changes only the first digit.
			l[count+j-first] = (l[count+j-first] + half) & (2*half - 1)
			t.Factor(t.rows[j][(b+c)*d:], 1, l, j-first)
		}
	}
	return nil
}

// pivot stores block k, whose first row is in w, and its inverse.
func (t *LDLT) pivot(p, k int, w *ldltLanes) error {
	count, d, size := t.Count(), t.D, t.Size()
	b, all := t.First[k], d*t.Bits()
	x := &t.pivots[k]
	x[0] = t.integer(w.acc[0], b-p*count)
	if t.blocks[k] == 1 {
		t.inverse[k] = make([]uint64, d)
		if x[0].BitLen() < 30 {
			return seed.ErrNoise
		}
		e, ok := t.Reciprocal(t.inverse[k], new(big.Int).Abs(x[0]))
		if !ok || e == 0 {
			return call.ErrRange
		}
		t.shifts[k] = e - 1
		return nil
	}
	right := w.acc
	lane := b + 1 - p*count
	if lane == count { // a lane of the next panel
		lane = 0
		right = [2][]int64{make([]int64, size), make([]int64, size)}
		for r := range 2 {
			if err := t.left(right[r], p+1, b+r, w); err != nil {
				return err
			}
		}
	}
	x[1], x[2] = t.integer(right[1], lane), t.integer(right[0], lane)
	o := x[2]
	if o.BitLen() < 30 {
		return seed.ErrNoise
	}
	e := all - 1 - o.BitLen()
	if e < 0 || max(x[0].BitLen(), x[1].BitLen()) >= all { // 1/2 or more
		return call.ErrRange
	}
	det := t.determinant(k)
	if det.Sign() == 0 {
		return seed.ErrNoise
	}
	t.shifts[k], t.inverse[k] = e, make([]uint64, 4*d)
	minus := new(big.Int).Neg(o)
	sums, word := make([]int64, size), new(big.Int)
	mask := big.NewInt(1<<t.Bits() - 1)
	for at, z := range []*big.Int{x[1], minus, minus, x[0]} {
		y := new(big.Int).Lsh(z, uint(2*all-e-4))
		y.Div(y, det)
		y.Add(y, new(big.Int).Lsh(big.NewInt(1), uint(all-1)))
		if y.Sign() < 0 || y.BitLen() > all {
			return call.ErrRange
		}
		for c := d; c > 0; c-- {
			sums[c*count] = int64(word.And(y, mask).Uint64())
			y.Rsh(y, uint(t.Bits()))
		}
		t.Factor(t.inverse[k][at*d:], 1, sums, 0)
	}
	return nil
}

// determinant returns B^2d times the determinant of block k, which has order 2.
func (t *LDLT) determinant(k int) *big.Int {
	x := t.pivots[k]
	det := new(big.Int).Mul(x[0], x[1])
	return det.Sub(det, new(big.Int).Mul(x[2], x[2]))
}

// bound sets off and the radii, or returns a guess of how many more bits will do.
func (t *LDLT) bound() (more int, err error) {
	s, n := t.s, t.n
	defer s.Temporary()()
	l, li := s.Floats(n*n), s.Floats(n*n)
	call.Zero(s.Threads, l)
	call.Zero(s.Threads, li)
	err = par.Each(s.Ctx, s.Threads, n, func(i int) {
		l[i+i*n] = 1
		for j := range t.Start[i] {
			l[i+j*n] = t.float(i, j)
		}
	})
	if err != nil {
		return 0, err
	}
	if err := dgemm.InvertLower(s.Ctx, s.Threads, n, l, li); err != nil {
		return 0, err
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	// Numbers of L are right to 2^-48 of themselves or to 2^-89.
	gamma := float64(float64(n+16)*0x1p-53) + 0x1p-47
	v = seed.AbsLower(s.Threads, n, li, v)
	lost := float64(gamma*call.LargestOf(seed.AbsLower(s.Threads, n, l, v))*1.001) + float64(float64(n)*0x1p-88*call.LargestOf(v))
	if lost < seed.MostRho {
		for i, x := range v {
			v[i] = float64(x / (1 - lost) * (1 + 0x1p-40))
		}
	} else { // float64 numbers do not suffice
		_, top := math.Frexp(call.LargestOf(li))
		long := Triangle{Numbers: t.Numbers, Rows: t.rows, Length: t.length, Exp: t.exp}
		if v, more, err = long.Sums(s, top, nil); err != nil {
			return more, err
		}
	}
	sum := bound.Upper() // v^T |D^-1| e, in units
	for k, b := range t.First {
		x := t.pivots[k]
		if t.blocks[k] == 1 {
			sum.Add(sum, bound.Upper().Quo(bound.Upper().SetFloat64(v[b]), bigUnits(x[0], -1)))
			continue
		}
		det := bigUnits(t.determinant(k), -1)
		o := bigUnits(x[2], 1)
		first := bound.Upper().Mul(bound.Upper().SetFloat64(v[b]), bound.Upper().Add(bigUnits(x[1], 1), o))
		second := bound.Upper().Mul(bound.Upper().SetFloat64(v[b+1]), bound.Upper().Add(bigUnits(x[0], 1), o))
		sum.Add(sum, bound.Upper().Quo(first.Add(first, second), det))
	}
	t.off = bound.Upper().Mul(sum, bound.Upper().SetFloat64(call.LargestOf(v)))
	t.off.Mul(t.off, bound.Upper().SetInt64(int64((n+1)*(408*t.D+420))))
	if t.off.Cmp(big.NewFloat(0.125)) > 0 {
		return t.off.MantExp(nil) + 16, seed.ErrProof
	}
	// As in LUBits, L (I + X) and (I + Y) D L^T are the exact factors.
	t.off.Mul(t.off, big.NewFloat(1.25))
	return 0, t.setRadius(s, t.off)
}

// column returns a bound of the entries of column j of D L^T, which belongs to block k.
func (t *LDLT) column(j, k int) float64 {
	count, size := t.Count(), t.Size()
	p, most := j/count, 0.0
	for i := range t.First[k] {
		most = max(most, math.Abs(t.VectorFloat(t.upper[p][i*size:], j-p*count)))
	}
	for i := range t.blocks[k] {
		x, _ := bigUnits(t.At(k, i, j-t.First[k]), 1).Float64()
		most = max(most, math.Ldexp(x, -t.D*t.Bits()))
	}
	return float64(most*(1+0x1p-40)) + 0x1p-100
}

// At returns B^d times entry (i, j) of block k.
func (t *LDLT) At(k, i, j int) *big.Int {
	if i != j {
		return t.pivots[k][2]
	}
	return t.pivots[k][i]
}

// RoundTo rounds the decided entries of L and D into l and d, and returns the undecided entries. It
// is not ok unless it is proved that the entries of L are within their bound.
func (t *LDLT) RoundTo(l, d num.Mat) (lower, middle [][2]int, ok bool, err error) {
	s := t.s
	if lower, ok, err = t.digitLower.roundTo(s, l, seed.RookGrowth); !ok || err != nil {
		return nil, nil, ok, err
	}
	rounders, mags := t.rounders(s, d.Arr.Format)
	left := make([][][2]int, len(t.blocks))
	err = par.For(s.Ctx, s.Threads, len(t.blocks), func(worker, k int) {
		b, size := t.First[k], t.blocks[k]
		for j := range size {
			ziv.SetOne(l, b+j, b+j)
			r := float64(t.column(b+j, k) * t.radius[0]) // the error: the first row of L is 1
			cut := t.cutOf(r, t.unit)
			for i := range j + 1 {
				v := t.EnclosedInteger(mags[worker], t.At(k, i, j), cut)
				v.Within(r, t.unit)
				v.Exp -= t.Shift
				if !v.RoundTo(rounders[worker], d.Arr, d.At(b+i, b+j)) {
					left[k] = append(left[k], [2]int{b + i, b + j})
				}
			}
		}
	})
	return lower, slices.Concat(left...), true, err
}

// Enclosure returns enclosures of the open entries of L, and D.
func (t *LDLT) Enclosure(u *ziv.Unknown) *ziv.Enclosure {
	e := &ziv.Enclosure{Bits: max(t.gain(), 1)}
	if len(u.Open) == 0 {
		return e
	}
	e.L, e.U = t.digitLower.enclosure(u), t.openEntries(t.n, t.n)
	mag := t.Room()
	for k, b := range t.First {
		for j := range t.blocks[k] {
			e.U.Left[b+j] = -t.Shift
			e.U.Err[b+j] = exponentOf(float64(t.column(b+j, k)*t.radius[0])*(1+0x1p-40), t.unit)
			for i := range j + 1 {
				e.U.Set(b+i, b+j, t.EnclosedInteger(mag, t.At(k, i, j), 0))
			}
		}
	}
	return e
}

// bigUnits returns a bound of |x|, from below if side < 0, else from above.
func bigUnits(x *big.Int, side int) *big.Float {
	z := bound.Upper()
	if side < 0 {
		z.SetMode(big.ToNegativeInf)
	}
	return z.SetInt(new(big.Int).Abs(x)).SetMode(big.ToPositiveInf)
}
