package eigen

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Cond2 returns the condition number σ_max / σ_min of an m x n matrix in the 2-norm, rounded once
// to format f: +Inf if the rank is below min(m, n), which is proved; 0 for an empty matrix. The
// condition numbers in other norms are linsolve.Cond.
//
// The quotient is enclosed by correctly rounded singular values with up to 4p + 64 bits, for a
// format of p bits. A quotient that seems to lie halfway between two numbers of the format is
// proved to do so if the squares of σ_max and σ_min are short binary numbers, as for diagonal
// matrices. Otherwise it is almost certainly the middle, which Cond2 rounds to even, and
// Stats.Proof.Undecided is 1.
//
// Errors are as for [SVD]. Stats.Overflow counts a finite condition number that f rounds to +Inf.
func Cond2(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	o := orDefault(opt)
	s, on, err := start("Cond2", o, a.View())
	if err != nil {
		return halfulp.Scalar{}, err
	}
	z, err := func() (num.Scalar, error) {
		p, err := newProblem(s, f, &o, on[0], num.Mat{}, num.Mat{})
		if err != nil {
			return num.Scalar{}, err
		}
		return p.condition()
	}()
	if err := ended("Cond2", o, s, err); err != nil {
		return halfulp.Scalar{}, err
	}
	return halfulp.ScalarOf(z), nil
}

// condition returns the condition number of A.
func (p *problem) condition() (num.Scalar, error) {
	g := p.f.View()
	k := min(p.a.Rows, p.a.Cols)
	if k == 0 {
		return num.NewScalar(g, new(big.Float)), nil
	}
	most := 4*p.f.Bits() + 64
	try := 0
	for bits := p.f.Bits() + 16; ; bits = min(2*bits, most) {
		lo, hi := sym.Try(try)
		try++
		svd, err := SVD(halfulp.MatrixOf(p.a), halfulp.MP(uint(bits)), &SVDOptions{Options: *p.within(lo, hi), ValuesOnly: true})
		if err != nil {
			return num.Scalar{}, err
		}
		p.absorb()
		p.s.Stats.Precision = bits
		high, low := svd.S.At(0).Big(), svd.S.At(k-1).Big()
		if low.Sign() == 0 {
			return num.NewScalar(g, new(big.Float).SetInf(false)), nil
		}
		// Both have relative errors below 2^-bits.
		quotient := new(big.Float).SetPrec(uint(bits+32)).Quo(high, low)
		radius := new(big.Float).SetMantExp(quotient, 2-bits)
		lower := new(big.Float).SetPrec(uint(bits+64)).SetMode(big.ToNegativeInf).Sub(quotient, radius)
		upper := new(big.Float).SetPrec(uint(bits+64)).SetMode(big.ToPositiveInf).Add(quotient, radius)
		l, u := num.NewScalar(g, lower), num.NewScalar(g, upper)
		if l.Same(u) {
			ziv.LeavesRange(p.s, l, quotient, quotient)
			return l, nil
		}
		if t, _ := ziv.Tie(l, u); t != nil && bits > p.f.Bits()+16 {
			side, proved, err := p.compare(svd.S, bits, t)
			if err != nil {
				return num.Scalar{}, err
			}
			switch {
			case proved && side < 0:
				u = l
			case proved && side == 0:
				u = num.NewScalar(g, t)
			}
			if proved {
				ziv.LeavesRange(p.s, u, quotient, quotient)
				return u, nil
			}
		}
		if bits == most {
			p.s.Stats.Undecided++
			z := simplest(p.f, lower, upper, quotient)
			ziv.LeavesRange(p.s, z, quotient, quotient)
			return z, nil
		}
	}
}

// compare compares the condition number with t, and reports whether that is proved. values are the
// singular values, correctly rounded to the given bits.
func (p *problem) compare(values *halfulp.Vector, bits int, t *big.Float) (side int, proved bool, err error) {
	tall := p.a
	if tall.Rows < tall.Cols {
		tall = tall.T()
	}
	if productBits(tall, tall) > num.MaxPrec {
		return 0, false, nil
	}
	square, err := p.exactProduct(tall, tall)
	if err != nil {
		return 0, false, err
	}
	high, err := p.proved(square, values, 0, bits)
	if err != nil || high == nil {
		return 0, false, err
	}
	low, err := p.proved(square, values, values.Len()-1, bits)
	if err != nil || low == nil {
		return 0, false, err
	}
	return high.Cmp(interval.ExactMul(interval.ExactMul(t, t), low)), true, nil
}

// proved returns the square of singular value number at if it is proved to be a short number c: as
// many singular values as round to its neighbourhood are roots of c, by the rank of AᵀA - c I. It
// returns nil otherwise.
func (p *problem) proved(square num.Mat, values *halfulp.Vector, at, bits int) (*big.Float, error) {
	v := values.At(at).Big()
	exact := interval.ExactMul(v, v)
	c := new(big.Float).SetPrec(uint(bits - 8)).Set(exact)
	if int(c.MinPrec()) > bits-24 {
		return nil, nil
	}
	// The relative error of v² is below 2^(2-bits). The roots of c are found among the values v'
	// with |v'² - c| ≤ 2^(3-bits) c.
	count := 0
	near := new(big.Float).SetMantExp(c, 3-bits)
	for i := range values.Len() {
		w := values.At(i).Big()
		difference := new(big.Float).SetPrec(uint(4*bits)).Sub(interval.ExactMul(w, w), c)
		if difference.Abs(difference).Cmp(near) <= 0 {
			count++
		}
	}
	f, err := ziv.FormatFor(spanWith(square, c))
	if err != nil {
		return nil, nil //nolint:nilerr // no format holds AᵀA - c I: nothing is proved
	}
	shifted := square.Convert(f)
	for i := range shifted.Rows {
		d := square.Big(i, i)
		shifted.SetBig(i, i, new(big.Float).SetPrec(uint(f.Bits())).Sub(d, c))
	}
	r, _, err := modular.Rank(p.s, shifted)
	if err != nil || shifted.Rows-r != count {
		return nil, err
	}
	return c, nil
}

// spanWith returns a number of bits that holds the entries of a matrix, and their differences from
// c.
func spanWith(m num.Mat, c *big.Float) int64 {
	top, low := ziv.Span(m)
	return max(top, int64(c.MantExp(nil))) - min(low, interval.Lowest(c)) + 2 + min(bound.Longest(m), 64)
}
