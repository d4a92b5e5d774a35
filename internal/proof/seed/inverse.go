package seed

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Approximate is an approximate inverse R of a regular matrix A. With E = I - R A,
//
//	‖D^-1 E D‖∞ ≤ rho < 1, D = diag(2^weights[i]),
//
// is proved, which proves that A and R are regular.
type Approximate struct {
	R       num.Mat
	Weights []int64 // about the exponents of the entries of solutions
	Scale   []int64 // about the negated exponents of the rows of A
	Rho     *big.Float
	Abs     bound.Bounds // bounds of D^-1 |R| diag(2^-scale[j])
	Gain    float64      // about how many bits a step of refinement gains
	Rounds  int          // how many seeds are factors of R
}

// MaxRounds bounds the number of seeds that are factors of R: each adds some 50 bits.
const MaxRounds = 16

// doubtful is the number of seeds after which the matrix is checked modulo primes. This check
// proves regularity or singularity at the cost of a seed or two.
const doubtful = 3

// GoodRho is a rho below which refinement is worthwhile.
const GoodRho = 0x1p-8

// MultiplySeeds replaces R by the product of a seed of R A and R until R A is near I. known says
// whether the cost of the planned work is known.
func MultiplySeeds(s *call.Run, p *Approximate, a num.Mat, known bool) (*Approximate, error) {
	n, width := a.Rows, 0
	if err := perturb(s, p.R); err != nil {
		return nil, err
	}
	for p.Rounds = 1; p.Rounds <= MaxRounds; p.Rounds++ {
		planRounds(s, a, p.Rounds-1, width)
		e, err := Distance(s, p, a)
		if err != nil || e.Arr == nil {
			return p, err
		}
		if p.Rounds == doubtful {
			if err := modular.ProvedRegular(s, a); err != nil {
				return nil, err
			}
		}
		// R A = I - E, and e becomes E - I.
		for i := range n {
			d := e.Big(i, i)
			e.SetBig(i, i, new(big.Float).SetPrec(64).Sub(d, big.NewFloat(1)))
		}
		s.Did(roundCostOf(n))
		product := e
		r, err := seed(s, product, scale.Equilibrate(product, scale.Scaling{Rows: bound.Negated(p.Weights), Cols: p.Weights}))
		if err != nil {
			return nil, err
		}
		if err := perturb(s, r); err != nil {
			return nil, err
		}
		by := bound.BoundsOf(r, p.Weights, bound.Negated(p.Weights)).Norm()
		next := num.NewMat(num.Precision(widthFor(by.Mul(by, p.Abs.Norm()))), n, n)
		if err := s.Gemm(-1, r, p.R, 0, num.Mat{}, next); err != nil {
			return nil, err
		}
		width = p.Abs.Norm().MantExp(nil)
		if p.R = next; p.Rounds%4 == 0 {
			if err := perturb(s, p.R); err != nil {
				return nil, err
			}
		}
	}
	// Entries of more different magnitudes than float64 arithmetic resolves may leave R singular.
	// An elimination in enough bits always succeeds.
	//
	// Once it begins, most of the cost for few columns is known, if these bits suffice.
	s.Work.Guessed = !known && !s.Work.One
	// The bound of NeedOf for E holds for R A - I = U^-1 E U as well, up to a factor 2^(2 M), for
	// which NeedOf has room. But here the scales are those in p, also the scales of the eliminated
	// matrix.
	z := modular.ToIntegers(a)
	scales := ziv.SpanOfSums(p.Scale, z.Rows) + ziv.SpanOfSums(p.Weights, z.Cols)
	enough := ziv.NeedOf(a, n, num.Float64, false).Enclosed + 8*scales + scale.SeedBits
	theory := ziv.Enough(enough)
	theory.Regular = func() error { return modular.ProvedRegular(s, a) }
	return p, ziv.Decide(s, ziv.Loop{What: "an inverse", First: scale.SeedBits * MaxRounds, Theory: theory}, func(bits int) (missing int, err error) {
		if err := call.Workable(2*bits, a); err != nil {
			return 0, err
		}
		if s.Work.Report != nil {
			s.Plan(call.InvertInCost(n, bits))
		}
		if ok, err := invertIn(s, bits, p, a); err != nil {
			return 0, err
		} else if ok {
			if e, err := Distance(s, p, a); err != nil || e.Arr == nil {
				return ziv.Done, err
			}
		}
		s.Work.Guessed = true
		return ziv.Double, nil
	})
}

// Distance computes E = I - R A and a bound of its norm, in p.Rho. It returns an empty matrix if
// the bound is less than GoodRho: then R is a good inverse.
func Distance(s *call.Run, p *Approximate, a num.Mat) (e num.Mat, err error) {
	if err := call.Finite("R", p.R); err != nil {
		return num.Mat{}, ErrBeyond
	}
	p.Abs = bound.BoundsOf(p.R, p.Weights, p.Scale)
	width := widthFor(p.Abs.Norm())
	near, exact := Narrow(a, width)
	lost := bound.Upper() // bound of the rounding of A
	if !exact {
		lost = p.Abs.Times(bound.BoundsOf(a, bound.Negated(p.Scale), bound.Negated(p.Weights)).Sums())
		lost.SetMantExp(lost, -int(width))
	}
	e = num.NewMat(num.Precision(64), a.Rows, a.Rows)
	one, norm := num.Identity(num.Float64, a.Rows), bound.Upper()
	x, f := call.Scaled(p.R, scale.Scaling{Rows: bound.Negated(p.Weights), Cols: bound.Negated(p.Scale)}, math.MaxInt32), call.Scaled(near, scale.Scaling{Rows: p.Scale, Cols: p.Weights}, math.MaxInt32)
	if x.Arr != nil && f.Arr != nil {
		within := About(int(width))
		if err := s.GemmWithin(-1, x, f, 1, one, e, within); err != nil {
			return num.Mat{}, err
		}
		sum := bound.Upper() // error of E without its rounding
		for _, top := range call.ColumnTops(f, call.None32) {
			if top != call.None32 { // big.Float adds using all bits between exponents
				sum.Add(sum, bound.Exp2(int(top)))
			}
		}
		lost.Add(lost, bound.ScaledUp(sum, slices.Max(call.ColumnTops(x.T(), call.None32))-within.Within))
		norm = bound.RawBounds(e).Norm()
	}
	// E is not scaled where exponents are far apart.
	if x.Arr == nil || f.Arr == nil || !Rescale(e, scale.Scaling{Rows: p.Weights, Cols: bound.Negated(p.Weights)}) {
		if err := s.Gemm(-1, p.R, near, 1, one, e); err != nil {
			return num.Mat{}, err
		}
		norm = bound.BoundsOf(e, p.Weights, bound.Negated(p.Weights)).Norm()
	}
	p.Rho = bound.Upper().Add(norm, lost)
	if rho, _ := p.Rho.Float64(); rho < GoodRho {
		p.Gain = gain(p.Rho)
		return num.Mat{}, nil
	}
	return e, nil
}

// invertIn computes R by an elimination in numbers of the given bits; not ok if a pivot vanishes.
func invertIn(s *call.Run, bits int, p *Approximate, a num.Mat) (ok bool, err error) {
	n, f := a.Rows, num.Precision(uint(bits))
	scaled := num.NewMat(f, n, n)
	for j := range n {
		for i := range n {
			v := a.Big(i, j)
			scaled.SetBig(i, j, v.SetMantExp(v, int(p.Scale[i]+p.Weights[j])))
		}
	}
	g, err := Eliminate(s, scaled, n, bits, true)
	if err != nil || g.Zero >= 0 {
		return false, err
	}
	li, ui, err := TriangleInverses(s, g.LU, n)
	if err != nil {
		return false, err
	}
	if err := s.Gemm(1, ui, li, 0, num.Mat{}, scaled); err != nil {
		return false, err
	}
	p.R = num.NewMat(f, n, n)
	for k, j := range g.Order {
		for i := range n {
			v := scaled.Big(i, k)
			p.R.SetBig(i, j, v.SetMantExp(v, int(p.Weights[i]+p.Scale[j])))
		}
	}
	return true, nil
}

// perturb changes the last bits of the entries of r, at random but the same way every time.
// Rounding makes some approximate inverses singular, for example the inverse of (x y; x y+ulp),
// which becomes (u -u; -v v), and products with a singular matrix stay singular. Rump perturbs the
// matrix in that case. Here every seed is perturbed, and now and then a product that may still be
// singular.
func perturb(s *call.Run, r num.Mat) error {
	bits := r.Format().Bits() - 4
	return par.Each(s.Ctx, s.Threads, r.Rows, func(i int) {
		random := rand.New(rand.NewPCG(uint64(i), uint64(bits)))
		for j := range r.Cols {
			v := r.Big(i, j)
			x := 2*random.Float64() - 1 // may fuse: anything will do
			d := new(big.Float).Mul(v, big.NewFloat(x))
			r.SetBig(i, j, v.Add(v, d.SetMantExp(d, -bits)))
		}
	})
}

// widthFor returns how many bits of R and of A matter to R A, for an approximate norm of R:
// rounding to so many bits changes R A far less than the error of float64 decompositions.
func widthFor(norm *big.Float) uint {
	return uint(min(max(norm.MantExp(nil), 0)+scale.SeedBits, bound.MaxBits))
}

// FirstInverse returns the seed of a from factors f. It sets Rho only if float64 arithmetic alone
// shows that rho is good.
func FirstInverse(s *call.Run, a num.Mat, f *Factors) (*Approximate, error) {
	return FirstWithin(s, a, f, GoodRho)
}

// FirstWithin is FirstInverse with another limit of a good rho.
func FirstWithin(s *call.Run, a num.Mat, f *Factors, limit float64) (*Approximate, error) {
	n := a.Rows
	defer s.Did(call.SeedCost(n))
	s.Budget.Reclaim(3 * 8 * int64(n) * int64(n))
	x, err := seedInverse(s, f)
	if err != nil {
		return nil, err
	}
	left, product, err := leftBy(s, a, f, x)
	if err != nil {
		return nil, err
	}
	s.Budget.Reclaim(call.MatrixBytes(num.Precision(scale.SeedBits), n, n))
	r, err := unscaled(s, f, x)
	if err != nil {
		return nil, err
	}
	p := &Approximate{R: r, Weights: f.Cols, Scale: f.Rows, Rounds: 1}
	if left == nil {
		return p, nil
	}
	p.Abs = magnitudes(n, x)
	// Entries of F have relative errors, or are 0 below 2^-1000; I - X F has the errors of
	// Subtract.
	gamma := dgemm.SubtractError(n)
	ulp := bound.Upper().SetFloat64((scale.Rounding(a) + gamma) * 1.001)
	lost := bound.Upper().Mul(p.Abs.Norm(), bound.Upper().SetFloat64(float64(n)*0x1p-999))
	lost.Add(lost, bound.Upper().SetFloat64(gamma))
	rows := p.Abs.Apply(product)
	rho := bound.Upper()
	p.Gain = gain(bound.Largest(left))
	for i, v := range left {
		v = bound.Upper().Add(v, bound.Upper().Mul(ulp, rows[i]))
		v = bound.Upper().Add(v, lost)
		rho = bound.Largest([]*big.Float{rho, v})
	}
	if r, _ := rho.Float64(); r < limit {
		p.Rho = rho
	}
	return p, nil
}

// leftBy returns bounds of the row sums of |I - X F|, as float64 arithmetic computes it, and of
// |F|; nil if numbers are not finite.
func leftBy(s *call.Run, a num.Mat, f *Factors, x []float64) (left, sums []*big.Float, err error) {
	n := a.Rows
	if !finiteFloat64s(x) {
		return nil, nil, nil
	}
	scaled, e := f.Float64s(a, make([]float64, n*n)), unit(n)
	if err := dgemm.Subtract(s.Ctx, s.Threads, n, e, x, scaled); err != nil || !finiteFloat64s(e) {
		return nil, nil, err
	}
	return magnitudes(n, e).Sums(), magnitudes(n, scaled).Sums(), nil
}

func finiteFloat64s(x []float64) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// Proved returns the gain of each step that rho proves.
func (p *Approximate) Proved() float64 { return gain(p.Rho) }

// gain returns how many bits a step of refinement gains if I - R A has this norm.
func gain(norm *big.Float) float64 {
	x, _ := norm.Float64()
	return min(45, -math.Log2(x+0x1p-60))
}

// magnitudes replaces the numbers of an n x n matrix, all finite, by their magnitudes.
func magnitudes(n int, x []float64) bound.Bounds {
	for i, v := range x {
		x[i] = math.Abs(v)
	}
	return bound.Bounds{Rows: n, Cols: n, X: x, Exp: make([]int64, n)}
}

// Narrow returns a rounded to width bits if it has more, and whether the result is a itself.
func Narrow(a num.Mat, width uint) (near num.Mat, exact bool) {
	f := a.Format()
	if single := f.IsMP() || f == num.Float32 || f == num.Float64; single && uint(f.Bits()) <= width {
		return a, true
	}
	return a.Convert(num.Precision(width)), false
}

// Note records rounds, rho and the condition number for bounds norm of ‖R‖ and of for ‖F‖. It
// returns about log2 of the condition number.
func Note(s *call.Run, rounds int, rho float64, norm, of *big.Float) (cond int) {
	s.Stats.Rounds, s.Stats.Rho = rounds, rho
	// ‖F^-1‖ ≤ ‖R‖ / (1 - rho), and rho < 1/2.
	bound := bound.Upper().Mul(bound.Upper().Mul(norm, of), big.NewFloat(1+2*rho))
	s.Stats.Cond = decimal.Above(bound, 3)
	if v, _ := strconv.ParseFloat(s.Stats.Cond, 64); v < 1000 {
		s.Stats.Cond = strconv.FormatFloat(v, 'g', 3, 64)
	}
	return bound.MantExp(nil)
}

// Sliceable reports whether the numbers of A can be cut into slices. With Options.Check the
// products are computed by moduli instead, because these products are compared.
func Sliceable(s *call.Run, a num.Mat) bool {
	k := a.Arr.Kind
	return (k == num.F32 || k == num.F64 || k == num.MP) && a.Rows <= FloatOrder && !s.Set.Check
}

// FloatOrder bounds the order of matrices whose inverses come from slices. These inverses take the
// memory of some 15 matrices of float64 numbers, 2 GB.
const FloatOrder = 4096
