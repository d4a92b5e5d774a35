package eigen

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// kept returns the number of singular values of A above c times the largest, all rounded to the
// bits of format f.
func kept(a *halfulp.Matrix, f halfulp.Format, c halfulp.Scalar, opt *halfulp.Options) (int, error) {
	f = halfulp.MP(uint(f.Bits())) // the largest must not become infinite, nor others 0
	z, err := SVD(a, f, &SVDOptions{Options: *opt, ValuesOnly: true})
	if err != nil {
		return 0, err
	}
	values, err := z.S.Host()
	if err != nil {
		return 0, err
	}
	k := 0
	for k < values.Len() && values.At(k).Cmp(f.Mul(c, values.At(0))) > 0 {
		k++
	}
	return k, nil
}

// truncated returns A_k⁺ B, where A_k = U1 S1 V1ᵀ has the k singular triplets of A above the
// tolerance c. It returns a matrix without an array if k is the rank of A, so that A_k = A.
//
// Let X = V S^-1 Uᵀ with approximate U, V and a diagonal S with least entry s, and
//
//	ρ ≥ ‖A V - U S‖, ‖Aᵀ U - V S‖,  α ≥ ‖UᵀU - I‖, ‖VᵀV - I‖,
//
// in the 2-norm. With [U1 U2] and [V1 V2] orthogonal, x = V2ᵀV and y = U2ᵀU, the residuals give y S
// = Σ2 x - U2ᵀ(A V - U S) and x S = Σ2ᵀ y - V2ᵀ(Aᵀ U - V S). So for s > σ_{k+1}
//
//	‖x‖, ‖y‖ ≤ θ = ρ / (s - σ_{k+1}).
//
// Let C = V1ᵀV and D = U1ᵀU, whose norms are at most d = √(1 + α). Then Σ1 C = D S + U1ᵀ(A V - U
// S), and DᵀD + yᵀy = UᵀU, so that
//
//	‖C S^-1 Dᵀ - Σ1^-1‖ = ‖Σ1^-1 (D Dᵀ - I + U1ᵀ(A V - U S) S^-1 Dᵀ)‖ ≤ (α + θ² + d ρ/s) / σ_k.
//
// The other parts of X in the bases V1, V2 and U1, U2 are C S^-1 yᵀ, x S^-1 Dᵀ and x S^-1 yᵀ. So
//
//	‖X - A_k⁺‖ ≤ β = (α + θ² + d ρ/s) / σ_k + (2 d θ + θ²) / s,
//
// and an entry of X b differs from that of A_k⁺ b by at most β ‖b‖.
func (p *problem) truncated(c halfulp.Scalar) (num.Mat, error) {
	m, n := p.a.Dims()
	a := halfulp.MatrixOf(p.a)
	k, err := kept(a, p.f, c, p.within(0, 0.3))
	if p.checked(err) != nil {
		return num.Mat{}, err
	}
	p.s.Stage("singular values")
	r, _, err := p.provedRank()
	if err != nil || k >= r {
		return num.Mat{}, err
	}
	b := p.b
	if b.Arr == nil {
		b = num.Identity(num.Float64, m)
	}
	z := num.NewMat(p.f.View(), n, b.Cols)
	if k == 0 {
		return z, nil
	}
	zeros := zerosOf(p.a, b)
	norms := make([]*big.Float, b.Cols)
	for j := range norms {
		norms[j] = frobenius(b.Slice(0, m, j, j+1))
	}
	p.s.Stage("rank")
	most := 4*p.f.Bits() + 64
	for try, bits := 0, p.f.Bits()+64; ; try, bits = try+1, bits*2 {
		if bits > most && bits < 2*most {
			bits = most
		}
		p.s.Stats.Precision = bits
		x, relative, err := p.approximation(a, halfulp.MatrixOf(b), halfulp.MP(uint(bits)), k, try)
		if err != nil {
			return num.Mat{}, err
		}
		p.s.Stage("approximation")
		if relative == nil {
			continue
		}
		if p.round(z, x, relative, norms, zeros, bits >= most) {
			return z, nil
		}
	}
}

// approximation returns X b, computed in format f, and a bound of the errors of entries relative to
// the norms of the columns of b. The bound is nil if it is not small.
func (p *problem) approximation(a, b *halfulp.Matrix, f halfulp.Format, k, try int) (*halfulp.Matrix, *big.Float, error) {
	bits := f.Bits()
	svd, s, next, err := p.triplets(a, f, k, try)
	if err != nil {
		return nil, nil, err
	}
	beta, err := p.distance(a, svd.U, svd.V, s, next, bits, p.f.Bits())
	if beta == nil || err != nil {
		return nil, nil, err
	}
	// X b = V (S^-1 (Uᵀ b)) is rounded four times: Uᵀ b, S^-1, its product with Uᵀ b, and the last
	// product. Each error is at most 2^-bits d² ‖b‖ / s. 16 2^-bits exceeds their sum.
	t, err := halfulp.Mul(svd.U.T(), b, f, p.quiet())
	if p.checked(err) != nil {
		return nil, nil, err
	}
	for j := range k {
		for i := range t.Cols() {
			t.SetBig(j, i, new(big.Float).SetPrec(uint(bits)).Quo(t.Big(j, i), s[j]))
		}
	}
	x, err := halfulp.Mul(svd.V, t, f, p.quiet())
	if p.checked(err) != nil {
		return nil, nil, err
	}
	rounding := bound.Upper().Quo(new(big.Float).SetMantExp(big.NewFloat(1), 4-bits), s[k-1])
	return x, bound.Upper().Add(beta, rounding), nil
}

// triplets returns the k largest singular values with their vectors, and the next singular value, 0
// if there is none, rounded to format f. try counts attempts, for the report of progress.
func (p *problem) triplets(a *halfulp.Matrix, f halfulp.Format, k, try int) (svd *SVDResult, s []*big.Float, next *big.Float, err error) {
	next = new(big.Float)
	// U S and V S for the bounds of their residuals, and copies.
	if err := p.s.Budget.Check(2 * float64(call.MatrixBytes(call.MP(2*f.Bits()), a.Rows()+a.Cols(), k))); err != nil {
		return nil, nil, nil, err
	}
	lo, hi := sym.Try(try)
	lo, hi = 0.3+0.7*lo, 0.3+0.7*hi // may fuse: an estimate
	if k < min(a.Dims()) {
		z, err := SVD(a, f, &SVDOptions{Options: *p.within(lo, (lo+hi)/2), ValuesOnly: true, Largest: k + 1})
		if p.checked(err) != nil {
			return nil, nil, nil, err
		}
		next = z.S.At(k).Big()
	}
	svd, err = SVD(a, f, &SVDOptions{Options: *p.within((lo+hi)/2, hi), Largest: k})
	if p.checked(err) != nil {
		return nil, nil, nil, err
	}
	s = make([]*big.Float, k)
	for j := range s {
		s[j] = svd.S.At(j).Big()
	}
	return svd, s, next, nil
}

// distance returns the bound β of ‖V S^-1 Uᵀ - A_k⁺‖ for approximate singular vectors U and V: see
// truncated. s are the k largest singular values, next is the following one, all with relative
// errors below 2^-bits. distance returns nil unless θ ≤ 2^-least.
func (p *problem) distance(a, u, v *halfulp.Matrix, s []*big.Float, next *big.Float, bits, least int) (*big.Float, error) {
	e, err := p.subspaces(a, u, v, s, next, bits, least)
	if e == nil || err != nil {
		return nil, err
	}
	last := s[len(s)-1]
	// 5/4 exceeds d, the root of 1 + α ≤ 3/2.
	square := upperProduct(e.theta, e.theta)
	first := upperSum(upperSum(e.alpha, square), upperProduct(big.NewFloat(1.25), upperQuotient(e.rho, last)))
	second := upperSum(upperProduct(big.NewFloat(2.5), e.theta), square)
	return upperSum(upperQuotient(first, e.lowest), upperQuotient(second, last)), nil
}

// subspaces has the bounds ρ, α ≤ 1/2 and θ of truncated for approximate singular vectors, and a
// lower bound of σ_k.
type subspaces struct{ rho, alpha, theta, lowest *big.Float }

// subspaces returns the bounds for the operands of distance; nil unless θ ≤ 2^-least.
func (p *problem) subspaces(a, u, v *halfulp.Matrix, s []*big.Float, next *big.Float, bits, least int) (*subspaces, error) {
	k, prec := len(s), uint(2*bits)
	wide := halfulp.MP(prec)
	us, vs := halfulp.NewMatrix(wide, a.Rows(), k), halfulp.NewMatrix(wide, a.Cols(), k)
	for j := range k {
		for i := range us.Rows() {
			us.SetBig(i, j, new(big.Float).SetPrec(prec).Mul(u.Big(i, j), s[j]))
		}
		for i := range vs.Rows() {
			vs.SetBig(i, j, new(big.Float).SetPrec(prec).Mul(v.Big(i, j), s[j]))
		}
	}
	one := halfulp.Identity(wide, k)
	var norms [4]*big.Float // of X Y - Z
	for i, t := range [4][3]*halfulp.Matrix{{a, v, us}, {a.T(), u, vs}, {u.T(), u, one}, {v.T(), v, one}} {
		z := t[2].Clone()
		err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), t[0], t[1], halfulp.Float(-1), z, p.quiet())
		if p.checked(err) != nil {
			return nil, err
		}
		norms[i] = frobenius(z.View())
	}
	e := &subspaces{rho: larger(norms[0], norms[1]), alpha: larger(norms[2], norms[3])}

	ulp := new(big.Float).SetMantExp(big.NewFloat(1), -bits)
	last := s[k-1]
	slack := func(x *big.Float) *big.Float { return new(big.Float).SetPrec(uint(bits)).Mul(x, ulp) }
	down := func() *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf) }
	e.lowest = down().Sub(last, slack(last)) // at most σ_k
	gap := down().Sub(last, new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf).Add(next, slack(next)))
	if gap.Sign() <= 0 || e.alpha.Cmp(big.NewFloat(0.5)) > 0 {
		return nil, nil
	}
	e.theta = upperQuotient(e.rho, gap)
	if e.theta.Cmp(new(big.Float).SetMantExp(big.NewFloat(1), -least)) > 0 {
		return nil, nil
	}
	return e, nil
}

func upperSum(x, y *big.Float) *big.Float      { return bound.Upper().Add(x, y) }
func upperProduct(x, y *big.Float) *big.Float  { return bound.Upper().Mul(x, y) }
func upperQuotient(x, y *big.Float) *big.Float { return bound.Upper().Quo(x, y) }

// zerosOf reports which entries of A_k⁺ B are 0 because of the zeros of A and B.
//
// A_k⁺ = q(AᵀA) Aᵀ for a polynomial q, so its entry (j, i) is 0 unless column j and row i are in
// one block.
func zerosOf(a, b num.Mat) func(i, j int) bool {
	m := a.Rows
	root := connected(a)
	type part struct{ root, column int }
	reached := map[part]bool{}
	for j := range b.Cols {
		for i := range m {
			if b.Arr.Class(b.At(i, j)) != num.Zero {
				reached[part{root[i], j}] = true
			}
		}
	}
	return func(i, j int) bool { return !reached[part{root[m+i], j}] }
}

// connected numbers the rows of A, and then its columns, by the diagonal blocks that they belong to
// after permutations: rows and columns are connected if their common entry is not 0.
func connected(a num.Mat) []int {
	m, n := a.Dims()
	parent := call.All(m + n)
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for j := range n {
		for i := range m {
			if a.Arr.Class(a.At(i, j)) != num.Zero {
				parent[root(i)] = root(m + j)
			}
		}
	}
	z := make([]int, m+n)
	for i := range z {
		z[i] = root(i)
	}
	return z
}

// round rounds the entries of x, whose errors are at most relative norms[j] in column j, to z,
// which is 0 before. It reports whether all are decided. The last time it decides all of them: see
// Pinv.
func (p *problem) round(z num.Mat, x *halfulp.Matrix, relative *big.Float, norms []*big.Float, zeros func(i, j int) bool, last bool) bool {
	undecided := 0
	p.s.Stats.Overflow, p.s.Stats.Underflow = 0, 0
	for j := range z.Cols {
		radius := bound.Upper().Mul(relative, norms[j])
		for i := range z.Rows {
			if zeros(i, j) {
				continue
			}
			y := x.Big(i, j)
			lower := new(big.Float).SetPrec(y.Prec()+64).SetMode(big.ToNegativeInf).Sub(y, radius)
			upper := new(big.Float).SetPrec(y.Prec()+64).SetMode(big.ToPositiveInf).Add(y, radius)
			l, u := num.NewScalar(p.f.View(), lower), num.NewScalar(p.f.View(), upper)
			switch {
			case l.Same(u):
				z.SetEntry(i, j, l)
				ziv.LeavesRange(p.s, l, lower, upper)
			case !last:
				return false
			default:
				undecided++
				v := simplest(p.f, lower, upper, y)
				z.SetEntry(i, j, v)
				ziv.LeavesRange(p.s, v, y, y)
			}
		}
	}
	p.s.Stats.Undecided += undecided
	return true
}

// simplest returns the number of format f for a number in [lower, upper], which rounding leaves
// open: 0 if the interval contains 0, what the middle of two numbers of f is rounded to, or what y
// is rounded to.
func simplest(f halfulp.Format, lower, upper, y *big.Float) num.Scalar {
	g := f.View()
	if lower.Sign() <= 0 && upper.Sign() >= 0 {
		return num.NewScalar(g, new(big.Float))
	}
	if t, _ := ziv.Tie(num.NewScalar(g, lower), num.NewScalar(g, upper)); t != nil {
		return num.NewScalar(g, t)
	}
	return num.NewScalar(g, y)
}

// frobenius returns an upper bound of the root of the sum of squares of finite numbers, also of
// numbers that were rounded to these with more than 52 bits.
func frobenius(m num.Mat) *big.Float {
	sum := bound.Upper()
	for j := range m.Cols {
		for i := range m.Rows {
			x := bound.UpperOf(m.Big(i, j))
			sum.Add(sum, bound.Upper().Mul(x, x))
		}
	}
	if sum.Sign() == 0 {
		return sum
	}
	root := new(big.Float).SetPrec(128).Sqrt(sum)
	return bound.Upper().Mul(root, big.NewFloat(1+math.Ldexp(1, -50)))
}

func larger(x, y *big.Float) *big.Float {
	if x.Cmp(y) > 0 {
		return x
	}
	return y
}
