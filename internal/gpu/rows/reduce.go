package rows

import (
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Counts counts the methods by which results of level 1 and 2 were obtained.
type Counts struct {
	Digits int   // digits in radix 2^28 that the last pass on the device kept
	Again  int64 // results that needed a second pass
	Host   int64 // results computed by the host's exact sum
}

// Reduce computes a reduction of host vectors, rounded to nearest even, into number 0 of z, like
// direct.Reduction.Round.
func Reduce(dev *cuda.Device, cfg par.Run, r direct.Reduction, x, y num.Vec, z *num.Array) (num.Flags, Counts, error) {
	return reduceHost(dev, cfg, r, false, x, y, z)
}

// Norm computes the Euclidean norm of a host vector, rounded to nearest even, into number 0 of z,
// like direct.Norm.
func Norm(dev *cuda.Device, cfg par.Run, x num.Vec, z *num.Array) (num.Flags, Counts, error) {
	return reduceHost(dev, cfg, direct.Squares, true, x, x, z)
}

// ReduceOnDevice is Reduce for vectors in the memory of the device of s; z is a host array.
func ReduceOnDevice(s *cuda.Stream, cfg par.Run, r direct.Reduction, x, y mem.Vector, z *num.Array) (num.Flags, Counts, error) {
	return reduceOnDevice(s, cfg, r, false, x, y, z)
}

// NormOnDevice is Norm for a vector in the memory of the device of s; z is a host array.
func NormOnDevice(s *cuda.Stream, cfg par.Run, x mem.Vector, z *num.Array) (num.Flags, Counts, error) {
	return reduceOnDevice(s, cfg, direct.Squares, true, x, x, z)
}

func reduceHost(dev *cuda.Device, cfg par.Run, r direct.Reduction, root bool, x, y num.Vec, z *num.Array) (flags num.Flags, counts Counts, err error) {
	if r != direct.Dot {
		y = x
	}
	cfg = cfg.Filled()
	p := reducing{cfg: cfg, r: r, root: root, z: z, given: &[2]num.Vec{x, y}}
	if !applies(x.N) || r == direct.Asum && x.Arr.Terms() > 1 {
		flags, err = p.onHost()
		return flags, p.counts, err
	}
	err = dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
		p.s = s
		u, err := mem.UploadVector(s, x)
		if err != nil {
			return err
		}
		defer u.Arr.Free()
		p.x, p.y = u, u
		if r == direct.Dot {
			if p.y, err = mem.UploadVector(s, y); err != nil {
				return err
			}
			defer p.y.Arr.Free()
		}
		flags, err = p.run()
		return err
	})
	return flags, p.counts, err
}

func reduceOnDevice(s *cuda.Stream, cfg par.Run, r direct.Reduction, root bool, x, y mem.Vector, z *num.Array) (num.Flags, Counts, error) {
	if r != direct.Dot {
		y = x
	}
	p := reducing{cfg: cfg.Filled(), s: s, r: r, root: root, x: x, y: y, z: z}
	if !applies(x.N) || r == direct.Asum && x.Arr.Terms() > 1 {
		flags, err := p.onHost()
		return flags, p.counts, err
	}
	flags, err := p.run()
	return flags, p.counts, err
}

// maxEntries bounds the entries of a row, so that all counts of addends fit in 32 bits.
const maxEntries = 1 << 27

// applies reports whether the device can compute rows of k entries.
func applies(k int) bool { return k > 0 && k <= maxEntries }

// A reducing is a reduction with access to its operands.
type reducing struct {
	cfg    par.Run
	s      *cuda.Stream
	r      direct.Reduction
	root   bool // the result is the square root of the sum
	x, y   mem.Vector
	z      *num.Array
	given  *[2]num.Vec // host operands; nil if they live on the device
	counts Counts
}

// host returns the operands in host memory.
func (p *reducing) host() (x, y num.Vec, err error) {
	if p.given != nil {
		return p.given[0], p.given[1], nil
	}
	copies := mem.NewHostCopies(p.s)
	if x, err = copies.Vector(p.x); err != nil {
		return x, y, err
	}
	y, err = copies.Vector(p.y)
	return x, y, err
}

// onHost computes the reduction on the host.
func (p *reducing) onHost() (num.Flags, error) {
	p.counts.Host = 1
	x, y, err := p.host()
	if err != nil {
		return 0, err
	}
	w := direct.Work{Run: p.cfg}
	if p.root {
		flags, _, err := direct.Norm(w, x, p.z)
		return flags, err
	}
	flags, _, err := p.r.Round(w, x, y, p.z)
	return flags, err
}

func (p *reducing) run() (num.Flags, error) {
	q := &rowSums{s: p.s, a: p.x.Row(), magnitudes: p.r == direct.Asum}
	if p.r == direct.Dot || p.r == direct.Squares {
		x := p.y.Row()
		q.x = &x
	}
	defer q.free()
	digits := q.digitsToRound(p.z.Format)
	for k := digits; k != 0; {
		h, err := q.sums(k)
		if err != nil {
			return 0, err
		}
		p.counts.Digits = k
		if flags, ok := p.round(h); ok {
			return flags, nil
		}
		if h.special(0) || h.exact(0) {
			break
		}
		if k = q.digitsAgain(digits, h.spread(0)); k != 0 {
			p.counts.Again = 1
		}
	}
	return p.onHost()
}

// round stores the result if the sums determine it. If a number lost bits to underflow, an
// enclosure does not tell whether it is exact, and so whether it counts as an underflow.
func (p *reducing) round(h *hostSums) (num.Flags, bool) {
	if !p.root && !h.special(0) && h.flags[0]&abi.SeenFinite != 0 {
		if v := h.sum(0); !num.IsZero(v.Mag) {
			return p.roundSum(h, v)
		}
	}
	var a superacc.Acc
	bound, ok := h.add(&a, 0, unitReal)
	if !ok {
		return 0, false
	}
	if bound.Class == num.Zero {
		return p.z.Set(0, p.value(&a)), true
	}
	a.Add(bound)
	flags := p.z.Set(0, p.value(&a))
	bound.Neg = true
	bound.Exp++
	a.Add(bound)
	return flags, p.same(p.value(&a), flags)
}

// roundSum is round for a nonzero sum v, without an accumulator.
func (p *reducing) roundSum(h *hostSums, v num.Real) (num.Flags, bool) {
	if h.exact(0) {
		return p.z.Set(0, v), true
	}
	errors, shift := h.q.error()
	bound := []uint64{errors << shift, errors >> (64 - shift)}
	num.SubShifted(v.Mag, bound)
	if int64(v.Mag[len(v.Mag)-1]) < 0 || num.IsZero(v.Mag) {
		return 0, false
	}
	flags := p.z.Set(0, v)
	num.AddShifted(v.Mag, bound)
	num.AddShifted(v.Mag, bound)
	return flags, p.same(v, flags)
}

// same reports whether v rounds to the stored result, with the same flags.
func (p *reducing) same(v num.Real, flags num.Flags) bool {
	other := num.New(p.z.Format, 1)
	return other.Set(0, v) == flags && flags&num.Underflow == 0 && other.SameBits(0, p.z, 0)
}

// value returns the result that corresponds to an exact sum.
func (p *reducing) value(a *superacc.Acc) num.Real {
	if !p.root {
		return a.Value(p.z.Format)
	}
	v := a.RootValue(p.z.Format)
	if v.Class != num.Finite {
		v.Neg = false
		return v
	}
	if v.Neg { // the lower end of an enclosure that contains 0
		return num.Real{Class: num.NaN}
	}
	return superacc.Root(p.z.Format, v, big.NewInt(1))
}

var unitReal = num.Real{Class: num.Finite, Mag: []uint64{1}}

// significandBits returns the bits of a significand of format f; for expansions, of a term.
func significandBits(f num.Format) int { return int(f.Prec) }

// digitsToRound returns the number of digits that determine the rounding to format f of most sums,
// 0 if no kernels support so many. On data of similar size a sum of n addends is about 2^P sqrt(n),
// and the reference is rowMargin above P. 16 bits below that and below the error make failures
// rare.
func (q *rowSums) digitsToRound(f num.Format) int {
	if !q.fits() {
		return 0
	}
	n := q.addends()
	for _, k := range abi.ReduceDigits() {
		if abi.RowDigit*k >= f.Bits()+bits.Len64(uint64(n))/2+bits.Len64(q.errorDigits(k))+rowMargin+16 {
			return k
		}
	}
	return 0
}

// digitsOfExact returns a number of digits, greater than in the last pass, with which the sums of
// rows are exact whose addends' exponents spread over at most spread bits; 0 if no kernels support
// so many.
func (q *rowSums) digitsOfExact(spread int64) int {
	for _, k := range abi.ReduceDigits() {
		if k > q.digits && spread <= q.exactSpread(k) {
			return k
		}
	}
	return 0
}

// digitsAgain returns the number of digits of the next pass for rows whose addends' exponents
// spread over at most spread bits, 0 to leave them to the host. It is digitsOfExact, or else, after
// the first pass, the next larger number of digits, because the reference can be up to a digit too
// high.
func (q *rowSums) digitsAgain(first int, spread int64) int {
	if k := q.digitsOfExact(spread); k != 0 || q.digits != first {
		return k
	}
	for _, k := range abi.ReduceDigits() {
		if k > first {
			return k
		}
	}
	return 0
}

// errorDigits bounds the error of an addend for k digits, in units of B^-k, B = 2^RowDigit:
// kernels/rows/reduce.cuh, outer.cuh and convolve.cuh.
func (q *rowSums) errorDigits(k int) uint64 {
	switch {
	case q.x == nil:
		return 2
	case q.outer(k):
		return q.outerError(k)
	case q.convolves(k):
		return convolveError(k)
	}
	return uint64(k + 4)
}

// exactSpread returns the largest spread, in bits, of the exponents of a row's addends with which k
// digits hold their sum exactly. A first factor then has ceil((spread + its bits) / RowDigit)
// digits, a second factor ceil(its bits / RowDigit), and the index of the last column of their
// product is the sum of both minus 2.
func (q *rowSums) exactSpread(k int) int64 {
	if q.outer(k) {
		return q.outerSpread(k)
	}
	if q.convolves(k) {
		return q.convolveSpread(k)
	}
	if q.x != nil {
		k -= (significandBits(q.x.Arr.Format)+abi.RowDigit-1)/abi.RowDigit - 1
	}
	return int64(abi.RowDigit*k - significandBits(q.a.Arr.Format))
}
