package factors

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// ErrNotPositiveDefinite is wrapped by errors about matrices that are proved not to be positive
// definite.
var ErrNotPositiveDefinite = errors.New("matrix is not positive definite")

// NotPositiveDefiniteError reports that a symmetric matrix is not positive definite, which the sign
// of a leading minor proves. It wraps ErrNotPositiveDefinite.
type NotPositiveDefiniteError struct {
	Order int // of the minor
	Sign  int // of the minor: -1 or 0
}

func (e *NotPositiveDefiniteError) Error() string {
	sign := "0"
	if e.Sign < 0 {
		sign = "negative"
	}
	return fmt.Sprintf("matrix is not positive definite: its leading minor of order %d is %s (proved)", e.Order, sign)
}

func (e *NotPositiveDefiniteError) Unwrap() error { return ErrNotPositiveDefinite }

// FactorCholesky returns the Cholesky factor of a in format f, where a lives. sign computes the
// sign of a determinant.
func FactorCholesky(s *call.Run, a num.Mat, f num.Format, sign signOf) (num.Mat, error) {
	defer s.Release()
	if l, err := choleskyThere(s, a, f); l.Arr != nil || err != nil {
		return l, err
	}
	here := a
	if !a.OnHost() {
		var err error
		if here, err = place.On(nil, a); err != nil {
			return num.Mat{}, err
		}
	}
	l, err := Cholesky(s, here, f, sign)
	if err != nil {
		return num.Mat{}, err
	}
	countOverflow(s, l)
	if !a.OnHost() {
		return place.On(place.Of(a.Arr), l)
	}
	return l, nil
}

// Cholesky returns the Cholesky factor of a matrix on the host. sign computes the sign of a
// determinant.
func Cholesky(s *call.Run, a num.Mat, f num.Format, sign signOf) (num.Mat, error) {
	if err := call.FiniteOn(s.Threads, "A", a); err != nil {
		return num.Mat{}, err
	}
	if err := ziv.Symmetric(s.Threads, "A", a); err != nil {
		return num.Mat{}, err
	}
	n := a.Rows
	p := &cholesky{attempt: attempt{s: s, f: f}, a: a, l: num.NewMat(f, n, n), sign: sign, digits: true, proved: map[int]bool{}}
	theory := ziv.Theory{Need: func() ziv.Need { return ziv.NeedOf(a, n, f, true) }, Regular: func() error {
		for k := range n {
			if err := p.definite(k); err != nil {
				return err
			}
		}
		return nil
	}}
	return p.l, decide(p, &p.attempt, choleskyWays, theory)
}

// cholesky is the problem of enclosing the Cholesky factor L of A.
type cholesky struct {
	attempt
	a, l   num.Mat
	sign   signOf
	digits bool // digits have not failed yet
	known  bool // it is known whether A is regular
	begun  bool // newton has been computed, or has failed
	newton *CholeskyNewton
	proved map[int]bool // the pivots that are proved to be positive
}

var choleskyWays = []call.Way[*cholesky]{
	{Name: call.ByDigits, Applies: func(p *cholesky) bool { return digits.Available(p.s) }, Faster: func(p *cholesky) bool { return p.digits }, Run: (*cholesky).byDigits},
	{Name: call.ByNewton, Run: (*cholesky).byNewton},
	{Name: call.ByIntervals, Run: (*cholesky).byIntervals},
	{Name: call.ByElimination, Run: (*cholesky).byElimination},
}

func (p *cholesky) want(u *ziv.Unknown, i, j int) { u.Want(ziv.OfRoot, i, j, p.l, i, j) }

func (p *cholesky) byDigits() (err error) {
	p.u, p.e, err = digits.RootAttempt(p.s, p.a, num.Mat{}, p.bits-ziv.SpareBits, &p.known, p.u, p.l, num.Mat{}, p.want)
	p.digits = p.e != nil
	return err
}

// unknown lists the entries that must be decided, once.
func (p *cholesky) unknown() {
	if p.u != nil {
		return
	}
	n := p.a.Rows
	p.u = ziv.NewUnknown(p.a, n, ziv.Ones(n), n*(n+1)/2)
	for j := range n {
		for i := j; i < n; i++ {
			p.want(p.u, i, j)
		}
	}
}

func (p *cholesky) byNewton() (err error) {
	n := p.a.Rows
	if !p.begun {
		if err := reserve(p.s, p.a, n, p.f.Bits(), n*(n+1)/2); err != nil {
			return err
		}
	}
	p.unknown()
	if !p.begun {
		p.begun = true
		if !p.small(n, call.ByNewton) {
			if p.newton, err = NewCholeskyNewton(p.s, p.a, n, MostBits(p.f)); err != nil {
				return err
			}
		}
	}
	p.e, err = p.newton.Enclosure(p.bits - ziv.SpareBits)
	return err
}

func (p *cholesky) byIntervals() error {
	p.unknown()
	return p.positive(p.positiveByIntervals(p.a, p.a.Rows))
}

func (p *cholesky) byElimination() error {
	p.unknown()
	return p.positive(Positive(p.s, p.a, p.a.Rows, p.bits))
}

// positive accepts an enclosure, or else checks the pivot that is most likely not to be positive.
func (p *cholesky) positive(e *ziv.Enclosure, worst int, err error) error {
	if p.e = e; e != nil || err != nil || worst < 0 {
		return err
	}
	return p.definite(worst)
}

// definite returns an error if the leading minor that ends with row k is proved not to be positive.
func (p *cholesky) definite(k int) error {
	if p.proved[k] {
		return nil
	}
	d, err := p.sign(p.s, p.a.Slice(0, k+1, 0, k+1))
	if err != nil {
		return err
	}
	if d <= 0 {
		return &NotPositiveDefiniteError{Order: k + 1, Sign: d}
	}
	p.proved[k] = true
	return nil
}

// positiveByIntervals encloses the factors of c, whose leading n x n part is symmetric, by interval
// arithmetic. It does so if entries are far apart and all pivots are proved to be positive. If a
// pivot is proved to be negative, worst is its index; if nothing is proved, worst is -1.
func (p *attempt) positiveByIntervals(c num.Mat, n int) (e *ziv.Enclosure, worst int, err error) {
	if is, err := p.farApart(c); err != nil || !is {
		return nil, -1, err
	}
	g, err := EliminateIntervals(p.s, c, ziv.Ones(n), p.bits, false)
	if err != nil || g.Bad >= 0 {
		return nil, -1, err
	}
	e = g.enclosure(p.bits)
	for j := range n {
		if e.Upper(j, j).Hi.Sign() < 0 {
			return nil, j, nil
		}
	}
	return e, 0, nil
}

// Positive encloses the factors of c, whose leading n x n part is symmetric, if all its pivots are
// proved to be positive. Otherwise worst is the index of the pivot that is most likely not to be
// positive.
func Positive(s *call.Run, c num.Mat, n, bits int) (e *ziv.Enclosure, worst int, err error) {
	g, err := seed.Eliminate(s, c, n, bits, false)
	if err != nil {
		return nil, 0, err
	}
	if g.Zero >= 0 {
		return nil, g.Zero, nil
	}
	least := big.NewFloat(2)
	for j := range n {
		d, diagonal := g.LU.Big(j, j), c.Big(j, j)
		if d.Sign() <= 0 || diagonal.Sign() <= 0 {
			return nil, j, nil
		}
		if d.Quo(d, diagonal).Cmp(least) < 0 {
			least, worst = d, j
		}
	}
	li, ui, err := seed.TriangleInverses(s, g.LU, n)
	if err != nil {
		return nil, 0, err
	}
	if e, err = ziv.Enclose(s, c, li, ui, bits); e == nil || err != nil {
		return nil, worst, err
	}
	for j := range n {
		if e.Upper(j, j).Lo.Sign() <= 0 {
			return nil, j, nil
		}
	}
	return e, 0, nil
}

// signOf computes the sign of the determinant of a matrix on the host.
type signOf func(s *call.Run, a num.Mat) (int, error)
