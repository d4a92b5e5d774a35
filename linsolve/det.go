package linsolve

import (
	"errors"
	"fmt"
	"math/big"
	mathbits "math/bits"
	"sync"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/raw"
)

// Det returns the determinant of a square matrix A, correctly rounded to format f; +0 for a
// singular one, and 1 for n = 0.
//
// The determinant is that of an elimination in fixed point, of digits that AVX2 and AVX-512
// multiply, or for large orders and without these that of a block times that of its Schur
// complement, block after block in the order of float64 factors' pivots: in so many bits that a
// proved bound of all errors changes nothing. Where A lives on a GPU or on a grid of processes it
// is made there, of traces of powers of what float64 factors leave of A. Matrices that are too
// ill-conditioned for float64 factors are eliminated in more bits, in fixed point or by blocks, on
// the host; where that is not proved, the determinant is the product of enclosed pivots of factors.
// Small ones of them and ties have the determinant of their integers computed modulo primes, until
// their product exceeds twice Hadamard's bound; larger ones that are singular are proved to be so
// as Rank proves it.
//
// The error wraps ErrNotFinite for infinities and NaN. It wraps halfulp.ErrMemory, and names the
// bytes, if an elimination in fixed point takes more than Options.MemoryLimit on the host. Det
// panics if A is not square.
// Stats.Overflow counts a determinant that became infinite, Stats.Underflow one that lost bits
// below the smallest normal number of f.
func Det(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, Stats, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, err := start("Det", opt, a)
	if err != nil {
		return halfulp.Scalar{}, Stats{}, err
	}
	defer s.release()
	var d halfulp.Scalar
	err = s.there(a, leastTraces, func(a *halfulp.Matrix) (done bool, err error) {
		d, done, err = s.det(a, f)
		return done, err
	})
	if err != nil {
		return halfulp.Scalar{}, s.stats, fmt.Errorf("Det: %w", err)
	}
	s.stage("determinant")
	s.finished()
	return d, s.stats, nil
}

// beyond is how many bits beyond its format a determinant is computed in at first: all but one of
// some 2^12 are decided.
const beyond = 12

// det returns the determinant. It is not done where the solver's place does not decide it.
func (s *solver) det(a *halfulp.Matrix, f halfulp.Format) (d halfulp.Scalar, done bool, err error) {
	if a.Rows() == 0 {
		return halfulp.NewScalar(f, big.NewFloat(1)), true, s.Ctx.Err()
	}
	if s.at == nil {
		if err := finite("A", a); err != nil {
			return d, false, err
		}
	}
	for bits := f.Bits() + beyond; bits <= f.Bits()+beyond+2*suspicion; bits += suspicion {
		lo, hi, shift, err := s.encloseDet(a, bits)
		if errors.Is(err, ErrSingular) {
			s.stats.Exact++
			return halfulp.NewScalar(f, new(big.Float)), true, nil
		}
		if err != nil && !errors.Is(err, ErrRange) {
			return d, false, err
		}
		if lo == nil {
			break
		}
		scaleExactly(lo, shift)
		scaleExactly(hi, shift)
		if l, u := halfulp.NewScalar(f, lo), halfulp.NewScalar(f, hi); l.Same(u) {
			s.leavesRange(l, lo, hi)
			return l, true, nil
		}
	}
	if s.at != nil {
		return d, false, nil
	}
	s.stats.Exact++
	x, shift, err := s.exactDet(a)
	if err != nil {
		return d, false, err
	}
	scaleExactly(x, shift)
	d = halfulp.NewScalar(f, x)
	s.leavesRange(d, x, x)
	return d, true, nil
}

// scaleExactly makes x 2^e of x, where e may be none of an int of 32 bits.
func scaleExactly(x *big.Float, e int64) {
	for e != 0 && x.Sign() != 0 && !x.IsInf() {
		part := max(-1<<30, min(e, 1<<30))
		x.SetMantExp(x, int(part))
		e -= part
	}
}

// leavesRange counts a finite number in [x, y] that rounds to z if it becomes infinite, or if it
// loses bits below the smallest normal number of z's format; where z itself lies there, that is
// taken for the number. All results that are single numbers are counted by it.
func (s *solver) leavesRange(z halfulp.Scalar, x, y *big.Float) {
	if z.IsInf(0) && !x.IsInf() && !y.IsInf() {
		s.stats.Overflow++
	}
	if underflows(z, x, y) {
		s.stats.Underflow++
	}
}

// underflows reports whether all numbers in [x, y], which round to z, lose bits below the smallest
// normal number of z's format; where z itself lies there, that is taken for the number.
func underflows(z halfulp.Scalar, x, y *big.Float) bool {
	if z.Format().IsMP() || z.IsInf(0) || z.IsNaN() {
		return false
	}
	loses := func(x *big.Float) bool {
		const prec = 4096 // further bits are lost as well where one of these is
		m := halfulp.NewMatrixBig(halfulp.MP(prec), 1, 1, []*big.Float{new(big.Float).SetPrec(prec).SetMode(big.ToZero).Set(x)})
		return raw.Matrix(halfulp.NewMatrix(z.Format(), 1, 1)).Arr.Convert(0, raw.Matrix(m).Arr, 0)&num.Underflow != 0
	}
	least := -1074
	if z.Format() == halfulp.Float32 {
		least = -149
	}
	b := z.Big()
	// The usual case. The last term of an expansion may lie anywhere below the first.
	if f := z.Format(); f.Bits() <= 53 && b.Sign() != 0 && b.MantExp(nil) > least+f.Bits()+64 {
		return false
	}
	return (b.Cmp(x) < 0 || b.Cmp(y) > 0) && loses(x) && loses(y)
}

// An entry of a result.
type entry struct {
	z    *halfulp.Matrix
	i, j int
}

// lostEntries are entries of results that lost bits below the smallest normal number. Ways that
// give up and those after them may tell of the same ones.
type lostEntries struct {
	mu   sync.Mutex
	list map[entry]bool
}

// lose notes entry (i, j) of z, to which all numbers in [x, y] are rounded, if it underflows.
func (s *solver) lose(z *halfulp.Matrix, i, j int, x, y *big.Float) {
	if !z.Format().IsMP() && underflows(z.At(i, j), x, y) {
		s.lost.note(entry{z, i, j})
	}
}

func (l *lostEntries) note(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		l.list = map[entry]bool{}
	}
	l.list[e] = true
}

// encloseDet returns lo <= det(a) 2^-shift <= hi, about 2^-bits apart relative to them, or nil if
// float64 factors do not suffice, or formats. At the solver's place traces tell it, on the host
// blocks. The error wraps ErrSingular if a is proved to be singular.
func (s *solver) encloseDet(a *halfulp.Matrix, bits int) (lo, hi *big.Float, shift int64, err error) {
	if bits+256 > bound.MaxBits || s.at == nil && bound.Far(a, mostExponent) {
		return nil, nil, 0, nil
	}
	var d *determinant
	var f *factors
	if s.at != nil {
		d, err = s.traced(a, bits)
	} else {
		if f, err = s.factor(raw.Matrix(a), scale.Of(raw.Matrix(a))); err != nil {
			return nil, nil, 0, err
		}
		s.stats.Rounds = 1
		s.Did(factorCost(a.Rows()))
		d, err = s.shortDeterminant(a, f, bits)
	}
	if s.at == nil && (err == nil || errors.Is(err, ErrRange)) && (d == nil || d.log.MantExp(nil) > -10) {
		if d, err = s.longDeterminant(a, f, bits); err == nil && d == nil {
			return s.factoredDet(a, bits)
		}
	}
	if err != nil || d == nil || d.log.MantExp(nil) > -10 {
		return nil, nil, 0, err
	}
	// exp(±log) lies within 1 ± 2 log.
	radius := bound.Upper().Mul(bound.UpperOf(d.mid), bound.Upper().Add(d.log, d.log))
	wide := uint(bits + 256)
	lo = new(big.Float).SetPrec(wide).SetMode(big.ToNegativeInf).Sub(d.mid, radius)
	hi = new(big.Float).SetPrec(wide).SetMode(big.ToPositiveInf).Add(d.mid, radius)
	return lo, hi, d.shift, nil
}

// shortDeterminant returns the determinant, with a log of about 2^-places, of an A that float64
// factors suffice for, else nil.
func (s *solver) shortDeterminant(a *halfulp.Matrix, f *factors, places int) (*determinant, error) {
	loss, err := s.loss(f)
	if err != nil || loss > lossy {
		return nil, err
	}
	if d, err := s.quickDeterminant(a, f, loss, places); d != nil || err != nil {
		return d, err
	}
	if s.Work.Report != nil {
		s.Plan(detCost(f.n, places, leaf(places)))
	}
	return s.determinant(a, f, places, leaf(places))
}

// factoredDet is encloseDet by the pivots of factors from an elimination in enough bits; nil if
// there are none.
func (s *solver) factoredDet(a *halfulp.Matrix, bits int) (lo, hi *big.Float, shift int64, err error) {
	want := bits + 2*mathbits.Len(uint(a.Rows())) + 8
	p, e, err := s.luByElimination(a, bound.MaxBits, want, func() error { return s.regular(a) })
	for ; e != nil && err == nil; e, err = p.enclosure(want) {
		want = e.bits
		x, shift := e.pivots(a.Rows())
		if x.Lo.Sign() == x.Hi.Sign() && x.Lo.Sign() != 0 {
			width := new(big.Float).SetPrec(64).Sub(x.Hi, x.Lo)
			missing := width.Quo(width, x.Hi).MantExp(nil) + bits
			if width.Sign() == 0 || missing <= 0 {
				if odd(p.order) {
					x.Lo, x.Hi = x.Hi.Neg(x.Hi), x.Lo.Neg(x.Lo)
				}
				return x.Lo, x.Hi, shift, nil
			}
			want += missing
		} else {
			want *= 2 // a pivot's enclosure has 0 in it
		}
	}
	return nil, nil, 0, err
}

// pivots encloses the product of the n pivots, divided by 2^shift.
func (e *enclosure) pivots(n int) (x interval.Interval, shift int64) {
	p := e.arithmetic()
	x = interval.Interval{Lo: p.Down().SetInt64(1), Hi: p.Up().SetInt64(1)}
	for j := range n {
		y := e.upper(j, j)
		by := -max(y.Lo.MantExp(nil), y.Hi.MantExp(nil))
		x = p.Mul(x, interval.Interval{Lo: y.Lo.SetMantExp(y.Lo, by), Hi: y.Hi.SetMantExp(y.Hi, by)})
		shift -= int64(by)
	}
	return x, shift
}

// odd reports whether a permutation is odd.
func odd(order []int) bool {
	seen, result := make([]bool, len(order)), false
	for i := range order {
		for j := order[i]; !seen[i] && j != i; j = order[j] {
			seen[j], result = true, !result
		}
	}
	return result
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
	step := primeStep(m)
	for next := modular.Primes(); product.BitLen() <= bits+1; {
		f := modular.New(next())
		rows, err := f.Matrix(s.Ctx, s.Threads, m)
		if err != nil {
			return nil, 0, err
		}
		pivots, d, err := f.Eliminate(s.Ctx, s.Threads, rows, m.Cols, false)
		if err != nil {
			return nil, 0, err
		}
		if len(pivots) < m.Rows {
			d = 0
		}
		s.stats.Primes++
		// det + product k with the residue d
		d = f.Mul(d, f.Power2(-shift))
		k := f.Mul(f.Sub(d, f.Integer(det)), f.Invert(f.Integer(product)))
		v := new(big.Int).SetUint64(f.Value(k))
		det.Add(det, v.Mul(v, product))
		product.Mul(product, new(big.Int).SetUint64(f.P))
		s.Did(step)
		s.Plan(float64((bits-product.BitLen())/60) * step)
	}
	if half := new(big.Int).Rsh(product, 1); det.Cmp(half) > 0 {
		det.Sub(det, product)
	}
	return new(big.Float).SetPrec(uint(max(det.BitLen(), 64))).SetInt(det), shift, nil
}
