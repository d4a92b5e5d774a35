package eigen

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/counted"
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
// the bits of the format, an entry below 2^-(4p + 64) times the largest |f(λ)| of its block,
// rounded to a power of two, becomes 0. An entry that q = 5p + 128 bits do not decide, almost
// certainly because it is halfway between two numbers of the format, is rounded as if it were. The
// blocks are the diagonal blocks of A after a permutation of rows and columns; entries between
// them, and entries of blocks where all f(λ) are 0, are 0 and are not counted.
//
// The error wraps ErrDomain if an eigenvalue is outside of the domain of f; 0 is an eigenvalue only
// if that is proved. It wraps linsolve.ErrRange for arguments of Exp beyond 2^30, and
// halfulp.ErrMemory if a Function of the caller jumps at an eigenvalue. Other errors are as for
// [Sym]. SymFunc panics if A is not square, or for a Function without Enclose.
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
	o := orDefault(opt)
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
	if err := sym.Symmetric(s, "A", a); err != nil {
		return num.Mat{}, err
	}
	n := a.Rows
	e := &entries{s: s, z: num.NewMat(format, n, n), last: 5*format.Bits() + 128, blocks: make([]int, n)}
	for k, rows := range sym.Blocks(a) {
		for _, j := range rows {
			e.blocks[j] = k
			for _, i := range rows {
				if i <= j {
					e.open = append(e.open, [2]int{i, j})
				}
			}
		}
	}
	try := 0
	for bits := format.Bits() + ziv.Guard(n) + 8; len(e.open) > 0; bits = moreBits(bits, e.last) {
		end := attempt(s, &try)
		z, err := sym.ByBlocks(s, a, num.Mat{}, call.MP(bits), sym.Wanted{Vectors: true, Last: n - 1}, func(a, _ num.Mat, f num.Format, want sym.Wanted) (sym.Result, error) {
			return sym.Sym(s, a, f, want)
		})
		if end(); err != nil {
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
	countOverflows(s, e.z)
	return e.z, nil
}

// moreBits returns the bits that follow on the given ones: twice as many, but not from below to
// above last.
func moreBits(bits, last int) int {
	if bits < last {
		return min(2*bits, last)
	}
	return 2 * bits
}

// countOverflows counts the infinite entries of a result, whose exact entries are finite.
func countOverflows(s *call.Run, z num.Mat) {
	for j := range z.Cols {
		for i := range z.Rows {
			if z.Arr.Class(z.At(i, j)) == num.Inf {
				s.Stats.Overflow++
			}
		}
	}
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
				return nil, counted.New(err, func(first int) string {
					return fmt.Sprintf("%s: eigenvalue %d is %s: %v", f.Name, k+first, x.Text('g', 6), err)
				})
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
	s      *call.Run
	z      num.Mat
	open   [][2]int // within blocks
	last   int      // with so many bits all entries with small errors are settled
	blocks []int    // the block that each column of Z belongs to
}

// reach has the bounds that the numbers g of a block give for its entries.
type reach struct {
	radius *big.Float // of the errors
	limit  *big.Float // entries below it become 0
	// narrow says that the radius is small enough to settle entries. It is not if the numbers g of
	// a cluster differ, as the signs of eigenvalues next to 0 do: more bits separate them.
	narrow bool
}

// round rounds the open entries of X diag(g) Yᵀ that the errors of X, Y and g decide. X and Y are
// rounded to the given bits, or settled with a smaller error, so each entry is in error by at most
// 2^-bits, and their rows have norms of at most 1. Columns of Y are 0 outside of one block, in
// exact arithmetic as well.
//
// With g' in error by at most δ, entry (i, j) of the product is in error by at most
//
//	(2 2^-bits + 4^-bits) Σ |g'_k| + δ
//
// and, for g' X and the product rounded to bits + 8 bits each, by 2^-(bits + 7) Σ |g'_k|. δ and the
// sum are over the columns k of Y in the block of the entry.
func (e *entries) round(x, y num.Mat, g []interval.Interval, bits int) error {
	f := call.MP(bits + 8)
	n := x.Rows
	middle := make([]*big.Float, len(g))
	for k, v := range g {
		middle[k] = new(big.Float).SetPrec(uint(bits+8)).Add(v.Lo, v.Hi)
		middle[k].SetMantExp(middle[k], -1)
	}
	reaches := e.reaches(y, g, middle, bits)
	if err := e.s.Budget.Check(float64(call.MatrixBytes(f, n, len(g)) + call.MatrixBytes(f, n, y.Rows))); err != nil {
		return err
	}
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
	p := interval.Prec(bits + 16)
	type entry struct {
		v            *big.Float
		x            interval.Interval
		lower, upper num.Scalar
	}
	const part = 1024 // entries
	var open [][2]int
	list := make([]entry, min(part*e.s.Threads, len(e.open)))
	for first := 0; first < len(e.open); first += len(list) {
		todo := e.open[first:min(first+len(list), len(e.open))]
		if err := par.For(e.s.Ctx, e.s.Threads, len(todo), func(_, i int) {
			v, radius := product.Big(todo[i][0], todo[i][1]), reaches[e.blocks[todo[i][1]]].radius
			x := interval.Interval{Lo: p.Difference(p.Down(), v, radius, -1), Hi: p.Difference(p.Up(), v, new(big.Float).Neg(radius), 1)}
			list[i] = entry{v, x, num.NewScalar(e.z.Format(), x.Lo), num.NewScalar(e.z.Format(), x.Hi)}
		}); err != nil {
			return err
		}
		for i, at := range todo {
			v, x, in := list[i].v, list[i].x, reaches[e.blocks[at[1]]]
			large := x.Lo.Cmp(in.limit) >= 0 || new(big.Float).Neg(x.Hi).Cmp(in.limit) >= 0
			switch {
			case v.Sign() == 0 && in.radius.Sign() == 0:
			case x.Below(in.limit):
				e.s.Stats.Undecided++
				e.z.SetBig(at[0], at[1], new(big.Float))
			case large && list[i].lower.Same(list[i].upper):
				e.z.SetEntry(at[0], at[1], list[i].lower)
				ziv.Lose(e.s, e.z, at[0], at[1], x.Lo, x.Hi)
			case bits < e.last || !in.narrow:
				open = append(open, at)
			default:
				e.s.Stats.Undecided++
				if m, _ := ziv.Tie(list[i].lower, list[i].upper); m != nil {
					v = m
				}
				e.z.SetBig(at[0], at[1], v)
			}
		}
	}
	e.open = open
	e.s.Stage("function")
	return nil
}

// reaches returns the bounds for each block: for the radius see round, and the limit is
// 2^-(4p + 64) times the power of two above the largest g, rounded to 32 bits.
func (e *entries) reaches(y num.Mat, g []interval.Interval, middle []*big.Float, bits int) []reach {
	up := func() *big.Float { return new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf) }
	type block struct{ sum, delta, most *big.Float }
	list := make([]block, len(e.blocks))
	for b := range list {
		list[b] = block{up(), up(), new(big.Float)}
	}
	for k, v := range g {
		i := 0
		for i < y.Rows && y.Arr.Class(y.At(i, k)) == num.Zero {
			i++
		}
		if i == y.Rows {
			continue
		}
		in := &list[e.blocks[i]]
		in.sum.Add(in.sum, new(big.Float).Abs(middle[k]))
		// The middle is rounded: twice the half width covers that, and a width of 0 is exact.
		if width := up().Sub(v.Hi, v.Lo); width.Cmp(in.delta) > 0 {
			in.delta = width
		}
		size := new(big.Float).SetPrec(32).Add(v.Lo, v.Hi)
		if size.Abs(size).Cmp(in.most) > 0 {
			in.most = size
		}
	}
	z := make([]reach, len(list))
	for b, in := range list {
		in.sum.SetMantExp(in.sum, 2-bits)
		z[b].radius = up().Add(in.sum, in.delta)
		p := e.z.Format().Bits()
		z[b].limit = new(big.Float).SetMantExp(big.NewFloat(1), in.most.MantExp(nil)-1-4*p-64)
		z[b].narrow = z[b].radius.Sign() == 0 || z[b].radius.MantExp(nil) <= in.most.MantExp(nil)-5*p-96
	}
	return z
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
