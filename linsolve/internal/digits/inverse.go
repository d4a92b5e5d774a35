package digits

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// inverseDigits is the largest order, per lane, up to which an inverse in more than 53 bits is
// faster by an elimination in digits than by products, where float64 factors suffice. From order 9
// to this order it takes a half to all of the time of products, from 80 bits to 848. In the range
// stepBits, Newton's method doubles its bits only once, in few products: there products are faster
// from order stepDigits per lane on. At n = 300, one thread with AVX-512, 424 bits take 73 ms in
// place of 103, 500 bits 95 in place of 116, but 212 bits 100 in place of 41 and 320 bits 130 in
// place of 56 ("halfulp bench inv").
const (
	inverseDigits = 40
	stepDigits    = 25
)

var stepBits = [2]int{390, 600}

// farLoss is the loss of float64 factors, in bits, beyond which they do not suffice for inverses:
// products first need an approximate inverse of more bits.
const farLoss = 41

// farShare, times the lanes, is the ratio of estimated costs, digits to products, at which both
// take equally long for factors that lose more than farLoss bits. At n = 500 and a condition number
// of 1e30, 16 threads with AVX-512, 212 bits take 159 ms in place of 393, 424 bits 236 in place of
// 435, 1696 bits as long.
const farShare = 0.075

// Quick reports whether an elimination in digits is likely to give the inverse of A, with factors
// f, in format z sooner than products.
func Quick(s *call.Run, a num.Mat, f *seed.Factors, z num.Format) bool {
	lanes, n := lanes.Count(), a.Rows
	if loss, err := seed.Loss(s, f); err == nil && loss > farLoss {
		cond, half := condition(f, loss), z.Bits()/2
		d, ok := CountFor(s, n, cond+z.Bits()+ziv.Guard(n), MostDigits)
		other := call.InvertInCost(n, cond+scale.SeedBits) + 2*call.ProductOf(n, n, n, half) + call.ProductOf(n, n, n, half+cond/2)
		return ok && 3*Cost(n, d) < farShare*float64(lanes)*other
	}
	if seed.Sliceable(s, a) && z.Bits() >= stepBits[0] && z.Bits() <= stepBits[1] {
		return n <= stepDigits*lanes
	}
	return n <= inverseDigits*lanes
}

// condition returns about log2 of the condition number of a matrix whose factors f lose loss bits.
func condition(f *seed.Factors, loss int) int {
	if loss > seed.LossyBits {
		return f.ConditionBits()
	}
	return loss
}

// inverseBits returns about the bits of the condition number of a matrix whose factors f lose loss
// bits, and the bits wanted of its inverse in format z.
func inverseBits(f *seed.Factors, loss int, z num.Format) (cond, wanted int) {
	wanted = z.Bits() + 4*(z.Terms()-1) + ziv.Guard(f.N)
	wanted += 4*bits.Len(uint(f.N)) + 4 // for the proof of inverseTo
	return condition(f, loss), wanted
}

// HasInverse reports whether an elimination in digits can compute the inverse in format z of a
// matrix with factors f.
func HasInverse(s *call.Run, f *seed.Factors, z num.Format) bool {
	loss, err := seed.Loss(s, f)
	cond, wanted := inverseBits(f, loss, z)
	_, ok := CountFor(s, f.N, cond+wanted, MostDigits)
	return ok && err == nil
}

// QuickInverse stores the inverse of A in z by an elimination in digits, as far as enclosures
// decide its entries. It sets the columns of todo that are done to nil. B is the unit matrix.
func QuickInverse(s *call.Run, a, b num.Mat, f *seed.Factors, z num.Mat, todo []*ziv.Entries) error {
	loss, err := seed.Loss(s, f)
	if err != nil {
		return err
	}
	first, wanted := inverseBits(f, loss, z.Format())
	if loss > seed.LossyBits {
		s.Work.Guessed = true // until it is known how many digits suffice
	}
	known := false // that A is regular
	return ziv.Decide(s, ziv.Loop{What: "an inverse in digits", First: first + wanted, Most: MostDigits * lanes.Bits()}, func(all int) (more int, err error) {
		d, ok := CountFor(s, f.N, all, MostDigits)
		if !ok {
			return ziv.Done, nil
		}
		s.Plan(3 * Cost(f.N, d))
		cond := all - wanted
		t, more, err := Eliminate(s, a, f, d, wanted)
		switch {
		case err == nil && t.Top+wanted+seed.Growth > d*t.Bits()+8: // too many bits are missing
			return t.Top - cond, nil
		case err == nil:
			seed.Note(s, 1+s.Stats.Rounds, t.Rho, bound.Upper().SetFloat64(call.LargestOf(t.H)), bound.Upper().SetFloat64(f.Norm))
			s.Stats.Precision = d * t.Bits()
			s.Stage("approximate inverse")
			more, err := inverseBy(s, t, a, b, z, todo)
			s.Stage("refinement")
			if err != nil || more == 0 {
				return ziv.Done, err
			}
			more = max(more, d*t.Bits()+1-seed.Growth-all)
			wanted += more
			return more, nil
		case errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		}
		return max(more, cond/4), seed.AskForMore(s, err, a, &known)
	})
}

// inverseBy is QuickInverse with an elimination that suffices. It returns how many more bits are
// worth another elimination.
func inverseBy(s *call.Run, t *Elimination, a, b, z num.Mat, todo []*ziv.Entries) (more int, err error) {
	short, more, err := t.inverseTo(z, todo)
	if err != nil || !call.Few(ziv.OpenColumns(short), t.N) {
		return more, err
	}
	left := slices.Clone(short)
	err = refine.SolveFew(s, a, b, z, t, left)
	for j, e := range short {
		if e != nil && left[j] == nil {
			todo[j] = nil
		}
	}
	return 0, err
}

// inverseTo stores the decided entries of F^-1, scaled back. It returns the columns of todo that
// only lack bits, and how many bits. It leaves columns alone that look like numbers of few bits. It
// ends early where most of the first columns lack bits.
func (t *Elimination) inverseTo(z num.Mat, todo []*ziv.Entries) (short []*ziv.Entries, more int, err error) {
	short = make([]*ziv.Entries, len(todo))
	c, err := t.Columns()
	if c == nil || err != nil {
		return short, 0, err
	}
	s, n, count := t.s, t.N, t.Count()
	groups := (n + count - 1) / count
	workers := make([]*ColumnsWorker, s.Threads)
	cost := 2 * Cost(n, t.D) / float64(groups)
	var order sync.Mutex // guards more and the progress reports
	run := func(worker, group int) {
		first := group * count
		columns := t.Order[first:min(n, first+count)]
		missing := 0
		if slices.ContainsFunc(columns, func(j int) bool { return todo[j] != nil }) {
			if workers[worker] == nil {
				workers[worker] = c.Worker(z.Arr.Format)
			}
			missing = workers[worker].run(first, columns, z, todo, short)
		}
		order.Lock()
		defer order.Unlock()
		more = max(more, missing)
		s.Did(cost)
	}
	if run(0, 0); ziv.OpenColumns(short) > count/2 {
		copy(short, todo)
		return short, more, nil
	}
	s.Work.Guessed = false
	err = par.For(s.Ctx, s.Threads, groups-1, func(worker, k int) { run(worker, k+1) })
	return short, more, err
}

// Columns computes columns 2^scale x' of F^-1, as many at a time as there are lanes. For columns e
// of the unit matrix, in units ε, L U x' = 2^(-growth-scale) P e up to
//
//	n 4 (3 D + 1) + 2 units of L y,
//	‖L‖∞ ≤ 2 n times n (3 D + 1) + 3 D + 5 units of U x',
//
// where 3 D + 3 of the last units come from quotients by pivots below 1/2, and one from x'.
type Columns struct {
	*Elimination
	scale []int      // scale of column Order[i]
	units []float64  // error bounds of rows, in units 2^scale ε
	Cut   int        // number of low bits that do not matter
	u     [][]uint64 // factors u + 1/2 of rows of U, D words apart
}

// columnError bounds 2^growth L U x - P e for the x of Columns, times 2^-scale.
func (t *Elimination) columnError() float64 {
	n := float64(t.N)
	units := float64(4*n*float64(3*t.D+1)) + 2 + float64(2*n*(float64(n*float64(3*t.D+1))+float64(3*t.D+5)))
	return float64(units * t.unit * (1 + 0x1p-40))
}

// Columns returns the data that columns need; nil if no bound of their errors is known.
func (t *Elimination) Columns() (*Columns, error) {
	n, d, count, size := t.N, t.D, t.Count(), t.Size()
	c := &Columns{Elimination: t, scale: make([]int, n), units: make([]float64, n), u: make([][]uint64, n)}
	for i, top := range t.tops {
		c.scale[i] = max(top+1, 0)
	}
	// |x - F^-1 e| ≤ h lost, for |x| ≤ 2^scale: with lost for |x| ≤ 1.
	lost := t.Lost(1, t.columnError())
	for i, h := range t.H {
		c.units[i] = math.Ldexp(h*lost, d*t.Bits()) * (1 + 0x1p-40)
	}
	most := call.LargestOf(c.units)
	if !(most < 0x1p900) {
		return nil, nil
	}
	_, e := math.Frexp(most)
	c.Cut = max(e-40, 0)
	room := t.s.Words(n * n * d)
	half := int64(1) << (t.Bits() - 1)
	return c, par.Each(t.s.Ctx, t.s.Threads, n, func(i int) {
		c.u[i] = room[i*n*d : (i+1)*n*d]
		sums := make([]int64, size)
		for p := i / count; p*count < n; p++ {
			clear(sums)
			t.Sum(sums, t.upper[(p*n+i)*size:])
			for k := range count {
				sums[count+k] += half
			}
			t.Carry(sums)
			for k := range min(count, n-p*count) {
				t.Factor(c.u[i][(p*count+k)*d:], 1, sums, k)
			}
		}
	})
}

// Worker returns the working memory for columns that are rounded to a format.
func (t *Columns) Worker(f num.Format) *ColumnsWorker {
	n, size := t.N, t.Size()
	return &ColumnsWorker{
		Columns: t, y: make([]uint64, n*size), x: make([]uint64, n*size), sums: make([]int64, n*size),
		acc: make([]int64, size), sum: make([]int64, size), total: make([]int64, size), vector: make([]uint64, size),
		mag:  make([]uint64, (t.D*t.Bits()+63)/64+1),
		ends: &bound.Rounder{Ends: num.New(f, 2)},
	}
}

// ColumnsWorker is the working memory of a worker that computes columns.
type ColumnsWorker struct {
	*Columns
	first           int      // the columns are Order[first] and those after it
	y, x            []uint64 // vectors
	sums            []int64  // sums of x'
	acc, sum, total []int64
	vector, mag     []uint64
	ends            *bound.Rounder
}

// run decides entries of the columns from Order[first] on, as inverseTo does.
func (t *ColumnsWorker) run(first int, columns []int, z num.Mat, todo, short []*ziv.Entries) (more int) {
	if !t.SolveLower(first) || !t.SolveUpper(first) {
		return 0
	}
	for k, j := range columns {
		e := todo[j]
		if e == nil {
			continue
		}
		missing, enough := t.decide(e, k, z)
		if len(e.Open) == 0 {
			todo[j] = nil
		} else if !enough {
			short[j], more = e, max(more, missing)
		}
	}
	return more
}

// SolveLower solves L y = 2^(-growth-scale) P e for the columns from Order[first] on; not ok if
// numbers are too large.
func (t *ColumnsWorker) SolveLower(first int) (ok bool) {
	n, d, size, count, b := t.N, t.D, t.Size(), t.Count(), t.Bits()
	t.first = first
	acc, total := t.acc, t.total[:len(t.acc)]
	clear(total)
	for i := first; i < n; i++ {
		clear(acc)
		if i > first {
			t.Add(acc, t.y[first*size:], size, t.Elimination.lower[i][first*d:], d, false, i-first)
		}
		for k, v := range acc {
			acc[k] = 2*total[k] - 4*v
		}
		if i-first < count {
			low := seed.Growth + t.scale[i]
			at := (low + b - 1) / b // the digit that holds the 1
			if at > d {
				return false
			}
			acc[at*count+i-first] += 1 << (b*at - low)
		}
		t.Carry(acc)
		y := t.y[i*size:]
		if !t.Vector(y, acc) {
			return false
		}
		if t.Sum(total, y); i%rowsAhead == 0 {
			t.Carry(total)
		}
	}
	return true
}

// SolveUpper solves U x' = y and stores sums of x'; not ok if numbers are too large.
func (t *ColumnsWorker) SolveUpper(first int) (ok bool) {
	n, d, size := t.N, t.D, t.Size()
	acc, sum, total := t.acc, t.sum[:len(t.acc)], t.total[:len(t.acc)]
	clear(total)
	for i := n - 1; i >= 0; i-- {
		clear(acc)
		if i < n-1 {
			t.Add(acc, t.x[(i+1)*size:], size, t.u[i][(i+1)*d:], d, false, n-1-i)
		}
		clear(sum)
		if i >= first {
			t.Sum(sum, t.y[i*size:])
		}
		for k, v := range acc { // twice the remaining right-hand side
			acc[k] = 2*(sum[k]-v) + total[k]
		}
		t.Carry(acc)
		if !t.below(acc, t.shift[i]) {
			return false
		}
		t.shiftLanes(sum, acc, t.shift[i])
		t.Vector(t.vector, sum)
		clear(acc)
		t.Add(acc, t.vector, size, t.inverse[i*d:], d, false, 1) // x'/2
		by := int64(2)
		if t.neg[i] {
			by = -2
		}
		for k, v := range acc {
			acc[k] = by * v
		}
		t.Carry(acc)
		x, sums := t.x[i*size:], t.sums[i*size:][:size]
		if !t.Vector(x, acc) {
			return false
		}
		if t.Sum(total, x); i%rowsAhead == 0 {
			t.Carry(total)
		}
		clear(sums)
		t.Sum(sums, x)
		t.Carry(sums)
	}
	return true
}

// decide decides the entries of a column of F^-1 in lane k. It decides none if some stay undecided
// and all look like numbers of one more bit than the format has. It returns about how many bits the
// undecided entries lack. It reports enough if more bits would not help.
func (t *ColumnsWorker) decide(e *ziv.Entries, k int, z num.Mat) (missing int, enough bool) {
	var open []int
	exactly := true
	for _, i := range e.Open {
		v := t.Enclosed(i, k)
		v.Exp += t.Cols[i] + t.Rows[e.J]
		decided := v.RoundTo(t.ends, z.Arr, z.At(i, e.J))
		if decided && !exactly {
			continue
		}
		special := v.Special(z.Arr.Format)
		exactly = exactly && special
		if !decided {
			open = append(open, i)
			enough = enough || special
			missing = max(missing, bits.Len64(v.Err)+z.Arr.Format.Bits()+ziv.Suspicion/2-num.BitLen(v.Mag))
		}
	}
	if len(open) > 0 && exactly {
		return 0, true
	}
	e.Open = open
	return missing, enough
}

// Enclosed returns an enclosure of row i of the column in lane k.
func (t *ColumnsWorker) Enclosed(i, k int) bound.EnclosedEntry {
	d, size, count, b := t.D, t.Size(), t.Count(), t.Bits()
	sums := t.sums[i*size+k:]
	neg, flip := sums[0] < 0, int64(0)
	if neg { // -1 - x, which is in error by a unit
		flip = 1<<b - 1
	}
	clear(t.mag)
	for c := 1; c <= d; c++ {
		v := uint64(sums[c*count] ^ flip)
		if low := b*(d-c) - t.Cut; low >= 0 {
			setBits(t.mag, low, v)
		} else if low > -b {
			t.mag[0] |= v >> -low
		}
	}
	mag := t.mag
	for len(mag) > 0 && mag[len(mag)-1] == 0 {
		mag = mag[:len(mag)-1]
	}
	v := bound.EnclosedEntry{Neg: neg, Mag: mag, Exp: int64(t.scale[t.first+k] - b*d + t.Cut), Known: len(mag) > 0}
	v.Err = uint64(math.Ldexp(t.units[i], -t.Cut)) + 4 // the truncation, and less than a unit
	v.Zero = len(mag) == 0 || len(mag) == 1 && mag[0] <= v.Err
	return v
}
