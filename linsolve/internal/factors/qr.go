package factors

import (
	"fmt"
	"math/big"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// FactorQR returns the factors of a in format f, where a lives, with a copy of a.
func FactorQR(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*QRFactors, error) {
	defer s.Release()
	z, err := qrThere(s, a, f, pivoting)
	if err != nil {
		return nil, err
	}
	if z == nil {
		here := a
		if !a.OnHost() {
			if here, err = place.On(nil, a); err != nil {
				return nil, err
			}
		}
		if z, err = qr(s, here, f, pivoting); err != nil {
			return nil, err
		}
		countOverflow(s, z.Q, z.R)
	}
	return z, Keep(s, a, &z.A, &z.Q, &z.R)
}

func qr(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*QRFactors, error) {
	if err := call.FiniteOn(s.Threads, "A", a); err != nil {
		return nil, err
	}
	if err := reserveQR(s, a, f, pivoting); err != nil {
		return nil, err
	}
	normal, err := Normal(s, a)
	if err != nil {
		return nil, err
	}
	p := &qrFactors{attempt: attempt{s: s, f: f}, a: a, normal: normal, pivoting: pivoting, digits: true}
	if pivoting && a.Cols >= seed.Fewest {
		if err := p.pivots64(); err != nil {
			return nil, err
		}
	}
	theory := ziv.Theory{Need: func() ziv.Need {
		of := p.c
		if of.Arr == nil {
			of = Stacked(normal, a, call.All(a.Cols))
		}
		return ziv.NeedOf(of, a.Cols, f, true)
	}, Regular: p.fails}
	err = decide(p, &p.attempt, qrWays, theory)
	return p.z, err
}

// qrFactors is the problem of enclosing the factors of A.
type qrFactors struct {
	attempt
	a, normal num.Mat // normal is A^T A
	pivoting  bool
	z         *QRFactors
	c         num.Mat // A^T A above A, in z's order of columns; nothing until stack makes it
	newton    *CholeskyNewton
	begun     bool // newton has been computed for c, or has failed
	digits    bool // digits have not failed yet
	known     bool // it is known whether A is regular
	checked   bool // it is known whether A has full rank
	quick     bool // the order from float64 numbers may be the right one
	sure      bool // the order from float64 numbers is proved to be the right one
	unordered bool // these bits do not determine the order of columns: only more bits help
	orderBits int  // bits in which the order was last computed
}

var qrWays = []call.Way[*qrFactors]{
	{Name: call.ByDigits, Applies: func(p *qrFactors) bool { return !p.pivoting && digits.Available(p.s) }, Faster: func(p *qrFactors) bool { return p.digits }, Run: (*qrFactors).byDigits},
	{Name: call.ByNewton, Run: (*qrFactors).byNewton},
	{Name: call.ByIntervals, Faster: func(p *qrFactors) bool { return !p.unordered }, Run: (*qrFactors).byIntervals},
	{Name: call.ByElimination, Run: (*qrFactors).byElimination},
}

// fails returns an error if A does not have full rank or A^T A is wrong. It checks at the first
// call only.
func (p *qrFactors) fails() error {
	if p.checked {
		return nil
	}
	p.checked = true
	if err := ziv.FullRank(p.s, p.a); err != nil {
		return err
	}
	return sameNormal(p.s, p.normal, p.a)
}

// set allocates the factors for an order of columns. It reports whether the order has changed.
func (p *qrFactors) set(order []int) (changed bool) {
	if p.z != nil && slices.Equal(p.z.P, order) {
		return false
	}
	m, n := p.a.Dims()
	p.z = &QRFactors{P: order, Q: num.NewMat(p.f, m, n), R: num.NewMat(p.f, n, n)}
	p.c, p.u, p.newton, p.begun = num.Mat{}, nil, nil, false
	p.s.Did(call.StackCost(p.s, m, n))
	return true
}

// stack makes c, once for an order of columns. It reserves the bytes of c and more.
func (p *qrFactors) stack(more float64) error {
	if err := p.s.Budget.Reserve(stackedBytes(p.a, squareBits(p.s, p.a), p.pivoting) + more); err != nil || p.c.Arr != nil {
		return err
	}
	c, err := stacked(p.s.Run, p.normal, p.a, p.z.P)
	if err != nil {
		return err
	}
	if p.c = c; p.pivoting {
		return nil
	}
	n := p.a.Cols
	p.normal = p.c.Slice(0, n, 0, n) // the same, in less memory
	if p.u != nil {
		p.u.C, p.u.Below = p.c, num.Mat{}
	}
	return nil
}

// begin computes newton for an order of columns.
func (p *qrFactors) begin(order []int) (err error) {
	if !p.set(order) && p.begun {
		return nil
	}
	p.begun = true
	m, n := p.a.Dims()
	if err := p.stack(newtonBytes(m+n, n, n, p.normal.Format().Bits(), p.f.Bits(), n*(n+1)/2+m*n)); err != nil {
		return err
	}
	p.wanted()
	if p.small(n, call.ByNewton) {
		return nil
	}
	p.newton, err = NewCholeskyNewton(p.s, p.c, p.a.Cols, MostBits(p.normal.Format()))
	return err
}

// wanted lists the entries that must be decided, once.
func (p *qrFactors) wanted() {
	if p.u == nil {
		p.u = p.z.unknown(p.c)
	}
}

// pivots64 computes the order of columns in float64, begins with it, and finds out whether it may
// be the right one.
func (p *qrFactors) pivots64() error {
	order, err := seed.Pivots64(p.s, p.normal)
	if order == nil || err != nil {
		return err
	}
	if err := p.begin(order); err != nil {
		return err
	}
	if p.newton != nil && p.newton.X.Arr != nil {
		// Diagonal entries of the scaled matrix are less than 2.
		p.quick, err = p.newton.PivotsKept(1, p.f.Bits()+64)
	}
	return err
}

// order computes the order of columns in the bits of the attempt, once.
func (p *qrFactors) order() error {
	if p.orderBits == p.bits {
		return nil
	}
	p.orderBits, p.unordered = p.bits, false
	order := call.All(p.a.Cols)
	if p.pivoting {
		var err error
		if order, err = seed.LongestColumns(p.s, p.normal, p.bits); err != nil {
			return err
		}
		if order == nil {
			p.unordered = true
			return p.fails()
		}
	}
	p.set(order)
	return nil
}

// take accepts an enclosure if it proves the order of columns.
func (p *qrFactors) take(e *ziv.Enclosure) error {
	if p.pivoting {
		if ok, err := seed.Longest(p.s, e, p.a.Cols); !ok {
			p.unordered = true
			return err
		}
	}
	p.e = e
	return nil
}

func (p *qrFactors) byDigits() (err error) {
	p.set(call.All(p.a.Cols))
	p.u, p.e, err = digits.RootAttempt(p.s, p.normal, p.a, p.bits-ziv.SpareBits, &p.known, p.u, p.z.R.T(), p.z.Q, p.z.want)
	p.digits = p.e != nil
	return err
}

func (p *qrFactors) byNewton() error {
	if p.quick {
		e, err := p.newton.Enclosure(p.bits - ziv.SpareBits)
		// A seed from blocks is not the seed that PivotsKept examined.
		if err == nil && e != nil && !p.sure && !p.newton.Blocks {
			p.sure, err = seed.LongestBy(p.s, big.NewFloat(seed.Clearly), e, p.a.Cols)
		}
		if err != nil {
			return err
		}
		if e != nil && p.sure {
			p.e = e
			return nil
		}
		p.quick = false
	}
	if err := p.order(); err != nil || p.unordered {
		return err
	}
	if err := p.begin(p.z.P); err != nil {
		return err
	}
	e, err := p.newton.Enclosure(p.bits - ziv.SpareBits)
	if e == nil || err != nil {
		return err
	}
	return p.take(e)
}

func (p *qrFactors) byIntervals() error {
	if err := p.order(); err != nil || p.unordered {
		return err
	}
	if err := p.stack(0); err != nil {
		return err
	}
	p.wanted()
	e, _, err := p.positiveByIntervals(p.c, p.a.Cols)
	if e == nil || err != nil {
		return err
	}
	return p.take(e)
}

func (p *qrFactors) byElimination() error {
	if err := p.order(); err != nil || p.unordered {
		return err
	}
	if err := p.stack(0); err != nil {
		return err
	}
	p.wanted()
	e, _, err := Positive(p.s, p.c, p.a.Cols, p.bits)
	if err != nil {
		return err
	}
	if e == nil {
		return p.fails()
	}
	return p.take(e)
}

// squareBits returns a number of bits that holds every entry of A^T A exactly.
func squareBits(s *call.Run, a num.Mat) int {
	return max(ziv.PowerBits(s.Threads, a, 2)+mathbits.Len(uint(a.Rows)), num.MinPrec)
}

// Normal returns A^T A exactly.
func Normal(s *call.Run, a num.Mat) (num.Mat, error) {
	bits := squareBits(s, a)
	if bits > bound.MaxBits {
		return num.Mat{}, fmt.Errorf("A^T A has %d bits: %w", bits, call.ErrMemory)
	}
	c := num.NewMat(num.Precision(uint(bits)), a.Cols, a.Cols)
	if m, n := a.Dims(); s.Work.Report != nil {
		of := a.Arr.Format
		// may fuse: an estimate
		s.Plan(call.ProductCost(n, m, n, of, of, call.MP(bits)) + improvedCost(m+n, n, likely, 10, of.Bits()+64, false) + call.StackCost(s, m, n))
	}
	if err := s.GemmTriangle('L', 1, a.T(), a, 0, num.Mat{}, c, nil); err != nil {
		return num.Mat{}, err
	}
	s.Stage("A^T A")
	return c, Mirror(s, c)
}

// Stacked returns A^T A above A, exactly, with the columns of A in the given order. The lower
// triangular factor of A^T A is R^T, and below it is Q.
func Stacked(normal, a num.Mat, order []int) num.Mat {
	c, _ := stacked(par.Run{}.Filled(), normal, a, order) // without a context there is no error
	return c
}

// stacked is Stacked on several threads. It returns an error if the context is cancelled.
func stacked(run par.Run, normal, a num.Mat, order []int) (num.Mat, error) {
	m, n := a.Dims()
	c := num.NewMat(normal.Format(), n+m, n)
	err := par.For(run.Ctx, run.Threads, len(order), func(_, j int) {
		z, x, y, p := c, normal, a, order[j]
		for i, q := range order {
			z.Arr.CopyFrom(z.At(i, j), x.Arr, x.At(q, p))
		}
		for i := range m {
			z.Arr.Convert(z.At(n+i, j), y.Arr, y.At(i, p)) // A has no more bits than A^T A
		}
	})
	return c, err
}

// sameNormal returns an error if C v and A^T (A v) differ modulo a prime for a fixed vector v: then
// C is not A^T A. It detects a single wrong entry unless its error is a multiple of the prime.
func sameNormal(s *call.Run, c, a num.Mat) error {
	f := modular.New(modular.Prime(0))
	left, err := f.Matrix(s.Ctx, s.Threads, c)
	if err != nil {
		return err
	}
	rows, err := f.Matrix(s.Ctx, s.Threads, a)
	if err != nil {
		return err
	}
	v, x := make([]uint64, a.Cols), f.One
	for j := range v {
		x = f.Mul(x, f.Element(0x9e3779b97f4a7c15)) // not 0
		v[j] = x
	}
	apply := func(row []uint64) (sum uint64) {
		for j, x := range row {
			sum = f.Add(sum, f.Mul(x, v[j]))
		}
		return sum
	}
	want := make([]uint64, a.Cols)
	for _, row := range rows {
		x := apply(row)
		for j, y := range row {
			want[j] = f.Add(want[j], f.Mul(x, y))
		}
	}
	for i, row := range left {
		if apply(row) != want[i] {
			return call.Contradiction("A^T A is another matrix modulo a prime")
		}
	}
	return nil
}
