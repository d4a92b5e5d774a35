package det

import (
	"errors"
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// enclosed is a determinant that is to be enclosed: lo <= det(a) 2^-shift <= hi with a relative
// distance of about 2^-bits.
type enclosed struct {
	s      *call.Run
	a      num.Mat
	bits   int
	lo, hi *big.Float // nil at first
	shift  int64
	exact  bool // lo and hi are the determinant
	// lu holds float64 factors of A; it is nil if formats do not suffice for enclosures. loss is
	// the number of bits that the factors lose.
	lu     *seed.Factors
	loss   int
	tight  error   // blocks do not fit in memory; nil if they do
	failed bool    // the last way met numbers out of range, or its enclosure is too wide
	cost   float64 // of byPrimes; 0 before primesCost computes it
}

// Open reports whether nothing is enclosed.
func (x *enclosed) Open() bool { return x.lo == nil }

// ends returns the ends of the enclosure.
func (x *enclosed) ends() (lo, hi *big.Float) {
	lo, hi = new(big.Float).Copy(x.lo), new(big.Float).Copy(x.hi)
	ziv.ScaleExactly(lo, x.shift)
	ziv.ScaleExactly(hi, x.shift)
	return lo, hi
}

// ways are the methods for determinants on the host, faster ones first. The last one always
// succeeds.
var ways = []call.Way[*enclosed]{
	{Name: call.ByBlockTraces, Applies: (*enclosed).traceable, Faster: func(x *enclosed) bool { return x.tight != nil }, Run: (*enclosed).byBlockTraces},
	{Name: call.ByDigits, Applies: func(x *enclosed) bool {
		_, ok := x.digits()
		return ok
	}, Faster: func(x *enclosed) bool {
		d, ok := x.digits()
		return ok && digits.IsQuickDet(x.a.Rows, d)
	}, Run: (*enclosed).byDigits},
	{Name: call.ByBlocks, Applies: (*enclosed).short, Faster: func(x *enclosed) bool { return !x.failed }, Run: (*enclosed).byBlocks},
	{Name: call.ByElimination, Applies: divisible, Faster: (*enclosed).large, Run: (*enclosed).byElimination},
	{Name: call.ByPivots, Applies: factored, Faster: func(x *enclosed) bool {
		return x.large() && !x.failed && x.primesCost() >= call.InvertInCost(x.a.Rows, seed.MostBlockBits)
	}, Run: (*enclosed).byPivots},
	{Name: call.ByPrimes, Run: (*enclosed).byPrimes},
}

// waysThere are the methods at the place where a matrix lives. The host computes the determinants
// that they leave open.
var waysThere = []call.Way[*enclosed]{{Name: call.ByTraces, Run: (*enclosed).byTraces}}

// enclose encloses a determinant by the ways of the host or of the run's place. At the run's place
// the result may be left open.
func enclose(s *call.Run, a num.Mat, bits int) (*enclosed, error) {
	x := &enclosed{s: s, a: a, bits: bits}
	if !s.At.Decides() {
		if bits+256 > bound.MaxBits {
			return x, nil
		}
		return x, x.settled(call.Try(s.Ctx, waysThere, x))
	}
	if bits+256 <= bound.MaxBits && !bound.Far(a, call.MostExponent) {
		err := x.checkMemory(blocks.CheckDet(s, a, bits)) // digits take more
		if err != nil {
			return x, x.settled(err)
		}
		if x.lu, err = seed.NewFactors(s, a, scale.OfOn(s.Threads, a)); err != nil {
			return x, x.settled(err)
		}
		s.Stats.Rounds = 1
		s.Did(call.FactorCost(a.Rows))
		if x.loss, err = seed.Loss(s, x.lu); errors.Is(err, call.ErrRange) {
			x.loss = math.MaxInt
		} else if err != nil {
			return x, err
		}
		if x.tight != nil && !x.short() {
			return x, x.tight
		}
	}
	return x, x.settled(call.Try(s.Ctx, ways, x))
}

// settled stores the determinant 0 and returns nil if err says that the matrix is singular; it
// returns other errors.
func (x *enclosed) settled(err error) error {
	if !errors.Is(err, call.ErrSingular) {
		return err
	}
	x.s.Stats.Exact++
	x.lo, x.hi, x.exact = new(big.Float), new(big.Float), true
	return nil
}

func factored(x *enclosed) bool { return x.lu != nil }

// divisible reports whether an elimination by blocks has two blocks.
func divisible(x *enclosed) bool { return factored(x) && x.a.Rows > 1 }

// digits returns the number of digits that the determinant takes. ok is false if it is not to be
// computed in digits.
func (x *enclosed) digits() (d int, ok bool) {
	if !x.short() {
		return 0, false
	}
	return digits.DetDigits(x.s, x.a.Rows, x.loss, x.bits)
}

// large reports whether an elimination in many bits is likely to be faster than primes.
func (x *enclosed) large() bool { return x.a.Rows >= seed.Fewest }

// short reports whether float64 factors suffice.
func (x *enclosed) short() bool { return factored(x) && x.loss <= seed.LossyBits }

// primesCost estimates the cost of byPrimes, once.
func (x *enclosed) primesCost() float64 {
	if x.cost == 0 {
		x.cost = exactCost(x.s, x.a)
	}
	return x.cost
}

// take encloses the determinant by an approximation d with a relative error bound. It leaves
// numbers out of range to other ways.
func (x *enclosed) take(d *seed.Determinant, err error) error {
	if x.failed = errors.Is(err, call.ErrRange) || err == nil && d != nil && d.Log.MantExp(nil) > -10; x.failed {
		return nil
	}
	if err != nil || d == nil {
		return err
	}
	// exp(±log) lies within 1 ± 2 log.
	radius := bound.Upper().Mul(bound.UpperOf(d.Mid), bound.Upper().Add(d.Log, d.Log))
	wide := uint(x.bits + 256)
	x.lo = new(big.Float).SetPrec(wide).SetMode(big.ToNegativeInf).Sub(d.Mid, radius)
	x.hi = new(big.Float).SetPrec(wide).SetMode(big.ToPositiveInf).Add(d.Mid, radius)
	x.shift = d.Shift
	return nil
}

// byDigits multiplies the pivots of an elimination in fixed point.
func (x *enclosed) byDigits() error {
	d, _, err := digits.Determinant(x.s, x.a, x.lu, x.loss+x.bits, x.bits)
	return x.take(d, seed.UnlessShort(err))
}

// byBlocks multiplies the determinants of blocks and of their Schur complements.
func (x *enclosed) byBlocks() error {
	leaf := blocks.Leaf(x.bits)
	if x.s.Work.Report != nil {
		x.s.Plan(blocks.DetCost(x.lu.N, x.bits, leaf))
	}
	parts, err := blocks.ReserveDet(x.s, x.a, x.bits)
	if err != nil {
		return err
	}
	err = x.take(blocks.Determinant(x.s, x.a, x.lu, x.bits, leaf, parts))
	if err == nil && x.Open() && x.lu.LU == nil { // blocks needed the room
		x.lu, err = seed.NewFactors(x.s, x.a, x.lu.Scaling)
	}
	return err
}

// byElimination is for matrices for which float64 factors do not suffice; see Long.
func (x *enclosed) byElimination() error {
	other := x.primesCost
	if call.Forced(x.s.Ctx, call.ByElimination) {
		other = func() float64 { return math.Inf(1) }
	}
	return x.take(Long(x.s, x.a, x.lu, x.bits, other))
}

// byPivots multiplies enclosures of pivots; see Factored.
func (x *enclosed) byPivots() (err error) {
	x.lo, x.hi, x.shift, err = Factored(x.s, x.a, x.bits)
	if errors.Is(err, call.ErrRange) {
		return nil
	}
	return err
}

// byPrimes computes the determinant of integers modulo primes; see Exact.
func (x *enclosed) byPrimes() (err error) {
	x.s.Stats.Exact++
	x.lo, x.shift, err = Exact(x.s, x.a)
	x.hi, x.exact = x.lo, true
	return err
}

// byTraces is for matrices on devices; see Traced.
func (x *enclosed) byTraces() error { return x.take(Traced(x.s, x.a, x.bits)) }
