package residue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/rounding"
)

// ErrHardware is wrapped by errors about results that contradict their redundant modulus.
var ErrHardware = errors.New("hardware fault")

// A HardwareError reports that the integer reconstructed for an entry of a product is not congruent
// to the product of the factors modulo the redundant modulus. It wraps ErrHardware.
type HardwareError struct {
	Device   string // where the product ran
	Row, Col int    // the entry of the product, from 0
	Modulus  int    // the redundant modulus
	// The compared residues, 0 <= r < Modulus: of the integer reconstructed from the other
	// residues, and of the product.
	Integer, Product int
}

func (e *HardwareError) Error() string { return e.From(0) }

// From returns the text of e with rows and columns counted from first instead of 0.
func (e *HardwareError) From(first int) string {
	return fmt.Sprintf("%v: entry (%d, %d) of a product on %s: its integer is %d modulo %d, the product of the residues %d",
		ErrHardware, e.Row+first, e.Col+first, e.Device, e.Integer, e.Modulus, e.Product)
}

// Unwrap returns ErrHardware.
func (e *HardwareError) Unwrap() error { return ErrHardware }

// Check counts the entries compared modulo a redundant modulus.
type Check struct {
	Modulus  int   // 0 if no check was requested
	Compared int64 // entries whose integer was compared
	// Unchecked counts entries whose value comes from multi-limb arithmetic, which nothing checks:
	// the entries of the exact pass, and all entries if residues do not apply.
	Unchecked int64
}

// Add adds the counts of another part of the same result.
func (c *Check) Add(d Check) {
	c.Modulus = max(c.Modulus, d.Modulus)
	c.Compared += d.Compared
	c.Unchecked += d.Unchecked
}

// checkWeights compares the integer V that is rounded, in units of 2^cut, with the product X modulo
// the redundant modulus m. X = sum y_t M/m_t - q M is the integer without a cut, so that
//
//	X = 2^cut V + sum y_t R_t - q R, R_t = M/m_t - 2^cut W_t, R = M - 2^cut round(M 2^-cut),
//
// exactly. The last word of Combine is sum y_t r_t, r_t = R_t mod m.
//
// Which faults are caught. m is a prime larger than all m_t. Let the residues modulo one m_t be
// wrong, of an entry or of all of them: y_t becomes y_t + d, where d is not 0 modulo m_t. X becomes
// X' with X' - X = (d - e m_t) M/m_t for an integer e, and d - e m_t is not 0. Both X and X' are
// sums minus the nearest multiple of M, up to the error of the rounded weights of q: |X' - X| < M
// (1 + 2^-19), so |d - e m_t| <= m_t < m. m divides neither d - e m_t nor M/m_t: X' differs from X
// modulo m, and the fault is caught. A wrong residue modulo m is caught as well. A flipped bit of a
// sum or of V changes one side by a power of two, and a flipped bit of q, which occurs twice,
// changes 2^cut V by a multiple of M; m divides neither. Faults of several moduli or words at once,
// including residues outside of their range, pass if they happen to cancel modulo m: one in m if
// they are random. A bound of the result (Bound) that does not hold changes X by a multiple e M, 0
// < e < m, and is caught.
//
// Which faults are not caught: faults of the numbers of the factors, of their exponents and digits,
// which affect all moduli alike; of the addition of old entries, except under a Bound; of the
// rounding of V; and of results after they are stored.
type checkWeights struct {
	modulus uint64
	powers  []uint64 // 2^(cut + 32 k) mod m
	r       int64    // R mod m, balanced
	word    int      // index of the word of the check among the sums
	inv     uint64   // m^-1 modulo 2^64
	most    uint64   // floor((2^64 - 1) / m)
	offset  int64    // a multiple of m, about 2^62
}

// checkWeights returns the weights that check integers with the given cut and words.
func (b *base) checkWeights(cut, words int) *checkWeights {
	m := int64(b.pool.check)
	c := &checkWeights{modulus: uint64(m), word: words + 1, most: math.MaxUint64 / uint64(m), offset: 1 << 62 / m * m, inv: 1}
	for range 6 { // Newton's iteration: 1 is right modulo 2, since m is odd
		c.inv *= 2 - c.modulus*c.inv
	}
	c.r = c.rest(b.big, cut)
	power := new(big.Int).Exp(big.NewInt(2), big.NewInt(int64(cut)), big.NewInt(m)).Uint64()
	for range 2 * ((wordBits*(words-1)+64+127)/64 + 1) {
		c.powers = append(c.powers, power)
		power = power << 32 % uint64(m)
	}
	return c
}

// rest returns x - 2^cut round(x 2^-cut) modulo m, balanced, for x >= 0.
func (c *checkWeights) rest(x *big.Int, cut int) int64 {
	m := int64(c.modulus)
	y := shiftRound(new(big.Int).Set(x), cut)
	y.Lsh(y, uint(cut)).Sub(x, y)
	return modgemm.Balanced(y.Mod(y, big.NewInt(m)).Int64(), m)
}

// excess returns 2^cut V + sum y_t R_t - q R - X, up to a multiple of m, for the integer of entry e
// of the words. It is 0 modulo m unless a fault occurred. v is 2^cut V up to a multiple of m.
func (f *finisher) excess(v int64, words []int64, stride, e int) int64 {
	c := f.w.check
	q := (words[e] + 1<<(wordBits-1)) >> wordBits
	return v + words[c.word*stride+e] - q*c.r - int64(f.residues[e])
}

// divides reports whether m divides x, |x| < 2^61.
func (c *checkWeights) divides(x int64) bool {
	// The product of x with m^-1 is the quotient x/m if m divides x, and larger otherwise.
	return uint64(x+c.offset)*c.inv <= c.most
}

// differs records the first entry whose integer contradicts the redundant modulus.
func (f *finisher) differs(i, j int, excess int64, e int) {
	if f.fault != nil {
		return
	}
	m := int64(f.w.check.modulus)
	plain := func(x int64) int { return int((x%m + m) % m) }
	product := int64(f.residues[e])
	f.fault = &HardwareError{"cpu", f.i0 + i, f.j0 + j, int(m), plain(excess + product), plain(product)}
}

// agrees compares v, the integer of entry (i, j), which is entry e of the words, with its product
// modulo the redundant modulus.
func (f *finisher) agrees(i, j int, v *value, words []int64, stride, e int) bool {
	c := f.w.check
	var sum uint64 // at most 2^11 words times 2^32 2^13
	for k, w := range v.mag {
		sum += (w&(1<<32-1))*c.powers[2*k] + w>>32*c.powers[2*k+1]
	}
	integer := int64(sum)
	if v.neg {
		integer = -integer
	}
	excess := f.excess(integer, words, stride, e)
	if c.divides(excess) {
		return true
	}
	f.differs(i, j, excess, e)
	return false
}

// agreeAcross is agrees for the integers of row i in a, in the columns j + first to j + n - 1,
// which are the numbers from e + first on of the step.
func (f *finisher) agreeAcross(a *across, i, j, first, n int, words []int64, stride, e int) bool {
	c := f.w.check
	sums := a.sums[:n-first]
	clear(sums)
	from := rounding.Pad(a.format.Limbs)*stride + e + first
	for k := range a.count {
		low, high := c.powers[2*k], c.powers[2*k+1]
		for d, w := range a.mag[from:][:len(sums)] {
			sums[d] += (w&(1<<32-1))*low + w>>32*high
		}
		from += stride
	}
	e += first
	j += first
	special, neg := f.right.special[j:][:len(sums)], a.neg[e:][:len(sums)]
	for d, sum := range sums {
		sign := int64(neg[d]) // 0 or -1
		excess := f.excess(int64(sum)^sign-sign, words, stride, e+d)
		if !c.divides(excess) && !special[d] {
			f.differs(i, j+d, excess, e+d)
			return false
		}
	}
	return true
}

// Shifted adds i0 and j0 to the position of a HardwareError that the product of a part of a matrix
// returned, and returns other errors unchanged.
func Shifted(err error, i0, j0 int) error {
	if e := (*HardwareError)(nil); errors.As(err, &e) {
		e.Row += i0
		e.Col += j0
	}
	return err
}

// spoil is the function of Spoil, or nil.
var spoil atomic.Pointer[func(residues []int16, stride int)]

// Spoil makes f change the residues of every block of products, plane by plane, stride apart,
// before the integers are reconstructed, until restore is called. It is for tests.
func Spoil(f func(residues []int16, stride int)) (restore func()) {
	old := spoil.Swap(&f)
	return func() { spoil.Store(old) }
}

// before reports whether e precedes o in row order.
func (e *HardwareError) before(o *HardwareError) bool {
	return o == nil || e.Row < o.Row || e.Row == o.Row && e.Col < o.Col
}
