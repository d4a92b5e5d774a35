package newton

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/residue"
)

// SolveMany solves A X = B for many columns with the approximate inverse p, as far as its
// enclosures decide entries. It sets the finished columns of todo to nil. Its work is A X, the X of
// half the bits from Newton's method, and products with them. While many columns have entries far
// below others, it continues with more bits, as long as these decide a quarter of the entries. by
// says how many columns are solved at a time; X is the same for all columns.
func SolveMany(s *call.Run, p *seed.Approximate, a, b, z num.Mat, todo []*ziv.Entries, by Columns) error {
	t := newIn(s, a, p, mostSolvedBits(z), s.MatrixHere)
	if t == nil {
		return nil
	}
	defer func() { s.Drop(t.F, t.X) }()
	n, k := b.Dims()
	width, whole := by.Width, s.Work
	for first := 0; first < k; first += width {
		last := min(first+width, k)
		if width < k {
			s.Part(whole, float64(first)/float64(k), float64(last)/float64(k))
		}
		if err := solveManyBy(s, t, p.Rounds, a, b.Slice(0, n, first, last), z.Slice(0, n, first, last), todo[first:last], by.Coarse); err != nil {
			return err
		}
	}
	if width < k {
		s.Work = whole
	}
	return nil
}

// Columns says how [SolveMany] solves, depending on the memory that it may take.
type Columns struct {
	Width int // how many columns at a time
	// Coarse keeps the first X, so that no other matrices of its order are needed. Steps then gain
	// fewer bits, and solutions take more steps.
	Coarse bool
}

// wantedBits returns the bits of the first enclosure of the entries of z.
func wantedBits(z num.Mat) int {
	return z.Format().Bits() + 4*(z.Arr.Terms()-1) + ziv.Guard(z.Rows)
}

// mostSolvedBits bounds the bits of the numbers of A and B, and of enclosures.
func mostSolvedBits(z num.Mat) int { return 4*wantedBits(z) + 2048 }

// solveManyBy is SolveMany for all columns at once, by an X that came from some rounds of seeds.
// With coarse, X stays as it is.
func solveManyBy(s *call.Run, t *Iteration, rounds int, a, b, z num.Mat, todo []*ziv.Entries, coarse bool) error {
	bits, most := wantedBits(z), mostSolvedBits(z)
	g, inverse := b, !coarse && ziv.IsIdentity(b)
	if !inverse {
		if g = call.Arranged(b, scale.Scaling{Rows: t.By.Rows, Cols: make([]int64, b.Cols)}, nil, most, s.MatrixHere); g.Arr == nil {
			return nil
		}
		defer s.Drop(g)
	}
	s.Work.Guessed = false
	end := func() {}
	if rounds > 1 && s.Work.Report != nil { // A is ill-conditioned: more bits will probably follow
		end = s.Before(2 * call.ProductOf(a.Rows, a.Rows, b.Cols, bits/2+t.Amp.MantExp(nil)))
	}
	more := 64
	return ziv.Decide(s, ziv.Loop{What: "solutions", First: bits, Most: most}, func(bits int) (missing int, err error) {
		var y *bound.Nearly
		if inverse {
			y, err = t.Inverse(bits)
		} else {
			gain := t.Gain()
			if !coarse {
				gain = t.CoarseGain(gain, g.Cols, bits)
			}
			y, err = t.Solve(g, bits, gain)
		}
		end()
		end = func() {}
		if err != nil || y == nil {
			return ziv.Done, err
		}
		s.Stage("products")
		defer func() {
			if s.Drop(y.D); !inverse {
				s.Drop(y.X)
			}
		}()
		before := ziv.CountOpen(todo)
		columns, err := round(s, y, z, todo)
		if err == nil {
			err = checkNearly(s, t, y, g, z, todo, columns)
		}
		if err != nil || ziv.CountOpen(todo) == 0 || rounds == 1 && call.Few(ziv.OpenColumns(todo), a.Rows) || ziv.CountOpen(todo) > before*3/4 {
			return ziv.Done, err
		}
		missing = max(more, columnsMissing(y, todo, z.Format().Bits()))
		more *= 4
		return missing, nil
	})
}

// columnsMissing returns how many bits closer enclosures have to be to decide most open entries.
func columnsMissing(y *bound.Nearly, todo []*ziv.Entries, bits int) (most int) {
	m := y.X
	for j, e := range todo {
		if e == nil {
			continue
		}
		for _, i := range e.Open {
			if top := scale.Exponent(m.Arr, m.At(i, j)); top != scale.None {
				most = max(most, int(y.Err[j]-top)+bits+ziv.Suspicion/2)
			}
		}
	}
	return most
}

// Inverse returns X + E' X, or X + (E' + E'²) X where that saves a step, with an error of about
// 2^-bits of the largest entry of a column of F^-1.
func (t *Iteration) Inverse(bits int) (*bound.Nearly, error) {
	n, half, third := t.n(), (bits+3)/2, (bits+5)/3
	for {
		// may fuse: an estimate
		t.plan(half, call.ProductOf(n, n, n, half+max(t.Amp.MantExp(nil), 0)/2)*2+float64(n)*float64(n)*call.RoundCost)
		width := t.Gain() + LateBits
		if 3*width >= bits { // perhaps the last time
			width = max(width, bits-t.Gain()+2)
		}
		e, h, err := t.errorMatrix(width)
		if err != nil {
			return nil, err
		}
		g := t.Gain()
		cubic := steps(g, third) < steps(g, half)
		enough := g * 3 / 2
		if g >= half || cubic && g >= third {
			enough = bits
		}
		switch {
		case t.blurred(h, enough):
			t.S.Drop(e)
		case cubic && g < third:
			err = t.step(e, h, third)
		case !cubic && g < half:
			err = t.step(e, h, half)
		default:
			return t.correct(n, bits, e, h, cubic)
		}
		if err != nil {
			return nil, err
		}
	}
}

// correct is the end of Inverse, with E'.
//
// F^-1 = X + (E + E²) X + E³ (I - E)^-1 X. The error is a bound of the last term, or without E² of
// the last two, and of roundings, in units of the largest entry of a column of X.
func (t *Iteration) correct(n, bits int, e num.Mat, h *big.Float, cubic bool) (*bound.Nearly, error) {
	wide := max(bits-t.Gain()+2, 24)
	mul := func(x, y *big.Float) *big.Float { return bound.Upper().Mul(x, y) }
	near := bound.Upper().Add(t.Rho, h) // ≥ ‖E'‖
	rest := mul(t.Rho, t.Rho)
	if cubic {
		places := max(bits-2*t.Gain()+2, 24)
		square, lost, err := t.Square(e, near, places)
		if err != nil {
			return nil, err
		}
		sum, err := t.S.Room(num.Precision(uint(wide)), n, n)
		if err != nil {
			return nil, err
		}
		if err := t.S.Sum(e, square, sum); err != nil {
			return nil, err
		}
		t.S.Drop(e, square)
		e = sum
		// ‖E'² - E²‖ ≤ 2 h ‖E'‖ + h² ≤ 3 h near; the sum is rounded.
		rest = bound.Upper().Add(mul(rest, t.Rho), mul(mul(h, near), bound.Exp2(1)))
		rest = bound.Upper().Add(rest, mul(near, bound.Exp2(1-wide)))
		rest = bound.Upper().Add(rest, lost)
	}
	d, err := t.S.Room(num.Precision(uint(wide)), n, n)
	if err != nil {
		return nil, err
	}
	// ‖E' + E'²‖ ≤ 2 near. D may be in error by 2^-wide near in addition to its rounding.
	b := &residue.Bound{Rows: make([]int64, n)}
	for i := range b.Rows {
		b.Rows[i] = int64(near.MantExp(nil)) + 1
	}
	for _, c := range t.Col {
		b.Cols = append(b.Cols, c+1)
	}
	b.Within = int64(wide) + 2
	rows := t.eRows
	if rows != nil && cubic { // |E' + E'²| ≤ 2 ‖E'‖, rounded
		sum := int64(near.MantExp(nil)) + 2
		rows = call.UniformVectors(n, n, sum, sum)
	}
	t.S.Known(b, rows, t.xCols)
	if err := t.S.GemmWithin(1, e, t.X, 0, num.Mat{}, d, b); err != nil {
		return nil, err
	}
	t.S.Drop(e)
	t.S.Stats.Precision = bits
	// 1/(1 - rho) ≤ 2, and D is rounded.
	lost := bound.Upper().Add(h, mul(rest, bound.Exp2(1)))
	lost = bound.Upper().Add(lost, mul(near, bound.Exp2(2-wide)))
	y := &bound.Nearly{X: t.X, D: d, Words: call.WordsFor(bits), Left: t.By.Cols, Right: t.By.Rows}
	for _, c := range t.Col {
		// Errors below the truncation need not be known.
		y.Err = append(y.Err, c+1+max(int64(lost.MantExp(nil)), -int64(bits)-8))
	}
	return y, nil
}

// FloatPlaces is the number of places of E'² up to which float64 arithmetic computes it. Its errors
// are less than 2^-41 of |E'|² up to order 2^16, in a quarter of the time.
const FloatPlaces = 40

// Square returns E'² to the given places, for near ≥ ‖E'‖, and a bound of the norm of its error.
func (t *Iteration) Square(e num.Mat, near *big.Float, places int) (square num.Mat, lost *big.Float, err error) {
	n := t.n()
	size := bound.Upper().Mul(near, near)
	if t.S.At.AtHand() && places <= FloatPlaces {
		defer t.S.Multiplying(e, e, e, 0)()
		// Entries of E' are truncated to 53 bits, or are 0 below 2^-1000.
		x, z := scale.Unscaled(n, n).Float64s(e, t.S.Floats(n*n)), t.S.Floats(n*n)
		clear(z)
		if err := dgemm.Subtract(t.S.Ctx, t.S.Threads, n, z, x, x); err != nil {
			return num.Mat{}, nil, err
		}
		zero := make([]int64, n)
		square, err = seed.Stored(t.S, n, func(i, j int) float64 { return -z[i+j*n] }, zero, zero)
		gamma := bound.Upper().SetFloat64(dgemm.SubtractError(n) + 0x1p-50)
		return square, gamma.Add(gamma.Mul(gamma, size), bound.Exp2(-900)), err
	}
	if square, err = t.S.Room(num.Precision(uint(places)), n, n); err != nil {
		return num.Mat{}, nil, err
	}
	within, lost := t.squareBound(places)
	lost.Add(lost, size.Mul(size, bound.Exp2(-places))) // the square is rounded
	return square, lost, t.S.GemmWithin(1, e, e, 0, num.Mat{}, square, within)
}

// squareBound returns a bound of E'² within which it need not be rounded correctly, else nil. It
// also returns a bound of the norm of the resulting error: about 2^-places times the square of the
// bound of E'.
func (t *Iteration) squareBound(places int) (b *residue.Bound, lost *big.Float) {
	if t.S.Tally == nil || t.eRows == nil {
		return nil, bound.Upper()
	}
	n := t.n()
	top, sum := slices.Max(t.eRows.Top), slices.Max(t.eSums)
	cols := call.UniformVectors(n, n, top, top+int64(bits.Len(uint(n))))
	length := bits.Len(uint(n))
	b = &residue.Bound{Rows: t.eSums, Cols: cols.Top}
	b.Within = max(top+int64(length+places)-sum, 1)
	return t.S.Known(b, t.eRows, cols), bound.Exp2(int(sum+top-b.Within) + length)
}

// CoarseGain returns the gain that Newton's method reaches, from another gain, for k columns; the
// other bits come from residuals. With many columns one residual doubles the bits. At small orders
// a step takes as long as a product with few columns. Matrices on the host have faster methods for
// few columns, and come here with many columns.
func (t *Iteration) CoarseGain(gain, k, bits int) int {
	n := t.n()
	switch {
	case t.S.At.AtHand() || !call.Few(k, n):
		return (bits + 7) / 2
	case n >= 2048:
		return bits / 6
	case 4*gain >= bits:
		return gain
	}
	return (bits + 11) / 3
}

// Solve solves F Y = G, with an error of about 2^-bits of the largest entry of a column. It starts
// from x = X g, for the X of a gain that Refine reaches, and repeats x' = x + d, d = X r, r = g - F
// x, gaining as much each time. At the run's place it returns nil if X G has columns of zeros.
//
// Let |x* - x| ≤ 2^err for x* = F^-1 g, in the norm of the largest entry. Then |r_i| ≤ 2^(row_i +
// err). For the computed r' = r + δ and d = X r' + η
//
//	x* - x = (I - E)^-1 X r,    |X r| ≤ (1 + rho) 2^err,
//	x* - x - d = ((I - E)^-1 - I) d - (I - E)^-1 (η + X δ).
//
// Here r' has b = cond + more + 5 bits, 2^cond ≥ ‖X‖ 2^row_i. At the run's place, where products
// need not be rounded correctly, r' may also be in error by 2^(row_i + err - b). So
//
//	|δ_i| ≤ 2^(row_i + err + 2 - b),  |X δ| ≤ 2^(err - more - 3),  |r'_i| ≤ 2^(row_i + err + 1).
//
// d has c = more + 6 bits, and may also be in error by 2^(err + 1 - c). So
//
//	|X r'| ≤ 2^(err + 1),  |d| ≤ 2^(err + 2),  |η| ≤ 2^(err + 3 - c) = 2^(err - more - 3),
//
// and |d| ≤ 2^(err + 1) as well. For rho ≤ 1/4 the error of x + d is
//
//	4/3 (rho |d| + |η| + |X δ|) ≤ 2^err (3 rho + 2^(-more - 1)).
func (t *Iteration) Solve(g num.Mat, bits, gain int) (*bound.Nearly, error) {
	const none = math.MinInt32
	n, k := g.Dims()
	most := slices.Max(t.Row)
	cond := int(most) + t.Norm + 1
	// may fuse: an estimate
	t.plan(gain, float64(2*bits/gain)*call.ProductOf(n, n, k, min(2*gain, bits)+cond/2)+float64(n)*float64(k)*call.RoundCost)
	if err := t.Refine(gain); err != nil {
		return nil, err
	}
	x, size, off, cols, err := t.start(g, t.Gain()+2)
	if err != nil || t.S.At.UsesBounds() && slices.Contains(size, none) {
		return nil, err
	}
	// |x* - x| ≤ (rho/(1 - rho) (1 + 2^-b) + 2^-b) |x| for x of b bits, plus the further error of
	// x.
	small := bound.Upper().Add(bound.Upper().Mul(t.Rho, bound.Exp2(1)), bound.Exp2(-t.Gain()-2)).MantExp(nil)
	known, tops := make([]int64, k), make([]int64, k) // all later x are below 2^tops
	for j, e := range size {
		if known[j] = e + int64(small); off != nil {
			known[j] = max(known[j], off[j]) + 1
		}
		tops[j] = max(e, known[j]+1) + 1
	}
	for {
		more := 0 // how many bits are wanted
		for j, e := range known {
			more = max(more, int(e-size[j])+bits)
		}
		more = max(min(more, t.Gain()), 0)
		b := &residue.Bound{Rows: t.Row, Cols: known}
		wide := max(cond+more+5, 24)
		r, err := t.S.Room(num.Precision(uint(wide)), n, k)
		if err != nil {
			return nil, err
		}
		short := max(more+6, 24)
		d, err := t.S.Room(num.Precision(uint(short)), n, k)
		if err != nil {
			return nil, err
		}
		of := &residue.Bound{Rows: make([]int64, n)}
		sizes := &residue.Vectors{Norm: float64(n)} // of r'
		for _, e := range known {
			of.Cols, sizes.Top = append(of.Cols, e+1), append(sizes.Top, most+e+1)
		}
		if t.S.At.UsesBounds() {
			b.Within, of.Within = int64(wide), int64(short)
			t.S.Known(b, t.fRows, cols)
			t.S.Known(of, t.xRows, sizes)
		}
		if err := t.S.GemmWithin(-1, t.F, x, 1, g, r, b); err != nil {
			return nil, err
		}
		t.S.Stats.Steps++
		if err := t.S.GemmWithin(1, t.X, r, 0, num.Mat{}, d, of); err != nil {
			return nil, err
		}
		t.S.Drop(r)
		lost := int64(bound.Upper().Add(bound.Upper().Mul(t.Rho, big.NewFloat(3)), bound.Exp2(-more-1)).MantExp(nil))
		next, prec, done := make([]int64, k), 24, true
		for j, e := range known {
			next[j] = e + lost
			done = done && next[j] <= size[j]-int64(bits)
			prec = max(prec, int(size[j]-next[j])+LateBits)
		}
		if done {
			t.S.Stats.Precision = bits
			y := &bound.Nearly{X: x, D: d, Words: call.WordsFor(bits), Left: t.By.Cols, Right: make([]int64, k)}
			for j, e := range next {
				// Errors below the truncation need not be known.
				y.Err = append(y.Err, max(e, size[j]-int64(bits)-8))
			}
			return y, nil
		}
		// |x + d| < 2^(size + 1): its rounding and its truncation lose less than 2^next.
		z, err := t.S.Room(num.Precision(uint(prec)), n, k)
		if err != nil {
			return nil, err
		}
		unit := slices.Min(next) - LateBits
		if err := t.S.SumTo(x, d, z, &unit, 0); err != nil {
			return nil, err
		}
		if cols != nil {
			cols = &residue.Vectors{Top: tops, Norm: float64(n), Width: slices.Max(tops) - unit}
		}
		t.S.Drop(x, d)
		x = z
		for j := range next {
			known[j] = next[j] + 1
		}
	}
}

// start returns x0 = X g in numbers of first bits, the exponents of the largest numbers of its
// columns (none for zeros), and the bounds of x0 that products need, if any. If off is not nil, x0
// is in error by at most 2^(off[j]-1) in addition to its rounding.
func (t *Iteration) start(g num.Mat, first int) (x0 num.Mat, size, off []int64, cols *residue.Vectors, err error) {
	n, k := g.Dims()
	if x0, err = t.S.Room(num.Precision(uint(max(first, 24))), n, k); err != nil {
		return num.Mat{}, nil, nil, nil, err
	}
	var b *residue.Bound
	if cols := t.gCols; cols != nil && t.xRows != nil {
		// |x_ij| ≤ ‖X‖ 2^cols_j, which is some powers of two above typical entries.
		b = &residue.Bound{Rows: make([]int64, n), Cols: cols.Top, Within: int64(first + bits.Len(uint(n)) + t.Norm + 1)}
		for i := range b.Rows {
			b.Rows[i] = int64(t.Norm + 1)
		}
		for _, top := range cols.Top {
			off = append(off, top+int64(t.Norm+2)-b.Within)
		}
		t.S.Known(b, t.xRows, cols)
	}
	if err := t.S.GemmWithin(1, t.X, g, 0, num.Mat{}, x0, b); err != nil {
		return num.Mat{}, nil, nil, nil, err
	}
	size, cols, err = columns(t.S, x0)
	return x0, size, off, cols, err
}

// columns returns the exponents of the largest numbers of the columns of a matrix in MP (none for
// zeros), and the bounds that products at the run's place need, or nil.
func columns(s *call.Run, m num.Mat) (size []int64, cols *residue.Vectors, err error) {
	const none = math.MinInt32
	x, err := s.Measure(m.T())
	if err != nil {
		return nil, nil, err
	}
	return x[0].Tops(none), x[0].Vectors(), nil
}

// round stores the entries that the enclosures of y decide, and records the undecided ones.
func round(s *call.Run, y *bound.Nearly, z num.Mat, todo []*ziv.Entries) ([]bound.Rounded, error) {
	mx, md := y.X, y.D
	columns := make([]bound.Rounded, z.Cols)
	rounders := make([]*bound.Rounder, s.Threads)
	err := par.For(s.Ctx, s.Threads, z.Cols, func(w, j int) {
		if todo[j] == nil {
			return
		}
		if rounders[w] == nil {
			rounders[w] = &bound.Rounder{Adder: bound.NewAdder(y.Words), Ends: num.New(z.Arr.Format, 2), Tmp: nil}
		}
		c := &columns[j]
		c.Exactly = true
		for _, i := range todo[j].Open {
			v := rounders[w].Enclose(y, &mx, &md, i, j)
			if !v.RoundTo(rounders[w], z.Arr, z.At(i, j)) {
				c.Open = append(c.Open, i)
			}
			c.Exactly = c.Exactly && v.Special(z.Arr.Format)
		}
		// The other entries may have been decided before.
		for i := 0; c.Exactly && len(c.Open) > 0 && len(todo[j].Open) < z.Rows && i < z.Rows; i++ {
			v := rounders[w].Enclose(y, &mx, &md, i, j)
			c.Exactly = v.Special(z.Arr.Format)
		}
	})
	for j, c := range columns {
		if todo[j] == nil {
			continue
		}
		if todo[j].Open = c.Open; len(c.Open) == 0 {
			todo[j] = nil
		}
	}
	return columns, err
}

// checkNearly decides columns all of whose entries look like numbers of few bits: if these numbers
// solve the system exactly, they are the entries. The open entries of other columns stay open.
func checkNearly(s *call.Run, t *Iteration, y *bound.Nearly, g, z num.Mat, todo []*ziv.Entries, columns []bound.Rounded) error {
	var list []int
	for j, c := range columns {
		if todo[j] != nil && c.Exactly {
			list = append(list, j)
		}
	}
	if len(list) == 0 {
		return nil
	}
	n, format := t.n(), z.Format()
	mx, md, mz, mg := y.X, y.D, z, g
	x := num.NewMat(num.Precision(uint(format.Bits()+1)), n, len(list))
	right := num.NewMat(num.Precision(uint(max(g.Format().Bits(), num.MinPrec))), n, len(list))
	of, to := x, right
	adder := bound.NewAdder(y.Words)
	// Both the numbers and the solution lie in the enclosures.
	b := &residue.Bound{Rows: t.Row, Cols: make([]int64, len(list))}
	set := &bound.Rounder{Adder: adder}
	for c, j := range list {
		b.Cols[c] = y.Err[j] + 3
		for i := range n {
			to.Arr.Convert(to.At(i, c), mg.Arr, mg.At(i, j))
			v := set.Enclose(y, &mx, &md, i, j)
			if v.Zero {
				continue
			}
			of.Arr.Set(of.At(i, c), num.Real{Class: num.Finite, Neg: v.Neg, Mag: v.Mag, Exp: v.Exp - y.Left[i] - y.Right[j]})
		}
	}
	r := num.NewMat(num.Precision(24), n, len(list))
	if err := s.GemmWithin(-1, t.F, x, 1, right, r, b); err != nil {
		return err
	}
	zero := r
	var buf [num.MaxValueWords]uint64
	for c, j := range list {
		solved := true
		for i := range n {
			solved = solved && zero.Arr.Class(zero.At(i, c)) == num.Zero
		}
		if !solved {
			continue
		}
		for _, i := range todo[j].Open {
			v := of.Arr.Value(of.At(i, c), buf[:])
			v.Exp += y.Left[i] + y.Right[j]
			if mz.Arr.Set(mz.At(i, j), v)&num.Underflow != 0 {
				s.Lost.Note(call.Entry{Z: todo[j].Z, I: i, J: todo[j].J})
			}
		}
		s.Stats.Solved++
		s.Stats.Exact += int64(len(todo[j].Open))
		todo[j] = nil
	}
	return nil
}
