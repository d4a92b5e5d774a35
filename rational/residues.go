package rational

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// primeBits is the number of bits that each of modular.Prime(i) exceeds.
const primeBits = 60

// modulo returns n modulo the field's prime, row by row, as elements.
func (s *run) modulo(f *modular.Field, n ints) ([][]uint64, error) {
	rows := make([][]uint64, n.rows)
	all := make([]uint64, n.rows*n.cols)
	shifts := f.Shifts(n.bits()/64 + 1)
	return rows, par.For(s.Ctx, s.Threads, n.rows, func(_, i int) {
		rows[i] = all[i*n.cols : (i+1)*n.cols : (i+1)*n.cols]
		var mag []uint64
		for j, x := range n.row(i) {
			if x == nil || x.Sign() == 0 {
				rows[i][j] = 0
				continue
			}
			var z uint64
			if w := x.Bits(); len(w) == 1 {
				z = f.Element(uint64(w[0]))
			} else {
				mag = num.FromInt(mag[:0], x)
				z = f.FromWords(mag, shifts)
			}
			if x.Sign() < 0 {
				z = f.Sub(0, z)
			}
			rows[i][j] = z
		}
	})
}

// A remainders has the data of the Chinese remainder theorem for some primes with product M. Primes
// exceed 1.4 2^primeBits, so that integers below 2^(k primeBits - 1), for k primes, are below 2/5
// M.
type remainders struct {
	fields  []*modular.Field
	factors []uint64  // of number i: 1 / (M / p_i) modulo p_i, an element
	inverse []float64 // 1 / p_i
	tree    [][]*big.Int
	half    *big.Int   // M / 2
	words   []uint64   // of M
	others  [][]uint64 // M / p_i in words, for few primes
}

// fewPrimes is the number of primes up to which sums of M / p_i times words are faster than the
// tree.
const fewPrimes = 512

// keptRemainders are the data for up to mostKept primes: of k primes in place k, or in one of the
// last places for larger k. They take 2 MB at most, for fewPrimes.
var keptRemainders [68]atomic.Pointer[remainders]

const mostKept = 2048

// newRemainders returns the data for the given fields.
func newRemainders(fields []*modular.Field) *remainders {
	const few = len(keptRemainders) - 4
	k := len(fields)
	switch {
	case k > mostKept:
		return makeRemainders(slices.Clone(fields))
	case k >= few:
		k = few + k%4
	}
	if r := keptRemainders[k].Load(); r != nil && slices.Equal(r.fields, fields) {
		return r
	}
	r := makeRemainders(slices.Clone(fields))
	keptRemainders[k].Store(r)
	return r
}

func makeRemainders(fields []*modular.Field) *remainders {
	r := &remainders{fields: fields, factors: make([]uint64, len(fields))}
	level := make([]*big.Int, len(fields))
	for i, f := range fields {
		level[i] = new(big.Int).SetUint64(f.P)
		r.inverse = append(r.inverse, 1/float64(f.P))
	}
	r.tree = [][]*big.Int{level}
	for len(level) > 1 {
		var next []*big.Int
		for i := 0; i < len(level); i += 2 {
			if i+1 == len(level) {
				next = append(next, level[i])
			} else {
				next = append(next, new(big.Int).Mul(level[i], level[i+1]))
			}
		}
		r.tree, level = append(r.tree, next), next
	}
	m := r.product()
	r.half = new(big.Int).Rsh(m, 1)
	r.words = append(num.FromInt(nil, m), 0)
	var other big.Int
	for i, f := range fields {
		words := num.FromInt(nil, other.Quo(m, r.tree[0][i]))
		r.factors[i] = f.Invert(element(f, words))
		if len(fields) <= fewPrimes {
			r.others = append(r.others, words)
		}
	}
	return r
}

// element returns the element of an integer in words.
func element(f *modular.Field, x []uint64) (z uint64) {
	const part = 32 // words a step
	shifts := f.Shifts(min(part, len(x)))
	for i := (len(x) - 1) / part * part; i >= 0; i -= part {
		// The last shift is 2^(64 part) as an element.
		z = f.Add(f.Mul(z, shifts[len(shifts)-1]), f.FromWords(x[i:min(len(x), i+part)], shifts))
	}
	return z
}

// product returns M.
func (r *remainders) product() *big.Int { return r.tree[len(r.tree)-1][0] }

// integer returns the integer of magnitude below 2/5 M that is element x(i) modulo prime i. With
// y_i = x_i / (M / p_i) modulo p_i it is ∑ y_i M / p_i - t M for the integer t nearest to ∑ y_i /
// p_i. Floats with relative errors below (k + 3) 2^-53 determine t: the sum is below k ≤ 512, and
// differs from t by less than 2/5.
func (r *remainders) integer(x func(i int) uint64) *big.Int {
	z := make([]uint64, len(r.words))
	negative := r.sum(z, func(i int) uint64 { return r.fields[i].Value(r.fields[i].Mul(x(i), r.factors[i])) })
	return signed(num.ToInt(z), negative)
}

// sum is integer for the y_i. It stores the magnitude in z, which has as many words as M and one
// more.
func (r *remainders) sum(z []uint64, y func(i int) uint64) (negative bool) {
	clear(z)
	if r.others == nil {
		x := r.bySubproducts(y)
		if x.Mod(x, r.product()); x.Cmp(r.half) > 0 {
			x.Sub(x, r.product())
		}
		num.FromInt(z[:0], x)
		return x.Sign() < 0
	}
	t := 0.5
	for i, other := range r.others {
		y := y(i)
		t += float64(float64(y) * r.inverse[i])
		to := z[:len(other)]
		var carry uint64
		for k, w := range other {
			hi, lo := bits.Mul64(y, w)
			var c uint64
			lo, c = bits.Add64(lo, carry, 0)
			hi += c // at most 2^64 - 1
			to[k], c = bits.Add64(to[k], lo, 0)
			carry = hi + c
		}
		for k := len(other); carry != 0; k++ {
			z[k], carry = bits.Add64(z[k], carry, 0)
		}
	}
	by, up, borrow := uint64(t), uint64(0), uint64(0)
	for k, w := range r.words {
		hi, lo := bits.Mul64(by, w)
		var c uint64
		lo, c = bits.Add64(lo, up, 0)
		up = hi + c
		z[k], borrow = bits.Sub64(z[k], lo, borrow)
	}
	if borrow != 0 {
		num.Negate(z)
	}
	return borrow != 0
}

// bySubproducts returns ∑ y_i M / p_i by the tree of products.
func (r *remainders) bySubproducts(y func(i int) uint64) *big.Int {
	v := make([]*big.Int, len(r.fields))
	for i := range v {
		v[i] = new(big.Int).SetUint64(y(i))
	}
	t := new(big.Int)
	for k := 0; len(v) > 1; k++ {
		m := r.tree[k]
		for i := 0; i < len(v); i += 2 {
			z := v[i]
			if i+1 < len(v) {
				z = z.Add(t.Mul(z, m[i+1]), v[i+1].Mul(v[i+1], m[i]))
				t = new(big.Int)
			}
			v[i/2] = z
		}
		v = v[:(len(v)+1)/2]
	}
	return v[0]
}

// log2 returns an upper bound of log2 |x|, or 0 if x is 0. It returns 0 for ±1.
func log2(x *big.Int) float64 {
	n := x.BitLen()
	if n <= 1 {
		return 0
	}
	if n <= 64 {
		return math.Log2(float64(new(big.Int).Abs(x).Uint64())) + 0x1p-30
	}
	return float64(n-64) + math.Log2(float64(leading(x, n))) + 0x1p-30
}

// norms returns upper bounds of log2 of the norms of the rows, at least 0.
func (n ints) norms() []float64 {
	z := make([]float64, n.rows)
	for i := range z {
		row := n.row(i)
		most := 0
		for _, x := range row {
			if x != nil {
				most = max(most, x.BitLen())
			}
		}
		sum := 0.0 // of squares, divided by 4^most: relative errors are at most (n + 4) 2^-52
		for _, x := range row {
			if x == nil {
				continue
			}
			b := x.BitLen()
			if b < most-400 { // adds less than 2^-800
				continue
			}
			var y float64
			if b <= 64 {
				y = math.Ldexp(float64(new(big.Int).Abs(x).Uint64()), -most)
			} else {
				y = math.Ldexp(float64(leading(x, b)), b-64-most)
			}
			sum += float64(y * y)
		}
		if most > 0 { // the largest square is at least 1/4
			z[i] = max(0, float64(most)+float64(math.Log2(sum)/2)) + 0x1p-20
		}
	}
	return z
}

func total(x []float64) (sum float64) {
	for _, x := range x {
		sum += x
	}
	return sum
}

// bothNorms returns norms for the rows and for the columns.
func (n ints) bothNorms() (rows, cols []float64) {
	return n.bothNormsOf(n.bits(), func(i int) (uint64, int) {
		x := n.a[i]
		if x == nil {
			return 0, 0
		}
		b := x.BitLen()
		if b <= 64 {
			return low64(x), b
		}
		return leading(x, b), b
	})
}

// bothNormsOf is bothNorms for integers of at most the given bits: the leading 64 bits of integer
// i, or all of them, and its number of bits.
func (n ints) bothNormsOf(most int, leading func(i int) (uint64, int)) (rows, cols []float64) {
	rows, cols = make([]float64, n.rows), make([]float64, n.cols)
	for i := range rows { // sums of squares, divided by 4^most: relative errors as in norms
		sum := 0.0
		for j := range cols {
			x, b := leading(i*n.cols + j)
			y := scaled(x, max(b-64, 0)-most)
			y = float64(y * y)
			sum += y
			cols[j] += y
		}
		rows[i] = sum
	}
	for _, list := range [][]float64{rows, cols} {
		for i, sum := range list {
			if sum < 0x1p-700 { // small numbers may have been lost
				return n.norms(), n.transposed().norms()
			}
			list[i] = max(0, float64(most)+float64(math.Log2(sum)/2)) + 0x1p-20
		}
	}
	return rows, cols
}

// low64 returns |x| modulo 2^64.
func low64(x *big.Int) uint64 {
	if x.Sign() < 0 {
		if w := x.Bits(); bits.UintSize == 64 && len(w) > 0 {
			return uint64(w[0])
		}
		return new(big.Int).Neg(x).Uint64()
	}
	return x.Uint64()
}

// scaled returns x 2^e, or 0 for e < -900; e is at most 0.
func scaled(x uint64, e int) float64 {
	if e < -900 {
		return 0
	}
	return float64(x) * math.Float64frombits(uint64(1023+e)<<52)
}

// hadamard returns a bound of the bits of the determinant of a square matrix: Hadamard's bound by
// the norms of the rows or of the columns.
func hadamard(rows, cols []float64) int { return int(min(total(rows), total(cols))) + 1 }

// primesFor returns fields of primes that do not divide d, with a product above 2^(bits + 1):
// integers of so many bits are determined by their residues.
func primesFor(bits int, d *big.Int) (fields []*modular.Field) {
	for i := 0; len(fields)*primeBits <= bits; i++ {
		f := modular.Numbered(i)
		if f.Integer(d) != 0 {
			fields = append(fields, f)
		}
	}
	return fields
}

// log2Above returns log2 x for x ≥ 1, or at most 0.0003 more; at most 0 for 0. It takes a tangent
// of the logarithm, which is concave, at the middle of the 1/32 of a binade that x lies in.
func log2Above(x float64) float64 {
	b := math.Float64bits(x)
	t := &tangents[b>>47&31]
	mantissa := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	return float64(int(b>>52)-1023) + t.value + float64(t.slope*(mantissa-t.at))
}

// tangents of log2 between 1 and 2. Their values are upper bounds with room for rounding errors.
var tangents = func() (z [32]struct{ at, value, slope float64 }) {
	for i := range z {
		c := float64(65+2*i) / 64
		z[i].at, z[i].value, z[i].slope = c, math.Log2(c)+0x1p-40, math.Log2E/c
	}
	return z
}()

// signed returns x, or -x if negative is set. It may change x.
func signed(x *big.Int, negative bool) *big.Int {
	if negative {
		return x.Neg(x)
	}
	return x
}
