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
	"github.com/halfulp/halfulp/internal/raw"
	"github.com/halfulp/halfulp/internal/residue"
)

// Matrices of Newton's method live where their operands do: on the host, or at the solver's place.
// The functions here are what the method does with them beside products.

// matrix returns a rows x cols matrix of zeros.
func (s *solver) matrix(f halfulp.Format, rows, cols int) (*halfulp.Matrix, error) {
	return s.matrixOf(f, rows, cols, func(f num.Format, rows, cols int) (*num.Array, error) {
		return s.at.New(s.Ctx, f, rows, cols)
	})
}

// room returns a rows x cols matrix for numbers that are all stored before they are read: of zeros
// on the host, of anything elsewhere.
func (s *solver) room(f halfulp.Format, rows, cols int) (*halfulp.Matrix, error) {
	return s.matrixOf(f, rows, cols, func(f num.Format, rows, cols int) (*num.Array, error) {
		return s.at.Room(s.config(), f, rows, cols)
	})
}

// matrixOf returns a rows x cols matrix of zeros on the host, or of numbers that there returns
// elsewhere.
func (s *solver) matrixOf(f halfulp.Format, rows, cols int, there func(f num.Format, rows, cols int) (*num.Array, error)) (*halfulp.Matrix, error) {
	if s.at == nil {
		return s.matrixHere(f, rows, cols), nil
	}
	a, err := there(raw.Matrix(halfulp.NewMatrix(f, 0, 0)).Arr.Format, rows, cols)
	if err != nil {
		return nil, err
	}
	m := raw.NewMatrix(num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}).(*halfulp.Matrix)
	s.away = append(s.away, m)
	return m, nil
}

// upload returns a copy, at the solver's place, of a matrix of the host.
func (s *solver) upload(m *halfulp.Matrix) (*halfulp.Matrix, error) {
	z, err := s.room(m.Format(), m.Rows(), m.Cols())
	if err != nil {
		return nil, err
	}
	return z, z.CopyFrom(m)
}

// config is how the place computes.
func (s *solver) config() place.Config { return place.Config{Ctx: s.Ctx, Threads: s.Threads} }

// scaled returns diag(2^rows) A diag(2^cols) exactly, of MP; nil where function scaled does. At a
// place no exponents stand for zeros, of Float64.
func (s *solver) scaled(a *halfulp.Matrix, by scale.Scaling, most int) (*halfulp.Matrix, error) {
	if s.at == nil {
		return scaled(a, by, most), nil
	}
	if raw.Matrix(a).Arr.Terms() > 1 { // whose bits are not those of the format
		h, err := a.Host()
		if err != nil {
			return nil, err
		}
		if errors.Is(finite("", h), ErrNotFinite) { // scaled takes them for zeros
			return nil, nil
		}
		if h = scaled(h, by, most); h == nil {
			return nil, nil
		}
		return s.upload(h)
	}
	bits := a.Format().Bits()
	if bits > most {
		return nil, nil
	}
	z, err := s.room(halfulp.MP(uint(max(bits, halfulp.MinPrec))), a.Rows(), a.Cols())
	if err != nil {
		return nil, err
	}
	odd, err := s.at.Shift(s.config(), raw.Matrix(a), by.Rows, by.Cols, raw.Matrix(z), s.tally)
	if err != nil || odd > 0 {
		return nil, err
	}
	return z, nil
}

// identity returns the n x n unit matrix. Elsewhere its entries share storage: entry (i, j) is
// number n - 1 + i - j of 2 n - 1 numbers, all but one of them zeros.
func (s *solver) identity(n int) (*halfulp.Matrix, error) {
	if s.at == nil {
		return s.identityHere(n), nil
	}
	if !s.at.Oblique() {
		return s.upload(halfulp.Identity(halfulp.Float64, n))
	}
	x := make([]float64, 2*n-1)
	x[n-1] = 1
	z, err := s.upload(halfulp.NewMatrixFloat64(len(x), 1, len(x), x))
	if err != nil {
		return nil, err
	}
	m := num.Mat{Arr: raw.Matrix(z).Arr, Off: n - 1, RS: 1, CS: -1, Rows: n, Cols: n}
	return raw.NewMatrix(m).(*halfulp.Matrix), nil
}

// identityHere is identity on the host.
func (s *solver) identityHere(n int) *halfulp.Matrix {
	if s.one == nil || s.one.Rows() != n {
		x := s.Floats(n * n)
		clear(x)
		for i := range n {
			x[i+i*n] = 1
		}
		s.one = halfulp.NewMatrixFloat64(n, n, max(n, 1), x)
	}
	return s.one
}

// extents returns what bounds the rows of matrices in MP at the solver's place, when all that was
// to be done there is done.
func (s *solver) extents(list ...*halfulp.Matrix) ([]place.Extents, error) {
	var of []num.Mat
	for _, m := range list {
		of = append(of, raw.Matrix(m))
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
func (s *solver) rowSums(m *halfulp.Matrix) (exps []int64, most *big.Float, err error) {
	list, err := s.extents(m)
	if err != nil {
		return nil, nil, err
	}
	exps, most = sums(list[0])
	return exps, most, nil
}

// rowNorm returns an upper bound of the largest sum of magnitudes of a row of a matrix in MP.
func (s *solver) rowNorm(m *halfulp.Matrix) (*big.Float, error) {
	if s.at == nil {
		return rowNorm64(raw.Matrix(m)), nil
	}
	_, most, err := s.rowSums(m)
	return most, err
}

// columnTops is function columnTops.
func (s *solver) columnTops(m *halfulp.Matrix, low int64) ([]int64, error) {
	if s.at == nil {
		return columnTops(raw.Matrix(m), low), nil
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
func (s *solver) sum(x, y, z *halfulp.Matrix) error { return s.sumTo(x, y, z, nil, 0) }

// sumOfTriangles is sum for lower triangles above zeros.
func (s *solver) sumOfTriangles(x, y, z *halfulp.Matrix) error { return s.sumTo(x, y, z, nil, 'L') }

// sumTo is sum, but that sums are cut off to multiples of 2^unit before they are rounded, if there
// is a unit. Beyond a triangle, if there is one, both are zeros, and so is Z already.
func (s *solver) sumTo(x, y, z *halfulp.Matrix, unit *int64, triangle byte) error {
	defer s.Did(float64(z.Rows()) * float64(z.Cols()) * sumCost)
	if s.at == nil {
		return s.sumHere(x, y, z, unit)
	}
	left, err := s.at.Sum(s.config(), place.Sum{X: raw.Matrix(x), D: raw.Matrix(y), Bits: z.Format().Bits(), Triangle: triangle, Tally: s.tally, Unit: unit}, raw.Matrix(z))
	if err == nil && left > 0 {
		err = fmt.Errorf("sums beyond the exponents of formats: %w", ErrRange)
	}
	return err
}

// drop gives back matrices that are no longer needed.
func (s *solver) drop(list ...*halfulp.Matrix) {
	for _, m := range list {
		if m == nil {
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
func (s *solver) there(a *halfulp.Matrix, least int, run func(a *halfulp.Matrix) (done bool, err error)) error {
	if a.Place() != place.Host && a.Rows() >= least {
		s.at = place.Of(raw.Matrix(a).Arr)
		done, err := run(a)
		if err = resignable(err); done || err != nil {
			return err
		}
		s.resign()
	}
	if a.Place() != place.Host {
		var err error
		if a, err = a.Host(); err != nil {
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
	attempt := halfulp.Stage{Name: "attempt on " + s.at.String(), Time: time.Since(s.since)}
	for _, g := range s.stats.Stages {
		attempt.Time += g.Time
	}
	s.release()
	s.at, s.tally, s.since = nil, nil, time.Now()
	s.begin()
	s.stats.Stages = []halfulp.Stage{attempt}
}

// factored returns factors that run computes where A lives; nil where the place does not decide
// them.
func factored[T any](s *solver, a *halfulp.Matrix, run func() (*T, error)) (*T, error) {
	s.at = place.Of(raw.Matrix(a).Arr)
	z, err := run()
	if err = resignable(err); z == nil && err == nil {
		s.resign()
		return nil, nil
	}
	s.release()
	s.at = nil
	return z, err
}

// solveThere solves A X = B, for the unit matrix if b is nil, with matrices that stay where A and B
// live. It returns nil where only the host can decide: where A is singular or nearly so, where
// entries are or may be ties or zeros, and for numbers that products of some bits do not reach.
func (s *solver) solveThere(a, b *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	z, err := s.solveResident(a, b, f)
	return z, resignable(err)
}

// residentGuard takes the place of guard: what is not decided costs all of the host's way.
const residentGuard = 48

func (s *solver) solveResident(a, b *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	n := a.Rows()
	k := n
	if b != nil {
		k = b.Cols()
	}
	z, err := s.room(f, n, k)
	if err != nil {
		return nil, err
	}
	bits := f.Bits() + 4*(max(raw.Matrix(z).Arr.Terms(), 1)-1) + residentGuard
	t, x, g, err := s.seedThere(a, b, 4*bits+2048)
	s.stage("approximate inverse")
	if err != nil || t == nil {
		return nil, err
	}
	_, _, fixed := t.fixes(k, bits)
	width := t.likelyGain() + 2*lateBits // which the first step takes
	switch {
	case b == nil && 3*width >= bits: // the last one, perhaps
		width = max(width, bits-t.likelyGain()+2+lateBits)
	case b != nil && (fixed || t.coarseGain(t.likelyGain(), k, bits) <= t.likelyGain()): // none
		width = lateBits
	}
	t, err = t.prove(width)
	s.stage("proof")
	if err != nil || t == nil {
		return nil, err
	}
	var y *bound.Nearly
	if fixed {
		if y, err = t.solveFixed(x, g, bits); err != nil {
			return nil, err
		}
	}
	s.drop(x)
	switch {
	case y != nil:
	case b == nil:
		y, err = t.inverse(bits)
	default:
		y, err = t.solve(g, bits, t.coarseGain(t.gain(), k, bits))
	}
	s.stage("products")
	if err != nil || y == nil {
		return nil, err
	}
	_, err = s.at.Sum(s.config(), place.Sum{X: raw.Matrix(y.X), D: raw.Matrix(y.D), Bits: bits, Errors: y.Err, Rows: y.Left, Cols: y.Right, Tally: s.tally}, raw.Matrix(z))
	if err != nil {
		return nil, err
	}
	_, left, err := s.at.Extents(s.config(), s.tally)
	s.stage("rounding")
	if err != nil || left > 0 {
		return nil, err
	}
	return z, nil
}

// seedThere returns X for a float64 matrix R that may approximate the inverse of F, A scaled, about
// which nothing is proved, and G, B scaled, nil for nil; no X if there is none in float64
// arithmetic, or if A or B have numbers of more than most bits.
func (s *solver) seedThere(a, b *halfulp.Matrix, most int) (t *newton, r, g *halfulp.Matrix, err error) {
	if r, err = s.room(halfulp.Float64, a.Rows(), a.Rows()); err != nil {
		return nil, nil, nil, err
	}
	for attempt := 0; ; attempt++ {
		before := len(s.away)
		t, g, again, err := s.attempt(a, b, r, most, attempt)
		if !again || err != nil {
			return t, r, g, err
		}
		s.drop(s.away[before:]...)
	}
}

// attempt makes a seed R, and X and G by it, which the place is asked for before R is known to be
// ok; and again, if it is not, there may be one.
func (s *solver) attempt(a, b, r *halfulp.Matrix, most, attempt int) (t *newton, g *halfulp.Matrix, again bool, err error) {
	rows, cols, begun, err := s.at.Inverse(s.config(), raw.Matrix(a), raw.Matrix(r), attempt)
	if err != nil || begun == nil {
		return nil, nil, false, err
	}
	defer begun.Drop()
	t, g, err = s.scaledBy(scale.Scaling{Rows: rows, Cols: cols}, a, b, r, most)
	if err != nil && !errors.Is(err, ErrRange) { // which numbers of no seed may be out of
		return nil, nil, false, err
	}
	switch ok, failed := begun.Settle(s.config()); {
	case failed != nil:
		return nil, nil, false, failed
	case !ok:
		return nil, nil, true, nil
	}
	return t, g, false, err
}

// scaledBy returns X of newResident, and G.
func (s *solver) scaledBy(by scale.Scaling, a, b, r *halfulp.Matrix, most int) (t *newton, g *halfulp.Matrix, err error) {
	if err := s.newTally(); err != nil {
		return nil, nil, err
	}
	if b != nil {
		if g, err = s.scaled(b, scale.Scaling{Rows: by.Rows, Cols: make([]int64, b.Cols())}, most); err != nil || g == nil {
			return nil, nil, err
		}
	}
	t, err = s.newResident(a, r, g, by, most)
	return t, g, err
}

// newResident returns X for a float64 matrix R that may approximate the inverse of A scaled; nil if
// A has numbers of more than most bits, or if a row of R or a column of A has none but zeros. The
// right-hand sides may be nil.
func (s *solver) newResident(a, r, right *halfulp.Matrix, by scale.Scaling, most int) (*newton, error) {
	t := &newton{s: s, by: by}
	var err error
	if t.f, err = s.scaled(a, by, most); err != nil || t.f == nil {
		return nil, err
	}
	if t.x, err = s.scaled(r, scale.Scaling{}, most); err != nil || t.x == nil {
		return nil, err
	}
	if t.one, err = s.identity(t.n()); err != nil { // which goes there while extents are to come
		return nil, err
	}
	list := []*halfulp.Matrix{t.f, t.f.T(), t.x, t.x.T()}
	if right != nil {
		list = append(list, right.T())
	}
	found, err := s.extents(list...)
	if err != nil {
		return nil, err
	}
	if right != nil {
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
	t.s.note(1, v, t.amp, big.NewFloat(1))
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
