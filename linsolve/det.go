package linsolve

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// Det returns the determinant of a square matrix A, correctly rounded to format f; +0 for a
// singular one, and 1 for n = 0.
//
// From float64 factors S A T = I - E with a small E and known determinants of S and T, and
//
//	log det(I - E) = -Σ tr(E^k)/k,
//
// of which terms are added until what is left, and all roundings, change nothing. Matrices so
// ill-conditioned that E is not small, and ties, have the determinant of their integers computed
// modulo primes, until their product exceeds twice Hadamard's bound.
//
// The error wraps ErrNotFinite for infinities and NaN. Det panics if A is not square.
// Stats.Underflow counts a determinant that lost bits below the smallest normal number of f.
func Det(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, Stats, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, on, err := begin("Det", opt, a)
	if err != nil {
		return halfulp.Scalar{}, Stats{}, err
	}
	d, err := s.det(on[0], f)
	if err != nil {
		return halfulp.Scalar{}, s.stats, fmt.Errorf("Det: %w", err)
	}
	s.stage("determinant")
	s.progress(1)
	if d.IsInf(0) {
		s.stats.Overflow++
	}
	return d, s.stats, nil
}

func (s *solver) det(a *halfulp.Matrix, f halfulp.Format) (halfulp.Scalar, error) {
	if a.Rows() == 0 {
		return halfulp.NewScalar(f, big.NewFloat(1)), s.ctx.Err()
	}
	if err := finite("A", a); err != nil {
		return halfulp.Scalar{}, err
	}
	for bits := f.Bits() + 32; bits <= f.Bits()+32+2*suspicion; bits += suspicion {
		lo, hi, shift, err := s.encloseDet(a, bits)
		if err != nil && !errors.Is(err, ErrRange) {
			return halfulp.Scalar{}, err
		}
		if lo == nil {
			break
		}
		lo.SetMantExp(lo, int(shift))
		hi.SetMantExp(hi, int(shift))
		if l, u := halfulp.NewScalar(f, lo), halfulp.NewScalar(f, hi); l.Same(u) {
			s.countUnderflow(l, lo, hi)
			return l, nil
		}
	}
	s.stats.Exact++
	d, shift, err := s.exactDet(a)
	if err != nil {
		return halfulp.Scalar{}, err
	}
	d.SetMantExp(d, int(shift))
	z := halfulp.NewScalar(f, d)
	s.countUnderflow(z, d, d)
	return z, nil
}

// countUnderflow counts a number in [x, y] that rounds to z if it loses bits below the smallest
// normal number of z's format; where z itself lies there, that is taken for the number.
func (s *solver) countUnderflow(z halfulp.Scalar, x, y *big.Float) {
	if z.Format().IsMP() || z.IsInf(0) {
		return
	}
	loses := func(x *big.Float) bool {
		const prec = 4096 // further bits are lost as well where one of these is
		m := halfulp.NewMatrixBig(halfulp.MP(prec), 1, 1, []*big.Float{new(big.Float).SetPrec(prec).SetMode(big.ToZero).Set(x)})
		return raw.Matrix(halfulp.NewMatrix(z.Format(), 1, 1)).Arr.Convert(0, raw.Matrix(m).Arr, 0)&num.Underflow != 0
	}
	if b := z.Big(); (b.Cmp(x) < 0 || b.Cmp(y) > 0) && loses(x) && loses(y) {
		s.stats.Underflow++
	}
}

// encloseDet returns lo <= det(a) 2^-shift <= hi, about 2^-bits apart relative to them, or nil if
// float64 factors do not suffice, or formats.
func (s *solver) encloseDet(a *halfulp.Matrix, bits int) (lo, hi *big.Float, shift int64, err error) {
	if bits+64 > maxBits || far(a, mostExponent) {
		return nil, nil, 0, nil
	}
	n := a.Rows()
	work := halfulp.MP(uint(bits + 64))
	f, err := s.factor(raw.Matrix(a), scale(raw.Matrix(a)))
	if err != nil {
		return nil, nil, 0, err
	}
	left, right, diagonal, odd, err := s.triangles(f)
	if err != nil {
		return nil, nil, 0, err
	}
	for _, d := range diagonal {
		if d == 0 || d-d != 0 {
			return nil, nil, 0, nil
		}
	}
	unscaled := make([]int64, n)
	gain, err := s.refineTriangles(f, a, left, right, bits)
	if err != nil || gain < 8 {
		return nil, nil, 0, err
	}
	// E = I - S A T; S A is rounded, relatively by 2^-(bits+64), and E so that it loses as much.
	places := max(64, bits+64-gain)
	sa, e, err := s.triangularError(a, left, right, bits+64, places)
	if err != nil {
		return nil, nil, 0, err
	}
	s.stats.Rounds, s.stats.Precision = 1, bits+64
	ulp := upper().SetMantExp(big.NewFloat(1), -(bits + 63))
	add := func(x, y *big.Float) *big.Float { return upper().Add(x, y) }
	mul := func(x, y *big.Float) *big.Float { return upper().Mul(x, y) }
	norm := boundsOf(raw.Matrix(e), unscaled, unscaled).norm()
	lost := boundsOf(raw.Matrix(sa), unscaled, negated(f.cols)).times(boundsOf(raw.Matrix(right), f.cols, unscaled).sums())
	lost = add(mul(lost, ulp), upper().SetMantExp(norm, 1-places))
	norm = add(norm, lost)
	eps, _ := norm.Float64()
	s.stats.Rho = eps
	if !(eps < goodRho) {
		return nil, nil, 0, nil
	}

	// tr(E^k) for k <= most: n eps^(most+1) is below 2^-bits.
	most := max(1, int(math.Ceil((float64(bits)+math.Log2(float64(n))+2)/-math.Log2(eps+0x1p-1000))))
	// losts: bounds of ‖E^i - powers[i-1]‖
	powers, losts := []*halfulp.Matrix{e}, []*big.Float{lost}
	size := []*big.Float{norm} // norm^i
	for len(powers) < (most+1)/2 {
		i := len(powers)
		// E^(i+1) meets E^i and its like, so that no more than its first bits count above 2^-bits.
		width := max(64, bits+64+2*size[i-1].MantExp(nil)+norm.MantExp(nil))
		next := halfulp.NewMatrix(halfulp.MP(uint(width)), n, n)
		if err := s.gemm(1, e, powers[i-1], 0, nil, next); err != nil {
			return nil, nil, 0, err
		}
		size = append(size, mul(size[i-1], norm))
		factors := add(mul(norm, losts[i-1]), mul(lost, add(size[i-1], losts[i-1])))
		rounding := upper().SetMantExp(add(size[i], factors), 1-width)
		powers = append(powers, next)
		losts = append(losts, add(factors, rounding))
	}
	order := upper().SetInt64(int64(n))
	sum := new(big.Float).SetPrec(uint(bits + 128))
	bound := upper() // of the error of sum
	for k := 1; k <= most; k++ {
		var trace halfulp.Scalar
		var rounded *big.Float // error of the trace but for its last rounding
		if k == 1 {
			diagonal := halfulp.NewMatrix(work, n, 1)
			for i := range n {
				diagonal.Set(i, 0, e.At(i, i))
			}
			trace, _, err = halfulp.Sum(diagonal.Col(0), work, &s.opt)
			rounded = mul(order, lost)
		} else {
			i, j := (k+1)/2, k/2
			trace, _, err = halfulp.Dot(powers[i-1].Clone().Vec(), powers[j-1].T().Clone().Vec(), work, &s.opt)
			rounded = mul(order, add(mul(size[i-1], losts[j-1]), mul(add(size[j-1], losts[j-1]), losts[i-1])))
		}
		if err != nil {
			return nil, nil, 0, err
		}
		t := new(big.Float).SetPrec(uint(bits+128)).Quo(trace.Big(), big.NewFloat(float64(k)))
		sum.Sub(sum, t)
		bound = add(bound, rounded)
		bound = add(bound, mul(upper().Abs(t), ulp))
	}
	// What is left is at most n eps^(most+1) / (1 - eps) < 2 n eps^(most+1).
	tail := mul(order, order)
	for range most + 1 {
		tail = mul(tail, norm)
	}
	bound = add(add(bound, tail), tail)
	// roundings of sum, and of exp and products below
	bound = add(bound, mul(ulp, add(order, upper().Abs(sum))))
	if bound.MantExp(nil) > -8 {
		return nil, nil, 0, nil
	}

	mid := bigfun.Exp(sum, uint(bits+64))
	for i := range diagonal {
		d := right.Big(i, i)
		mid.Quo(mid, d.SetMantExp(d, -int(f.cols[i])))
	}
	for i := range n {
		shift -= f.rows[i] + f.cols[i]
	}
	if odd {
		mid.Neg(mid)
	}
	// exp(±bound) is within 1 ± 2 bound.
	radius := mul(upper().Abs(mid), add(bound, bound))
	wide := uint(bits + 256)
	lo = new(big.Float).SetPrec(wide).SetMode(big.ToNegativeInf).Sub(mid, radius)
	hi = new(big.Float).SetPrec(wide).SetMode(big.ToPositiveInf).Add(mid, radius)
	return lo, hi, shift, nil
}

// fewPowers is how many powers of E at most the logarithm of det(I - E) is worth: with more,
// better triangles cost less.
const fewPowers = 7

// usualGain is about -log2 ‖I - S A T‖ for float64 triangles of matrices that are not
// ill-conditioned.
const usualGain = 34

// triangularError returns S A and I - S A T, rounded to so many bits.
func (s *solver) triangularError(a, left, right *halfulp.Matrix, bits, places int) (sa, e *halfulp.Matrix, err error) {
	n := a.Rows()
	sa, e = halfulp.NewMatrix(halfulp.MP(uint(bits)), n, n), halfulp.NewMatrix(halfulp.MP(uint(places)), n, n)
	if err := s.gemm(1, left, a, 0, nil, sa); err != nil {
		return nil, nil, err
	}
	return sa, e, s.gemm(-1, sa, right, 1, halfulp.Identity(halfulp.Float64, n), e)
}

// refineTriangles replaces S and T by matrices of the same shape for which E = I - S A T is so
// small that a few of its powers reach 2^-bits, and returns a gain that is about -log2 ‖E‖ if all
// goes well. Nothing is proved of that.
//
// With L the strictly lower triangle of E and U the rest, (I + L) S A T (I + U) = I - O(E²).
// (I + L) S has the determinant of S, exactly, since rounding changes no entry of its diagonal.
func (s *solver) refineTriangles(f *factors, a, left, right *halfulp.Matrix, bits int) (gain int, err error) {
	n := a.Rows()
	rows, _ := f.order()
	at := make([]int, n) // where row k of F lies in L U
	for i, k := range rows {
		at[k] = i
	}
	for gain = usualGain; gain*fewPowers < bits; gain = 2*gain - 4 {
		_, e, err := s.triangularError(a, left, right, 2*gain+seedBits, max(64, gain+16))
		if err != nil {
			return 0, err
		}
		before := gain
		if gain = -rowNorm64(raw.Matrix(e)).MantExp(nil); gain < before/2 || gain*fewPowers >= bits {
			return gain, nil
		}
		places := halfulp.MP(uint(2*gain + seedBits))
		strict, rest := e, halfulp.NewMatrix(e.Format(), n, n)
		l, u := raw.Matrix(strict), raw.Matrix(rest)
		for j := range n {
			for i := range j + 1 {
				u.Arr.CopyFrom(u.At(i, j), l.Arr, l.At(i, j))
				l.Arr.Set(l.At(i, j), num.Real{Class: num.Zero})
			}
		}
		*left, err = s.addTriangular(left, strict, left, places, func(i, j int) (bool, int64) { return i >= at[j], f.rows[j] })
		if err != nil {
			return 0, err
		}
		*right, err = s.addTriangular(right, right, rest, places, func(i, j int) (bool, int64) { return i <= j, f.cols[i] })
		if err != nil {
			return 0, err
		}
		s.stats.Steps++
	}
	return gain, nil
}

// addTriangular returns M + A B, which is triangular, in some format: has says where its entries
// are and about their exponents. What is a sum of zeros alone would be left to exact arithmetic, so
// that powers of two stand for zeros until the end.
func (s *solver) addTriangular(m, a, b *halfulp.Matrix, f halfulp.Format, has func(i, j int) (bool, int64)) (halfulp.Matrix, error) {
	n := m.Rows()
	c, z := m.Clone(), halfulp.NewMatrix(f, n, n)
	mc, mz := raw.Matrix(c), raw.Matrix(z)
	one := [1]uint64{1}
	each := func(do func(i, j int, e int64)) {
		for j := range n {
			for i := range n {
				if ok, e := has(i, j); !ok {
					do(i, j, e)
				}
			}
		}
	}
	each(func(i, j int, e int64) {
		mc.Arr.Set(mc.At(i, j), num.Real{Class: num.Finite, Mag: one[:], Exp: e})
	})
	err := s.gemm(1, a, b, 1, c, z)
	each(func(i, j int, _ int64) { mz.Arr.Set(mz.At(i, j), num.Real{Class: num.Zero}) })
	return *z, err
}

// maxDeterminant bounds the bits of determinants of integers: the time grows with their square.
const maxDeterminant = 1 << 26

// exactDet returns d for which the determinant is d 2^shift exactly, from that of integers modulo
// primes.
func (s *solver) exactDet(a *halfulp.Matrix) (d *big.Float, shift int64, err error) {
	m := raw.Matrix(a)
	z := toIntegers(m)
	bits := z.minorBits() + 1 // and a sign
	if bits > maxDeterminant {
		return nil, 0, fmt.Errorf("the determinant may have %d bits: %w", bits, ErrRange)
	}
	det, product := new(big.Int), big.NewInt(1)
	for i := range z.rows {
		shift += z.rows[i] + z.cols[i]
	}
	for next := primes(); product.BitLen() <= bits+1; {
		f := newField(next())
		rows, err := f.matrix(s.ctx, s.threads, m)
		if err != nil {
			return nil, 0, err
		}
		pivots, d, err := f.eliminate(s.ctx, s.threads, rows, m.Cols, false)
		if err != nil {
			return nil, 0, err
		}
		if len(pivots) < m.Rows {
			d = 0
		}
		s.stats.Primes++
		// det + product k with the residue d
		d = f.mul(d, f.power2(-shift))
		k := f.mul(f.sub(d, f.integer(det)), f.invert(f.integer(product)))
		v := new(big.Int).SetUint64(f.value(k))
		det.Add(det, v.Mul(v, product))
		product.Mul(product, new(big.Int).SetUint64(f.p))
		s.progress(min(1, float64(product.BitLen())/float64(bits)))
	}
	if half := new(big.Int).Rsh(product, 1); det.Cmp(half) > 0 {
		det.Sub(det, product)
	}
	return new(big.Float).SetPrec(uint(max(det.BitLen(), 64))).SetInt(det), shift, nil
}
