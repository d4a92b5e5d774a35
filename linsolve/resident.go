package linsolve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

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
	a, err := s.at.New(s.ctx, raw.Matrix(halfulp.NewMatrix(f, 0, 0)).Arr.Format, rows*cols)
	if err != nil {
		return nil, err
	}
	m := raw.NewMatrix(num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}).(*halfulp.Matrix)
	s.away = append(s.away, m)
	return m, nil
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

// identity returns the n x n unit matrix. Elsewhere its entries share storage: entry (i, j) is
// number n - 1 + i - j of 2 n - 1 numbers, all but one of them zeros.
func (s *solver) identity(n int) (*halfulp.Matrix, error) {
	if s.at == nil {
		return halfulp.Identity(halfulp.Float64, n), nil
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

// rowSums returns exponents of bounds of the sums of magnitudes of the rows of a matrix in MP, at
// the solver's place, and a bound of the largest.
func (s *solver) rowSums(m *halfulp.Matrix) (exps []int64, most *big.Float, err error) {
	x, err := s.at.Extents(s.config(), raw.Matrix(m))
	if err != nil {
		return nil, nil, err
	}
	if x.Special {
		return nil, nil, fmt.Errorf("an infinity or NaN among results: %w", ErrRange)
	}
	at := 0
	for i, top := range x.Top {
		frac, e := math.Frexp(x.Norm[i])
		if x.Norm[i] = frac; top > noNumber {
			x.Top[i] += int64(e)
		}
		if x.Top[i] > x.Top[at] || x.Top[i] == x.Top[at] && frac > x.Norm[at] {
			at = i
		}
	}
	most = upper()
	if len(x.Top) > 0 && x.Top[at] > noNumber {
		most = scaledUp(upper().SetFloat64(x.Norm[at]), x.Top[at])
	}
	return x.Top, most, nil
}

// noNumber is above the exponents of rows of zeros.
const noNumber = -1 << 60

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
	if errors.Is(err, ErrRange) || errors.Is(err, halfulp.ErrMemory) {
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
	s.at, s.since = nil, time.Now()
	s.stats = Stats{Stats: halfulp.Stats{Device: place.Host, Method: Method, Threads: s.threads, Stages: []halfulp.Stage{attempt}}}
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
		if few(k, n) {
			y, err = t.solveFew(g, bits)
		} else {
			y, err = t.solve(g, bits)
		}
	}
	s.stage("products")
	if err != nil || y == nil {
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
	if x, err = s.matrix(halfulp.Float64, a.Rows(), a.Rows()); err != nil {
		return nil, by, err
	}
	rows, cols, ok, err := s.at.Inverse(s.config(), raw.Matrix(a), raw.Matrix(x))
	if err != nil || !ok {
		return nil, by, err
	}
	return x, scaling{rows, cols}, nil
}

// newResident returns X for a float64 matrix R that approximates the inverse of A scaled, if that
// is proved by E = I - R F; nil if it is not, or A has numbers of more than most bits.
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
	var norm, of *big.Float
	if t.row, of, err = s.rowSums(t.f); err != nil {
		return nil, err
	}
	if norm, err = s.rowNorm(t.x); err != nil {
		return nil, err
	}
	t.norm = norm.MantExp(nil)
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

// prove finds rho by E = I - X F, and reports whether X is a good inverse.
func (t *newton) prove(bits int) (bool, error) {
	// E is about 2^-gain. What is computed of it serves the first step as well.
	gain := max(seedBits-t.amp.MantExp(nil), lateBits)
	width := gain + 2*lateBits
	if 3*width >= bits {
		width = max(width, bits-gain+2)
	}
	// All that is known of E is |E| ≤ I + |X| |F|.
	b := t.errorBound(max(int64(t.amp.MantExp(nil)), 0)+1, gain+width)
	var err error
	if t.early, err = t.difference(width, b); err != nil {
		return false, err
	}
	if t.earlyNorm, err = t.s.rowNorm(t.early); err != nil {
		return false, err
	}
	t.earlyError = lostBy(b)
	rho := upper().Add(t.earlyNorm, upper().SetMantExp(t.earlyNorm, -t.early.Format().Bits()))
	rho = rho.Add(rho, t.earlyError)
	if v, _ := rho.Float64(); v >= goodRho {
		return false, nil
	}
	t.rho = largest([]*big.Float{rho, exp2(-2 * seedBits)})
	return true, nil
}
