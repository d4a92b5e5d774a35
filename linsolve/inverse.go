package linsolve

import (
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// approximate is an approximate inverse R of a regular matrix A: with E = I - R A,
//
//	‖D^-1 E D‖∞ ≤ rho < 1, D = diag(2^weights[i]),
//
// is proved, and so is that A and R are regular.
type approximate struct {
	r       *halfulp.Matrix
	weights []int64 // about the exponents of the entries of solutions
	scale   []int64 // about those of the rows of A, negated
	rho     *big.Float
	abs     bounds  // of D^-1 |R| diag(2^-scale[j])
	gain    float64 // bits that a step of refinement gains, about
	rounds  int     // how many seeds went into R
}

// maxRounds bounds the seeds that go into R: each adds some 50 bits.
const maxRounds = 10000

// doubtful is after how many seeds the matrix is looked at modulo primes: whether it is singular is
// then known for the price of a seed or two.
const doubtful = 3

// goodRho is a rho for which refinement is worth its while.
const goodRho = 0x1p-8

// invert returns an approximate inverse of the square matrix a. The error wraps ErrSingular if a is
// singular, which is proved as well.
//
// The method is Rump's multiplicative preconditioning (Inversion of extremely ill-conditioned
// matrices in floating-point, 2009): while R A is far from I, R is replaced by the product of a
// seed of R A and R.
func (s *solver) invert(a *halfulp.Matrix) (*approximate, error) {
	f, err := s.factor(raw.Matrix(a), scale(raw.Matrix(a)))
	if err != nil {
		return nil, err
	}
	return s.invertBy(a, f)
}

// invertBy is invert with factors of a.
func (s *solver) invertBy(a *halfulp.Matrix, f *factors) (*approximate, error) {
	m := raw.Matrix(a)
	n := m.Rows
	p, err := s.first(m, f)
	if err != nil || p.rho != nil {
		return p, err
	}
	identity := halfulp.Identity(halfulp.Float64, n)
	for p.rounds = 1; ; p.rounds++ {
		width := uint(seedBits*p.rounds + 2*seedBits)
		near, exact := narrow(a, width)
		e := halfulp.NewMatrix(halfulp.MP(64), n, n)
		if err := s.gemm(-1, p.r, near, 1, identity, e); err != nil {
			return nil, err
		}
		p.abs = boundsOf(raw.Matrix(p.r), p.weights, p.scale)
		lost := new(big.Float)
		if !exact {
			lost = p.abs.times(boundsOf(m, negated(p.scale), negated(p.weights)).sums())
			lost.SetMantExp(lost, -int(width))
		}
		p.rho = upper().Add(boundsOf(raw.Matrix(e), p.weights, negated(p.weights)).norm(), lost)
		if rho, _ := p.rho.Float64(); rho < goodRho {
			p.gain = gain(p.rho)
			return p, nil
		}
		if p.rounds == doubtful {
			if err := s.regular(a); err != nil {
				return nil, err
			}
		}
		if p.rounds == maxRounds {
			return nil, fmt.Errorf("no approximate inverse after %d rounds", p.rounds)
		}
		// R A = I - E, and E - I is at hand.
		for i := range n {
			d := e.Big(i, i)
			e.SetBig(i, i, new(big.Float).SetPrec(64).Sub(d, big.NewFloat(1)))
		}
		next := halfulp.NewMatrix(halfulp.MP(uint(seedBits*(p.rounds+1)+16)), n, n)
		product := raw.Matrix(e)
		r, err := s.seed(product, equilibrate(product, scaling{negated(p.weights), p.weights}))
		if err != nil {
			return nil, err
		}
		if err := s.gemm(-1, r, p.r, 0, nil, next); err != nil {
			return nil, err
		}
		p.r = next
	}
}

// first returns the seed of a by factors, with rho if it is found to be good by float64 arithmetic
// alone.
func (s *solver) first(a num.Mat, f *factors) (*approximate, error) {
	n := a.Rows
	x, err := s.inverse(f)
	if err != nil {
		return nil, err
	}
	p := &approximate{r: f.unscaled(x), weights: f.cols, scale: f.rows, rounds: 1}
	if !finiteFloat64s(x) {
		return p, nil
	}
	scaled, e := f.float64s(a, make([]float64, n*n)), unit(n)
	if err := dgemm.Subtract(s.ctx, s.threads, n, e, x, scaled); err != nil {
		return nil, err
	}
	if !finiteFloat64s(e) {
		return p, nil
	}
	sum := func(y []float64) []*big.Float { return boundsOfFloat64(n, y).sums() }
	p.abs = boundsOfFloat64(n, x)
	// Entries of F have relative errors below 2^-51, or are 0 below 2^-1000; I - X F has those of
	// Subtract.
	ulp := upper().SetFloat64(0x1p-51 + float64(float64(n+10)*0x1p-53))
	lost := upper().Mul(p.abs.norm(), upper().SetFloat64(float64(n)*0x1p-999))
	product := p.abs.apply(sum(scaled))
	rho := upper()
	sums := sum(e)
	p.gain = gain(largest(sums))
	for i, v := range sums {
		v = upper().Add(v, upper().Mul(ulp, product[i]))
		v = upper().Add(v, lost)
		rho = largest([]*big.Float{rho, v})
	}
	if r, _ := rho.Float64(); r < goodRho {
		p.rho = rho
	}
	return p, nil
}

func finiteFloat64s(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// gain returns the bits that a step of refinement gains if I - R A has that norm.
func gain(norm *big.Float) float64 {
	x, _ := norm.Float64()
	return min(45, -math.Log2(x+0x1p-60))
}

// boundsOfFloat64 returns the magnitudes of an n x n matrix of finite numbers.
func boundsOfFloat64(n int, x []float64) bounds {
	b := bounds{n, n, make([]float64, n*n), make([]int64, n)}
	for i, v := range x {
		b.x[i] = math.Abs(v)
	}
	return b
}

// narrow returns a rounded to width bits if it has more, and whether it is a itself.
func narrow(a *halfulp.Matrix, width uint) (near *halfulp.Matrix, exact bool) {
	f := a.Format()
	if single := f.IsMP() || f == halfulp.Float32 || f == halfulp.Float64; single && uint(f.Bits()) <= width {
		return a, true
	}
	return a.Convert(halfulp.MP(width)), false
}

// upper returns 0 in a precision for bounds, whose operations round up.
func upper() *big.Float { return new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf) }

func negated(x []int64) []int64 {
	y := make([]int64, len(x))
	for i := range x {
		y[i] = -x[i]
	}
	return y
}

// bounds are upper bounds of the magnitudes of a matrix, x[i + j rows] 2^exp[i] in row i.
type bounds struct {
	rows, cols int
	x          []float64
	exp        []int64
}

// zeros is the exponent of a row of zeros.
const zeros = math.MinInt64

// boundsOf returns bounds of diag(2^-left[i]) M diag(2^-right[j]).
func boundsOf(m num.Mat, left, right []int64) bounds {
	b := bounds{m.Rows, m.Cols, make([]float64, m.Rows*m.Cols), make([]int64, m.Rows)}
	for i := range m.Rows {
		most := int64(math.MinInt64)
		for j := range m.Cols {
			if c, top, _ := m.Arr.Span(m.At(i, j)); c == num.Finite {
				most = max(most, top-right[j])
			}
		}
		if most == math.MinInt64 {
			b.exp[i] = zeros
			continue
		}
		b.exp[i] = most - left[i]
		for j := range m.Cols {
			// Leading is right to 2^-48, and ldexp loses what is below 2^-1000.
			if x, e := m.Arr.Leading(m.At(i, j)); x != 0 {
				b.x[i+j*m.Rows] = float64(ldexp(math.Abs(x), e-right[j]-most)*(1+0x1p-46)) + 0x1p-1000
			}
		}
	}
	return b
}

// sums returns bounds of the sums of rows.
func (b bounds) sums() []*big.Float {
	ones := make([]*big.Float, b.cols)
	for j := range ones {
		ones[j] = upper().SetInt64(1)
	}
	return b.apply(ones)
}

// norm returns a bound of the largest sum of a row.
func (b bounds) norm() *big.Float { return largest(b.sums()) }

// times returns a bound of the largest entry of the product with a vector y >= 0.
func (b bounds) times(y []*big.Float) *big.Float { return largest(b.apply(y)) }

func largest(x []*big.Float) *big.Float {
	z := upper()
	for _, v := range x {
		if v.Cmp(z) > 0 {
			z = v
		}
	}
	return z
}

// apply returns bounds of the product with a vector y >= 0.
func (b bounds) apply(y []*big.Float) []*big.Float {
	most := largest(y)
	e := most.MantExp(nil)
	z := make([]*big.Float, b.rows)
	sums := make([]float64, b.rows)
	if most.Sign() == 0 {
		for i := range z {
			z[i] = upper()
		}
		return z
	}
	for j, v := range y {
		if v.Sign() == 0 {
			continue
		}
		m := new(big.Float)
		k := v.MantExp(m)
		f, _ := m.Float64() // to nearest
		f = ldexp(f*(1+0x1p-50), int64(k-e)) + 0x1p-1000
		for i, x := range b.x[j*b.rows : (j+1)*b.rows] {
			sums[i] += float64(x * f)
		}
	}
	// Each sum of n products of two has a relative error below (n + 1) 2^-53, and underflow takes
	// less than 2^-1074 from each.
	slack := 1 + float64(float64(b.cols+2)*0x1p-52)
	for i, s := range sums {
		if b.exp[i] == zeros {
			z[i] = upper()
			continue
		}
		z[i] = upper().SetFloat64(float64(s*slack) + float64(float64(b.cols)*0x1p-1000))
		z[i].SetMantExp(z[i], int(b.exp[i])+e)
	}
	return z
}
