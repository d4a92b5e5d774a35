package linsolve

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// Matrices of Newton's method live where their operands do: on the host, or at the solver's place.
// The functions here are what the method does with them beside products.

// matrix returns a rows x cols matrix of zeros.
func (s *solver) matrix(f num.Format, rows, cols int) (num.Mat, error) {
	return s.matrixOf(f, rows, cols, func(f num.Format, rows, cols int) (*num.Array, error) {
		return s.at.New(s.Ctx, f, rows, cols)
	})
}

// room returns a rows x cols matrix for numbers that are all stored before they are read: of zeros
// on the host, of anything elsewhere.
func (s *solver) room(f num.Format, rows, cols int) (num.Mat, error) {
	return s.matrixOf(f, rows, cols, func(f num.Format, rows, cols int) (*num.Array, error) {
		return s.at.Room(s.config(), f, rows, cols)
	})
}

// matrixOf returns a rows x cols matrix of zeros on the host, or of numbers that there returns
// elsewhere.
func (s *solver) matrixOf(f num.Format, rows, cols int, there func(f num.Format, rows, cols int) (*num.Array, error)) (num.Mat, error) {
	if s.at == nil {
		return s.matrixHere(f, rows, cols), nil
	}
	a, err := there(num.NewMat(f, 0, 0).Arr.Format, rows, cols)
	if err != nil {
		return num.Mat{}, err
	}
	m := halfulp.MatrixOf(num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols})
	s.away = append(s.away, m.View())
	return m.View(), nil
}

// upload returns a copy, at the solver's place, of a matrix of the host.
func (s *solver) upload(m num.Mat) (num.Mat, error) {
	z, err := s.room(m.Format(), m.Rows, m.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	return z, place.Copy(z, m)
}

// config is how the place computes.
func (s *solver) config() place.Config { return place.Config{Ctx: s.Ctx, Threads: s.Threads} }

// scaled returns diag(2^rows) A diag(2^cols) exactly, of MP; nil where function scaled does. At a
// place no exponents stand for zeros, of Float64.
func (s *solver) scaled(a num.Mat, by scale.Scaling, most int) (num.Mat, error) {
	if s.at == nil {
		return scaled(a, by, most), nil
	}
	if a.Arr.Terms() > 1 { // whose bits are not those of the format
		h, err := place.On(nil, a)
		if err != nil {
			return num.Mat{}, err
		}
		if errors.Is(finite("", h), ErrNotFinite) { // scaled takes them for zeros
			return num.Mat{}, nil
		}
		if h = scaled(h, by, most); h.Arr == nil {
			return num.Mat{}, nil
		}
		return s.upload(h)
	}
	bits := a.Format().Bits()
	if bits > most {
		return num.Mat{}, nil
	}
	z, err := s.room(num.Precision(uint(max(bits, num.MinPrec))), a.Rows, a.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	odd, err := s.at.Shift(s.config(), a, by.Rows, by.Cols, z, s.tally)
	if err != nil || odd > 0 {
		return num.Mat{}, err
	}
	return z, nil
}

// identity returns the n x n unit matrix. Elsewhere its entries share storage: entry (i, j) is
// number n - 1 + i - j of 2 n - 1 numbers, all but one of them zeros.
func (s *solver) identity(n int) (num.Mat, error) {
	if s.at == nil {
		return s.identityHere(n), nil
	}
	if !s.at.Oblique() {
		return s.upload(num.Identity(num.Float64, n))
	}
	x := make([]float64, 2*n-1)
	x[n-1] = 1
	z, err := s.upload(num.Float64s(len(x), 1, x))
	if err != nil {
		return num.Mat{}, err
	}
	m := num.Mat{Arr: z.Arr, Off: n - 1, RS: 1, CS: -1, Rows: n, Cols: n}
	return m, nil
}

// identityHere is identity on the host.
func (s *solver) identityHere(n int) num.Mat {
	if s.one.Arr == nil || s.one.Rows != n {
		x := s.Floats(n * n)
		clear(x)
		for i := range n {
			x[i+i*n] = 1
		}
		s.one = num.Float64s(n, n, x)
	}
	return s.one
}

// extents returns what bounds the rows of matrices in MP at the solver's place, when all that was
// to be done there is done.
func (s *solver) extents(list ...num.Mat) ([]place.Extents, error) {
	var of []num.Mat
	for _, m := range list {
		of = append(of, m)
	}
	x, left, err := s.at.Extents(s.config(), s.tally, of...)
	if err != nil {
		return nil, err
	}
	for _, y := range x {
		if y.Special || left > 0 {
			return nil, fmt.Errorf("results that are no numbers, or beyond the exponents of formats: %w", ErrRange)
		}
	}
	return x, nil
}

// rowSums returns exponents of bounds of the sums of magnitudes of the rows of a matrix in MP, at
// the solver's place, and a bound of the largest.
func (s *solver) rowSums(m num.Mat) (exps []int64, most *big.Float, err error) {
	list, err := s.extents(m)
	if err != nil {
		return nil, nil, err
	}
	exps, most = sums(list[0])
	return exps, most, nil
}

// rowNorm returns an upper bound of the largest sum of magnitudes of a row of a matrix in MP.
func (s *solver) rowNorm(m num.Mat) (*big.Float, error) {
	if s.at == nil {
		return rowNorm64(m), nil
	}
	_, most, err := s.rowSums(m)
	return most, err
}

// columnTops is function columnTops.
func (s *solver) columnTops(m num.Mat, low int64) ([]int64, error) {
	if s.at == nil {
		return columnTops(m, low), nil
	}
	list, err := s.extents(m.T())
	if err != nil {
		return nil, err
	}
	return extentTops(list[0], low), nil
}

// extentTops returns exponents of the largest numbers of rows, low for zeros.
func extentTops(x place.Extents, low int64) []int64 {
	z := slices.Clone(x.Top)
	for i, top := range z {
		if top <= noNumber {
			z[i] = low
		}
	}
	return z
}

// sum stores X + Y, of one shape, rounded in Z; all are in MP and share nothing. What is cut off
// first is below 2^-(prec+30) (|x| + |y|).
func (s *solver) sum(x, y, z num.Mat) error { return s.sumTo(x, y, z, nil, 0) }

// sumOfTriangles is sum for lower triangles above zeros.
func (s *solver) sumOfTriangles(x, y, z num.Mat) error { return s.sumTo(x, y, z, nil, 'L') }

// sumTo is sum, but that sums are cut off to multiples of 2^unit before they are rounded, if there
// is a unit. Beyond a triangle, if there is one, both are zeros, and so is Z already.
func (s *solver) sumTo(x, y, z num.Mat, unit *int64, triangle byte) error {
	defer s.Did(float64(z.Rows) * float64(z.Cols) * sumCost)
	if s.at == nil {
		return s.sumHere(x, y, z, unit)
	}
	left, err := s.at.Sum(s.config(), place.Sum{X: x, D: y, Bits: z.Format().Bits(), Triangle: triangle, Tally: s.tally, Unit: unit}, z)
	if err == nil && left > 0 {
		err = fmt.Errorf("sums beyond the exponents of formats: %w", ErrRange)
	}
	return err
}

// drop gives back matrices that are no longer needed.
func (s *solver) drop(list ...num.Mat) {
	for _, m := range list {
		if m.Arr == nil {
			continue
		}
		if s.at != nil {
			m.Free()
		} else if i := slices.Index(s.here, m); i >= 0 {
			s.here = slices.Delete(s.here, i, i+1)
			putMatrix(m)
		}
	}
}

// there runs a routine with A where that lives, if it is of the least order for it, and with a copy
// on the host where the place does not decide the result.
func (s *solver) there(a num.Mat, least int, run func(a num.Mat) (done bool, err error)) error {
	if !a.OnHost() && a.Rows >= least {
		s.at = place.Of(a.Arr)
		done, err := run(a)
		if err = resignable(err); done || err != nil {
			return err
		}
		s.resign()
	}
	if !a.OnHost() {
		var err error
		if a, err = place.On(nil, a); err != nil {
			return err
		}
	}
	_, err := run(a)
	return err
}

// resignable returns an error, but none for those that the host has other means against.
func resignable(err error) error {
	if errors.Is(err, ErrRange) || errors.Is(err, halfulp.ErrMemory) || errors.Is(err, place.ErrUnsupported) {
		return nil
	}
	return err
}

// resign leaves the solver's place for the host. All that Stats keep of the attempt is its time.
func (s *solver) resign() {
	attempt := residue.Stage{Name: "attempt on " + s.at.String(), Time: time.Since(s.since)}
	for _, g := range s.stats.Stages {
		attempt.Time += g.Time
	}
	s.release()
	s.at, s.tally, s.since = nil, nil, time.Now()
	s.begin()
	s.stats.Stages = []residue.Stage{attempt}
}

// factored returns factors that run computes where A lives; nil where the place does not decide
// them.
func factored[T comparable](s *solver, a num.Mat, run func() (T, error)) (T, error) {
	var none T
	s.at = place.Of(a.Arr)
	z, err := run()
	if err = resignable(err); z == none && err == nil {
		s.resign()
		return none, nil
	}
	s.release()
	s.at = nil
	return z, err
}

// solveThere solves A X = B, for the unit matrix if b is nil, with matrices that stay where A and B
// live. It returns nil where only the host can decide: where A is singular or nearly so, where
// entries are or may be ties or zeros, and for numbers that products of some bits do not reach.
func solveThere(s *solver, a, b num.Mat, f num.Format) (num.Mat, error) {
	z, err := solveResident(s, a, b, f)
	return z, resignable(err)
}

// residentGuard takes the place of guard: what is not decided costs all of the host's way.
const residentGuard = 48

func solveResident(s *solver, a, b num.Mat, f num.Format) (num.Mat, error) {
	n := a.Rows
	k := n
	if b.Arr != nil {
		k = b.Cols
	}
	z, err := s.room(f, n, k)
	if err != nil {
		return num.Mat{}, err
	}
	bits := f.Bits() + 4*(max(z.Arr.Terms(), 1)-1) + residentGuard
	t, x, g, err := seedThere(s, a, b, 4*bits+2048)
	s.stage("approximate inverse")
	if err != nil || t == nil {
		return num.Mat{}, err
	}
	_, _, fixed := t.fixes(k, bits)
	width := t.likelyGain() + 2*lateBits // which the first step takes
	switch {
	case b.Arr == nil && 3*width >= bits: // the last one, perhaps
		width = max(width, bits-t.likelyGain()+2+lateBits)
	case b.Arr != nil && (fixed || t.coarseGain(t.likelyGain(), k, bits) <= t.likelyGain()): // none
		width = lateBits
	}
	t, err = t.prove(width)
	s.stage("proof")
	if err != nil || t == nil {
		return num.Mat{}, err
	}
	var y *bound.Nearly
	if fixed {
		if y, err = t.solveFixed(x, g, bits); err != nil {
			return num.Mat{}, err
		}
	}
	s.drop(x)
	switch {
	case y != nil:
	case b.Arr == nil:
		y, err = t.inverse(bits)
	default:
		y, err = t.solve(g, bits, t.coarseGain(t.gain(), k, bits))
	}
	s.stage("products")
	if err != nil || y == nil {
		return num.Mat{}, err
	}
	_, err = s.at.Sum(s.config(), place.Sum{X: y.X, D: y.D, Bits: bits, Errors: y.Err, Rows: y.Left, Cols: y.Right, Tally: s.tally}, z)
	if err != nil {
		return num.Mat{}, err
	}
	_, left, err := s.at.Extents(s.config(), s.tally)
	s.stage("rounding")
	if err != nil || left > 0 {
		return num.Mat{}, err
	}
	return z, nil
}

// seedThere returns X for a float64 matrix R that may approximate the inverse of F, A scaled, about
// which nothing is proved, and G, B scaled, nil for nil; no X if there is none in float64
// arithmetic, or if A or B have numbers of more than most bits.
func seedThere(s *solver, a, b num.Mat, most int) (t *newton, r, g num.Mat, err error) {
	if r, err = s.room(num.Float64, a.Rows, a.Rows); err != nil {
		return nil, num.Mat{}, num.Mat{}, err
	}
	for attempt := 0; ; attempt++ {
		before := len(s.away)
		t, g, again, err := seedAttempt(s, a, b, r, most, attempt)
		if !again || err != nil {
			return t, r, g, err
		}
		s.drop(s.away[before:]...)
	}
}

// attempt makes a seed R, and X and G by it, which the place is asked for before R is known to be
// ok; and again, if it is not, there may be one.
func seedAttempt(s *solver, a, b, r num.Mat, most, attempt int) (t *newton, g num.Mat, again bool, err error) {
	rows, cols, begun, err := s.at.Inverse(s.config(), a, r, attempt)
	if err != nil || begun == nil {
		return nil, num.Mat{}, false, err
	}
	defer begun.Drop()
	t, g, err = scaledSystem(s, scale.Scaling{Rows: rows, Cols: cols}, a, b, r, most)
	if err != nil && !errors.Is(err, ErrRange) { // which numbers of no seed may be out of
		return nil, num.Mat{}, false, err
	}
	switch ok, failed := begun.Settle(s.config()); {
	case failed != nil:
		return nil, num.Mat{}, false, failed
	case !ok:
		return nil, num.Mat{}, true, nil
	}
	return t, g, false, err
}

// scaledBy returns X of newResident, and G.
func scaledSystem(s *solver, by scale.Scaling, a, b, r num.Mat, most int) (t *newton, g num.Mat, err error) {
	if err := s.newTally(); err != nil {
		return nil, num.Mat{}, err
	}
	if b.Arr != nil {
		if g, err = s.scaled(b, scale.Scaling{Rows: by.Rows, Cols: make([]int64, b.Cols)}, most); err != nil || g.Arr == nil {
			return nil, num.Mat{}, err
		}
	}
	t, err = newResident(s, a, r, g, by, most)
	return t, g, err
}

// newResident returns X for a float64 matrix R that may approximate the inverse of A scaled; nil if
// A has numbers of more than most bits, or if a row of R or a column of A has none but zeros. The
// right-hand sides may be nil.
func newResident(s *solver, a, r, right num.Mat, by scale.Scaling, most int) (*newton, error) {
	t := &newton{s: s, by: by}
	var err error
	if t.f, err = s.scaled(a, by, most); err != nil || t.f.Arr == nil {
		return nil, err
	}
	if t.x, err = s.scaled(r, scale.Scaling{}, most); err != nil || t.x.Arr == nil {
		return nil, err
	}
	if t.one, err = s.identity(t.n()); err != nil { // which goes there while extents are to come
		return nil, err
	}
	list := []num.Mat{t.f, t.f.T(), t.x, t.x.T()}
	if right.Arr != nil {
		list = append(list, right.T())
	}
	found, err := s.extents(list...)
	if err != nil {
		return nil, err
	}
	if right.Arr != nil {
		t.gCols = vectorsOf(found[4])
	}
	row, of := sums(found[0])
	sumsX, norm := sums(found[2])
	t.row, t.norm, t.col, t.sums = row, norm.MantExp(nil), extentTops(found[3], -1<<31), sumsX
	t.amp = bound.Upper().Mul(norm, of)
	t.fRows, t.fCols, t.xRows, t.xCols = vectorsOf(found[0]), vectorsOf(found[1]), vectorsOf(found[2]), vectorsOf(found[3])
	if t.fCols == nil || t.xRows == nil {
		return nil, nil
	}
	return t, nil
}

// likelyGain is about the gain of a seed.
func (t *newton) likelyGain() int { return max(scale.SeedBits-t.amp.MantExp(nil), lateBits) }

// prove finds rho by E = I - X F, for the X of newResident, and returns nil if X is no good
// inverse. E' has about width bits.
func (t *newton) prove(width int) (*newton, error) {
	b, lost := t.proofBound(t.likelyGain() + width)
	var err error
	if t.early, err = t.difference(width, b); err != nil {
		return nil, err
	}
	if t.earlyNorm, err = t.look(t.early); err != nil {
		return nil, err
	}
	t.earlyError = lost
	rho := bound.Upper().Add(t.earlyNorm, bound.Upper().SetMantExp(t.earlyNorm, -t.early.Format().Bits()))
	rho = rho.Add(rho, t.earlyError)
	if v, _ := rho.Float64(); v >= goodRho {
		return nil, nil
	}
	t.rho = bound.Largest([]*big.Float{rho, bound.Exp2(-2 * scale.SeedBits)})
	t.xRows, t.xCols = steady(t.xRows, t.xCols)
	v, _ := t.rho.Float64()
	note(t.s, 1, v, t.amp, big.NewFloat(1))
	return t, nil
}

// proofBound returns what is known of E = I - X F before anything is known of X and F but their
// sizes: with rows of |X| that sum up to 2^s_i and columns of F below 2^c_j,
//
//	|e_ij| ≤ 1 + 2^(s_i + c_j) ≤ 2^(max(s_i, -min c) + 1 + c_j).
//
// E' may be in error by 2^-places in the norm, the bound returned, beside its rounding.
func (t *newton) proofBound(places int) (b *residue.Bound, lost *big.Float) {
	b = &residue.Bound{Rows: make([]int64, t.n()), Cols: t.fCols.Top}
	least := -slices.Min(t.fCols.Top)
	for i, sum := range t.sums {
		b.Rows[i] = max(sum, least) + 1
	}
	size := int(slices.Max(b.Rows)) + sumUp(nil, b.Cols).MantExp(nil)
	b.Within = int64(max(size+places, 1))
	return t.s.known(b, t.xRows, t.fCols), bound.Exp2(size - int(b.Within))
}

// newFactor returns a matrix that lives at p.
func newFactor(p place.Place, f num.Format, rows, cols int) (*halfulp.Matrix, error) {
	m, err := place.NewMat(p, f, rows, cols)
	if err != nil {
		return nil, err
	}
	return halfulp.MatrixOf(m), nil
}
