package eigen

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// ErrDomain is wrapped by errors about eigenvalues outside of the domain of a function.
var ErrDomain = errors.New("outside of the domain of the function")

// A Function is a real function that is monotone for x < 0 and for x > 0, for [SymFunc].
type Function struct {
	Name string // for errors
	// Enclose returns bounds lo ≤ f(x) ≤ hi, whose relative distance is about 2^-bits. The error
	// wraps ErrDomain if f(x) is not defined.
	Enclose func(x *big.Float, bits uint) (lo, hi *big.Float, err error)
}

// Functions for SymFunc.
var (
	Sqrt    = Function{"sqrt", encloseSqrt}       // √x for x ≥ 0
	InvSqrt = Function{"invsqrt", encloseInvSqrt} // 1/√x for x > 0
	Exp     = Function{"exp", encloseExp}         // e^x
	Log     = Function{"log", encloseLog}         // ln x for x > 0
	Abs     = Function{"abs", encloseAbs}         // |x|
	Sign    = Function{"sign", encloseSign}       // -1, 0 or 1
	// Positive is max(x, 0): SymFunc then returns the nearest positive semidefinite matrix in the
	// Frobenius norm.
	Positive = Function{"positive", enclosePositive}
)

// SymFunc returns f(A) = X diag(f(λ)) Xᵀ for a symmetric n x n matrix A with eigenvalues λ and
// orthonormal eigenvectors X, each entry rounded once to format f. The result lives where A does.
//
//	root, err := eigen.SymFunc(eigen.Sqrt, a, halfulp.Float64, nil)
//
// Entries are correctly rounded, but for two exceptions that Stats.Proof.Undecided counts. With p
// the bits of the format, an entry below 2^-(4p + 64) times the largest |f(λ)|, rounded to a power
// of two, becomes 0. An entry that q = 5p + 128 bits do not decide, almost certainly because it is
// halfway between two numbers of the format, is rounded as if it were. Entries between blocks of A
// are 0 and are not counted.
//
// The error wraps ErrDomain if an eigenvalue is outside of the domain of f; 0 is an eigenvalue only
// if that is proved. It wraps linsolve.ErrRange for arguments of Exp beyond 2^30. Other errors are
// as for [Sym]. SymFunc panics if A is not square, or for a Function without Enclose.
//
// Method. A correctly rounded spectrum in q bits gives X diag(f(λ)) Xᵀ with a known error. q is
// doubled until the errors do not matter.
func SymFunc(f Function, a *halfulp.Matrix, format halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	if f.Enclose == nil {
		panic("eigen: a Function without Enclose")
	}
	var o halfulp.Options
	if opt != nil {
		o = *opt
	}
	s, on, err := start("SymFunc", o, a.View())
	if err != nil {
		return nil, err
	}
	z, err := symFunc(s, f, on[0], format.View())
	if err := ended("SymFunc", o, s, err); err != nil {
		return nil, err
	}
	return moved(z, a.View())
}

// symFunc computes f(A) for a matrix on the host.
func symFunc(s *call.Run, f Function, a num.Mat, format num.Format) (num.Mat, error) {
	if err := call.Finite("A", a); err != nil {
		return num.Mat{}, err
	}
	if err := ziv.Symmetric(a); err != nil {
		return num.Mat{}, err
	}
	n := a.Rows
	e := &entries{s: s, z: num.NewMat(format, n, n), last: 5*format.Bits() + 128}
	for _, rows := range sym.Blocks(a) {
		for _, j := range rows {
			for _, i := range rows {
				if i <= j {
					e.open = append(e.open, [2]int{i, j})
				}
			}
		}
	}
	for bits := format.Bits() + ziv.Guard(n) + 8; len(e.open) > 0; bits = min(2*bits, max(e.last, bits+1)) {
		z, err := sym.ByBlocks(s, a, num.Mat{}, call.MP(bits), sym.Wanted{Vectors: true, Last: n - 1}, func(a, _ num.Mat, f num.Format, want sym.Wanted) (sym.Result, error) {
			return sym.Sym(s, a, f, want)
		})
		if err != nil {
			return num.Mat{}, err
		}
		s.Stats.Undecided = 0 // of vectors, whose errors are known
		g, err := values(f, z, bits)
		if err != nil {
			return num.Mat{}, err
		}
		if err := e.round(z.Vectors, z.Vectors, g, bits); err != nil {
			return num.Mat{}, err
		}
	}
	for j := range n {
		for i := range j {
			e.z.Arr.CopyFrom(e.z.At(j, i), e.z.Arr, e.z.At(i, j))
		}
	}
	return e.z, nil
}

// values encloses f at eigenvalues that are rounded to the given bits. The eigenvalues of a cluster
// have one enclosure: on the space of its vectors f(A) has eigenvalues in it.
func values(f Function, z sym.Result, bits int) ([]interval.Interval, error) {
	n := z.Values.Rows
	g := make([]interval.Interval, n)
	for k := range n {
		x := z.Values.Big(k, 0)
		ends := interval.Of(x)
		if x.Sign() != 0 {
			ends = interval.Prec(bits+8).Around(x, bits-1)
		}
		for i, v := range []*big.Float{ends.Lo, ends.Hi} {
			lo, hi, err := f.Enclose(v, uint(bits+8))
			if err != nil {
				return nil, fmt.Errorf("%s of eigenvalue %d, %s: %w", f.Name, k, x.Text('g', 6), err)
			}
			if i == 0 {
				g[k] = interval.Interval{Lo: lo, Hi: hi}
				continue
			}
			g[k] = hull(g[k], interval.Interval{Lo: lo, Hi: hi})
		}
	}
	for _, c := range z.Clusters {
		h := g[c[0]]
		for k := c[0] + 1; k <= c[1]; k++ {
			h = hull(h, g[k])
		}
		for k := c[0]; k <= c[1]; k++ {
			g[k] = h
		}
	}
	return g, nil
}

func hull(x, y interval.Interval) interval.Interval {
	if y.Lo.Cmp(x.Lo) < 0 {
		x.Lo = y.Lo
	}
	if y.Hi.Cmp(x.Hi) > 0 {
		x.Hi = y.Hi
	}
	return x
}

// entries are the entries of a result Z that are not decided.
type entries struct {
	s    *call.Run
	z    num.Mat
	open [][2]int
	last int // with so many bits all entries are settled
}

// round rounds the open entries of X diag(g) Yᵀ that the errors of X, Y and g decide. X and Y are
// rounded to the given bits, or settled with a smaller error, so each entry is in error by at most
// 2^-bits, and their rows have norms of at most 1.
//
// With g' in error by at most δ, entry (i, j) of the product is in error by at most
//
//	(2 2^-bits + 4^-bits) Σ |g'_k| + δ
//
// and, for g' X and the product rounded to bits + 8 bits each, by 2^-(bits + 7) Σ |g'_k|.
func (e *entries) round(x, y num.Mat, g []interval.Interval, bits int) error {
	f := call.MP(bits + 8)
	n := x.Rows
	middle := make([]*big.Float, len(g))
	sum, delta := new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf), new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf)
	for k, v := range g {
		middle[k] = new(big.Float).SetPrec(uint(bits+8)).Add(v.Lo, v.Hi)
		middle[k].SetMantExp(middle[k], -1)
		sum.Add(sum, new(big.Float).Abs(middle[k]))
		// The middle is rounded: twice the half width covers that, and a width of 0 is exact.
		if width := new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf).Sub(v.Hi, v.Lo); width.Cmp(delta) > 0 {
			delta = width
		}
	}
	sum.SetMantExp(sum, 2-bits)
	err := new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf).Add(sum, delta)
	scaled := num.NewMat(f, n, len(g))
	if err := par.For(e.s.Ctx, e.s.Threads, len(g), func(_, k int) {
		v := new(big.Float).SetPrec(uint(bits + 8))
		for i := range n {
			scaled.SetBig(i, k, v.Mul(x.Big(i, k), middle[k]))
		}
	}); err != nil {
		return err
	}
	product := num.NewMat(f, n, y.Rows)
	if err := e.s.Gemm(1, scaled, y.T(), 0, num.Mat{}, product); err != nil {
		return err
	}
	limit := e.limit(g)
	var open [][2]int
	p := interval.Prec(bits + 16)
	for _, at := range e.open {
		v := product.Big(at[0], at[1])
		lo, hi := p.Difference(p.Down(), v, err, -1), p.Difference(p.Up(), v, new(big.Float).Neg(err), 1)
		lower, upper := num.NewScalar(e.z.Format(), lo), num.NewScalar(e.z.Format(), hi)
		x := interval.Interval{Lo: lo, Hi: hi}
		large := lo.Cmp(limit) >= 0 || new(big.Float).Neg(hi).Cmp(limit) >= 0
		switch {
		case v.Sign() == 0 && err.Sign() == 0:
		case x.Below(limit):
			e.s.Stats.Undecided++
			e.z.SetBig(at[0], at[1], new(big.Float))
		case large && lower.Same(upper):
			e.z.SetEntry(at[0], at[1], lower)
			ziv.Lose(e.s, e.z, at[0], at[1], lo, hi)
		case bits < e.last:
			open = append(open, at)
		default:
			e.s.Stats.Undecided++
			if m, _ := ziv.Tie(lower, upper); m != nil {
				v = m
			}
			e.z.SetBig(at[0], at[1], v)
		}
	}
	e.open = open
	e.s.Stage("function")
	return nil
}

// limit returns 2^-(4p + 64) times the power of two above the largest g, rounded to 32 bits.
func (e *entries) limit(g []interval.Interval) *big.Float {
	most := new(big.Float)
	for _, v := range g {
		middle := new(big.Float).SetPrec(32).Add(v.Lo, v.Hi)
		if middle.Abs(middle).Cmp(most) > 0 {
			most = middle
		}
	}
	return new(big.Float).SetMantExp(big.NewFloat(1), most.MantExp(nil)-1-4*e.z.Format().Bits()-64)
}

func encloseSqrt(x *big.Float, bits uint) (lo, hi *big.Float, err error) {
	if x.Sign() < 0 {
		return nil, nil, ErrDomain
	}
	z := interval.Prec(bits).Sqrt(interval.Of(x))
	return z.Lo, z.Hi, nil
}

func encloseInvSqrt(x *big.Float, bits uint) (lo, hi *big.Float, err error) {
	if x.Sign() <= 0 {
		return nil, nil, ErrDomain
	}
	p := interval.Prec(bits)
	z := p.Quo(interval.OfInt(1), p.Sqrt(interval.Of(x)))
	return z.Lo, z.Hi, nil
}

func encloseExp(x *big.Float, bits uint) (lo, hi *big.Float, err error) {
	if x.Sign() != 0 && x.MantExp(nil) > 30 {
		return nil, nil, call.ErrRange
	}
	z := interval.Prec(bits+8).Around(bigfun.Exp(x, bits), int(bits)-1)
	return z.Lo, z.Hi, nil
}

func encloseLog(x *big.Float, bits uint) (lo, hi *big.Float, err error) {
	if x.Sign() <= 0 {
		return nil, nil, ErrDomain
	}
	z := interval.Prec(bits+8).Around(bigfun.Log(x, bits), int(bits)-1)
	return z.Lo, z.Hi, nil
}

func encloseAbs(x *big.Float, _ uint) (lo, hi *big.Float, err error) {
	z := new(big.Float).Abs(x)
	return z, z, nil
}

func encloseSign(x *big.Float, _ uint) (lo, hi *big.Float, err error) {
	z := new(big.Float).SetInt64(int64(x.Sign()))
	return z, z, nil
}

func enclosePositive(x *big.Float, _ uint) (lo, hi *big.Float, err error) {
	z := new(big.Float).Copy(x)
	if x.Sign() < 0 {
		z = new(big.Float)
	}
	return z, z, nil
}
