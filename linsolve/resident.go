package linsolve

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/raw"
)

// Matrices of Newton's method live where their operands do: on the host, or at the solver's place.
// The functions here are what the method does with them beside products.

// matrix returns a rows x cols matrix of zeros.
func (s *solver) matrix(f halfulp.Format, rows, cols int) (*halfulp.Matrix, error) {
	if s.at == nil {
		return halfulp.NewMatrix(f, rows, cols), nil
	}
	m, err := halfulp.NewMatrixOn(halfulp.Device(s.at.String()), f, rows, cols)
	if err == nil {
		s.away = append(s.away, m)
	}
	return m, err
}

// upload returns a copy, at the solver's place, of a matrix of the host.
func (s *solver) upload(m *halfulp.Matrix) (*halfulp.Matrix, error) {
	z, err := s.matrix(m.Format(), m.Rows(), m.Cols())
	if err != nil {
		return nil, err
	}
	return z, z.CopyFrom(m)
}

// config is how the place computes.
func (s *solver) config() place.Config { return place.Config{Ctx: s.ctx, Threads: s.threads} }

// scaled returns diag(2^rows) A diag(2^cols) exactly, of MP; nil where function scaled does.
func (s *solver) scaled(a *halfulp.Matrix, by scaling, most int) (*halfulp.Matrix, error) {
	if s.at == nil {
		return scaled(a, by, most), nil
	}
	if raw.Matrix(a).Arr.Terms() > 1 { // whose bits are not those of the format
		h, err := a.Host()
		if err != nil {
			return nil, err
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
	z, err := s.matrix(halfulp.MP(uint(max(bits, halfulp.MinPrec))), a.Rows(), a.Cols())
	if err != nil {
		return nil, err
	}
	odd, err := s.at.Shift(s.config(), raw.Matrix(a), by.rows, by.cols, raw.Matrix(z))
	if err != nil || odd > 0 {
		return nil, err
	}
	return z, nil
}

// identity returns the n x n unit matrix.
func (s *solver) identity(n int) (*halfulp.Matrix, error) {
	if s.at == nil {
		return halfulp.Identity(halfulp.Float64, n), nil
	}
	z, err := s.matrix(halfulp.Float64, n, n)
	if err != nil {
		return nil, err
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	x, err := s.upload(halfulp.NewMatrixFloat64(n, 1, n, ones))
	if err != nil {
		return nil, err
	}
	defer x.Free()
	m := raw.Matrix(z)
	diagonal := num.Mat{Arr: m.Arr, RS: n + 1, CS: 1, Rows: n, Cols: 1}
	_, err = halfulp.Axpy(halfulp.Float(1), x.Col(0), raw.NewMatrix(diagonal).(*halfulp.Matrix).Col(0), &s.opt)
	return z, err
}

// rowBounds returns upper bounds of the sums of magnitudes of the rows of a matrix in MP.
func (s *solver) rowBounds(m *halfulp.Matrix) ([]*big.Float, error) {
	if s.at == nil {
		n, k := m.Dims()
		return boundsOf(raw.Matrix(m), make([]int64, n), make([]int64, k)).sums(), nil
	}
	x, err := s.at.Extents(s.config(), raw.Matrix(m))
	if err != nil {
		return nil, err
	}
	sums := make([]*big.Float, len(x.Top))
	for i, top := range x.Top {
		if sums[i] = upper(); top > noNumber {
			sums[i] = scaledUp(upper().SetFloat64(x.Norm[i]), top)
		}
	}
	return sums, nil
}

// noNumber is above the exponents of rows of zeros.
const noNumber = -1 << 60

// rowNorm returns an upper bound of the largest sum of magnitudes of a row of a matrix in MP.
func (s *solver) rowNorm(m *halfulp.Matrix) (*big.Float, error) {
	if s.at == nil {
		return rowNorm64(raw.Matrix(m)), nil
	}
	sums, err := s.rowBounds(m)
	if err != nil {
		return nil, err
	}
	return largest(sums), nil
}

// columnTops is function columnTops.
func (s *solver) columnTops(m *halfulp.Matrix, low int64) ([]int64, error) {
	if s.at == nil {
		return columnTops(raw.Matrix(m), low), nil
	}
	x, err := s.at.Extents(s.config(), raw.Matrix(m).T())
	for j, top := range x.Top {
		if top <= noNumber {
			x.Top[j] = low
		}
	}
	return x.Top, err
}

// sum stores X + Y, of one shape, rounded in Z; all are in MP and share nothing. What is cut off
// first is below 2^-(prec+30) (|x| + |y|).
func (s *solver) sum(x, y, z *halfulp.Matrix) error {
	if s.at == nil {
		return s.sumHere(x, y, z)
	}
	left, err := s.at.Sum(s.config(), place.Sum{X: raw.Matrix(x), D: raw.Matrix(y), Bits: z.Format().Bits()}, raw.Matrix(z))
	if err == nil && left > 0 {
		err = fmt.Errorf("sums beyond the exponents of formats: %w", ErrRange)
	}
	return err
}

// drop gives back matrices that are no longer needed.
func (s *solver) drop(list ...*halfulp.Matrix) {
	if s.at == nil {
		return
	}
	for _, m := range list {
		if m != nil {
			m.Free()
		}
	}
}

// solveThere solves A X = B, for the unit matrix if b is nil, with matrices that stay where A and B
// live. It returns nil where only the host can decide: where A is singular or nearly so, where
// entries are or may be ties or zeros, and for numbers that products of some bits do not reach.
func (s *solver) solveThere(a, b *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	z, err := s.solveResident(a, b, f)
	if errors.Is(err, ErrRange) || errors.Is(err, halfulp.ErrMemory) {
		return nil, nil // which the host has other means against
	}
	return z, err
}

// residentGuard takes the place of guard: what is not decided costs all of the host's way.
const residentGuard = 48

func (s *solver) solveResident(a, b *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	n := a.Rows()
	k := n
	if b != nil {
		k = b.Cols()
	}
	z, err := s.matrix(f, n, k)
	if err != nil {
		return nil, err
	}
	bits := f.Bits() + 4*(max(raw.Matrix(z).Arr.Terms(), 1)-1) + residentGuard
	most := 4*bits + 2048 // of numbers of A and B
	x, by, err := s.seedThere(a)
	s.stage("approximate inverse")
	if err != nil || x == nil {
		return nil, err
	}
	t, err := s.newResident(a, x, by, most, bits)
	s.stage("proof")
	if err != nil || t == nil {
		return nil, err
	}
	var y *nearly
	if b == nil {
		y, err = t.inverse(bits)
	} else {
		var g *halfulp.Matrix
		if g, err = s.scaled(b, scaling{by.rows, make([]int64, b.Cols())}, most); err != nil || g == nil {
			return nil, err
		}
		y, err = t.solve(g, bits)
	}
	s.stage("products")
	if err != nil {
		return nil, err
	}
	left, err := s.at.Sum(s.config(), place.Sum{X: raw.Matrix(y.x), D: raw.Matrix(y.d), Bits: bits, Errors: y.err, Rows: y.left, Cols: y.right}, raw.Matrix(z))
	s.stage("rounding")
	if err != nil || left > 0 {
		return nil, err
	}
	return z, nil
}

// seedThere returns an approximate inverse of F, A scaled, about which nothing is proved; nil if
// there is none in float64 arithmetic.
func (s *solver) seedThere(a *halfulp.Matrix) (x *halfulp.Matrix, by scaling, err error) {
	h, err := a.Host()
	if err != nil {
		return nil, by, err
	}
	if finite("A", h) != nil || far(h, mostExponent) {
		return nil, by, nil
	}
	lu, err := s.factor(raw.Matrix(h), scale(raw.Matrix(h)))
	if err != nil {
		return nil, by, err
	}
	v, err := s.inverse(lu)
	if err != nil || !finiteFloat64s(v) {
		return nil, by, err
	}
	n := a.Rows()
	x, err = s.upload(halfulp.NewMatrixFloat64(n, n, n, v))
	return x, lu.scaling, err
}

// newResident returns X for a float64 matrix R that approximates the inverse of A scaled, if that is
// proved by E = I - R F; nil if it is not, or A has numbers of more than most bits.
func (s *solver) newResident(a, r *halfulp.Matrix, by scaling, most, bits int) (*newton, error) {
	t := &newton{s: s, by: by}
	var err error
	if t.f, err = s.scaled(a, by, most); err != nil || t.f == nil {
		return nil, err
	}
	if t.x, err = s.scaled(r, unscaled(t.n(), t.n()), most); err != nil || t.x == nil {
		return nil, err
	}
	s.drop(r)
	sums, err := s.rowBounds(t.f)
	if err != nil {
		return nil, err
	}
	for _, v := range sums {
		t.row = append(t.row, int64(v.MantExp(nil)))
	}
	norm, err := s.rowNorm(t.x)
	if err != nil {
		return nil, err
	}
	t.norm = norm.MantExp(nil)
	of := largest(sums)
	t.amp = upper().Mul(norm, of)
	if t.col, err = s.columnTops(t.x, -1<<31); err != nil {
		return nil, err
	}
	if ok, err := t.prove(bits); err != nil || !ok {
		return nil, err
	}
	rho, _ := t.rho.Float64()
	s.note(1, rho, norm, of)
	return t, nil
}

// prove finds rho by E = I - X F, computed without any bound of it, and reports whether X is a good
// inverse.
func (t *newton) prove(bits int) (bool, error) {
	// E is about 2^-gain. What is computed of it serves the first step as well.
	gain := max(seedBits-t.amp.MantExp(nil), lateBits)
	width := gain + 2*lateBits
	if 3*width >= bits {
		width = max(width, bits-gain+2)
	}
	var err error
	if t.early, err = t.difference(width, nil); err != nil {
		return false, err
	}
	norm, err := t.s.rowNorm(t.early)
	if err != nil {
		return false, err
	}
	// |E' - E| ≤ 2^-bits |E'|
	t.earlyNorm = norm
	rho := upper().Add(norm, upper().SetMantExp(norm, -t.early.Format().Bits()))
	if v, _ := rho.Float64(); v >= goodRho {
		return false, nil
	}
	t.rho = largest([]*big.Float{rho, exp2(-2 * seedBits)})
	return true, nil
}
