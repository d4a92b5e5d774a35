package residue

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/rounding"
)

// A base is a residue number system: the first n moduli of a pool, with the constants for
// conversion and reconstruction. Bases are shared and immutable, except for their caches.
type base struct {
	pool   *pool
	moduli []int
	planes []int    // moduli of products: moduli, and the redundant modulus if there is one
	log2M  float64  // log2 of the product, rounded down
	big    *big.Int // M, the product
	inv    []int64  // (M/m_t)^-1 mod m_t

	prepare      sync.Once
	kernelModuli []modgemm.Modulus     // planes as kernels take them
	byteModuli   []modgemm.ByteModulus // or planes as kernels of bytes take them

	mu        sync.Mutex
	constants map[constantsKey][]int16
	toBytes   map[constantsKey]*modgemm.ByteConversion
	weights   map[weightsKey]*weights

	used int64 // value of bases.time when it was last requested
}

// maxTables bounds the tables of one kind that a base keeps: a product needs one or two.
const maxTables = 16

type constantsKey struct {
	kernel string
	from   int // the first modulus
	to     int // the one after the last
	pairs  int
	left   bool
}

type weightsKey struct {
	kernel string
	cut    int
}

// A pool holds the pairwise coprime moduli of bases, and the bits of the products of the first n of
// them, rounded down.
type pool struct {
	moduli []int
	bits   []float64
	bytes  *modgemm.BytePool // if products are products of bytes
	check  int               // redundant modulus, larger than the others and coprime to them, or 0
}

// residuePool is the pool for products of residues of 13 bits.
var residuePool = sync.OnceValue(func() *pool { return newPool(modgemm.Moduli(13)) })

// newPool returns the pool of the given moduli, which must be pairwise coprime.
func newPool(moduli []int) *pool {
	p := &pool{moduli: moduli, bits: make([]float64, len(moduli)+1)}
	for t, m := range p.moduli {
		p.bits[t+1] = p.bits[t] + math.Log2(float64(m)) - 1e-12
	}
	return p
}

// checkedPool is residuePool without its largest modulus, a prime, which is the redundant modulus.
var checkedPool = sync.OnceValue(func() *pool {
	moduli := modgemm.Moduli(13)
	p := newPool(moduli[1:])
	p.check = moduli[0]
	return p
})

// bytePool is the pool for products of bytes.
var bytePool = sync.OnceValue(func() *pool {
	p := modgemm.ByteModuli()
	return &pool{moduli: p.Moduli, bits: p.Bits, bytes: p}
})

// checkedBytePool is bytePool without its largest modulus, a prime, which is the redundant modulus:
// the first of its Karatsuba moduli.
var checkedBytePool = sync.OnceValue(func() *pool {
	p, check := modgemm.ByteModuli().Checked()
	return &pool{moduli: p.Moduli, bits: p.Bits, bytes: p, check: check}
})

// products returns the number of matrix products for the first n moduli, or for these and the
// redundant modulus. It is also the index of the first plane of bytes of modulus n.
func (p *pool) products(n int) int {
	if p.bytes == nil {
		return n
	}
	return p.bytes.Products(n)
}

// products returns the number of matrix products for all planes.
func (b *base) products() int {
	n := b.pool.products(len(b.moduli))
	if b.pool.check != 0 {
		n += b.pool.checkProducts()
	}
	return n
}

// checkProducts returns the number of matrix products for the redundant modulus.
func (p *pool) checkProducts() int {
	if p.bytes == nil {
		return 1
	}
	return modgemm.KaratsubaProducts
}

// plain returns the number of planes of one byte, which come first.
func (b *base) plain() int { return min(b.pool.bytes.Plain, len(b.moduli)) }

// maxModuli bounds the number of moduli of a base, because reconstruction sums them in int64.
const maxModuli = 900

// bases holds the bases that are kept between products.
var bases struct {
	sync.Mutex
	of   map[baseKey]*base
	time int64
}

// A baseKey is the pool of a base and the number of its moduli.
type baseKey struct {
	pool *pool
	n    int
}

// keptBases bounds the bytes of bases that are kept between products.
const keptBases = 32 << 20

// trimBases drops the least recently requested bases until the others take at most limit bytes.
func trimBases(limit int64) {
	bases.Lock()
	defer bases.Unlock()
	list := slices.SortedFunc(maps.Values(bases.of), func(x, y *base) int { return cmp.Compare(y.used, x.used) })
	for _, b := range list {
		if limit -= b.bytes(); limit < 0 {
			delete(bases.of, baseKey{b.pool, len(b.moduli)})
		}
	}
}

// prepared returns the moduli of planes as the kernels of the pool take them.
func (b *base) prepared() ([]modgemm.Modulus, []modgemm.ByteModulus) {
	b.prepare.Do(func() {
		for _, m := range b.planes {
			if b.pool.bytes != nil {
				b.byteModuli = append(b.byteModuli, modgemm.NewByteModulus(m))
			} else {
				b.kernelModuli = append(b.kernelModuli, modgemm.NewModulus(m))
			}
		}
	})
	return b.kernelModuli, b.byteModuli
}

// modulusBytes is the approximate size of a prepared modulus.
const modulusBytes = 256

// bytes returns the approximate memory of the base.
func (b *base) bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := (8+modulusBytes)*int64(len(b.inv)) + int64(b.big.BitLen()/8)
	for _, c := range b.constants {
		n += 2 * int64(len(c))
	}
	for _, c := range b.toBytes {
		n += c.Bytes()
	}
	for _, w := range b.weights {
		n += w.bytesTaken()
	}
	return n
}

// tableBytes returns the memory of the tables of a product that rounds to integers of these widths.
func (b *base) tableBytes(k *modgemm.Kernel, widthL, widthR int) int64 {
	n := len(b.planes)
	rows := len(residueDigits)
	if b.pool.bytes != nil { // two bytes in place of an int16
		rows = len(modgemm.CombinedDigits)
	}
	rows *= int(b.log2M)/wordBits + 4
	return 2 * int64(modgemm.LeftLen(k, n, 2*digitPairs(widthL))+modgemm.LeftLen(k, n, 2*digitPairs(widthR))+
		modgemm.LeftLen(k, rows, n))
}

// baseOf returns the base of the first n moduli of a pool.
func baseOf(p *pool, n int) *base {
	bases.Lock()
	defer bases.Unlock()
	bases.time++
	key := baseKey{p, n}
	if b := bases.of[key]; b != nil {
		b.used = bases.time
		return b
	}
	b := &base{
		pool:      p,
		moduli:    p.moduli[:n],
		planes:    p.moduli[:n],
		log2M:     p.bits[n],
		big:       big.NewInt(1),
		inv:       make([]int64, n),
		constants: map[constantsKey][]int16{},
		toBytes:   map[constantsKey]*modgemm.ByteConversion{},
		weights:   map[weightsKey]*weights{},
	}
	if p.check != 0 {
		b.planes = append(slices.Clip(b.moduli), p.check)
	}
	for t, m := range b.moduli {
		b.big.Mul(b.big, big.NewInt(int64(m)))
		r := int64(1)
		for s, q := range b.moduli {
			if s != t {
				r = r * int64(q) % int64(m)
			}
		}
		b.inv[t] = new(big.Int).ModInverse(big.NewInt(r), big.NewInt(int64(m))).Int64()
	}
	b.used = bases.time
	if bases.of == nil {
		bases.of = map[baseKey]*base{}
	}
	bases.of[key] = b
	return b
}

// conversion returns the left operand of Convert for the planes from <= t < to: the row of modulus
// m_t holds 2^(16 s) mod m_t for each digit s, multiplied by entryWeight(t, left).
func (b *base) conversion(k *modgemm.Kernel, from, to, pairs int, left bool) []int16 {
	key := constantsKey{k.Name, from, to, pairs, left}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.constants[key]; ok {
		return c
	}
	n := to - from
	rows := make([]int16, n*2*pairs)
	for i, m := range b.planes[from:to] {
		w := b.entryWeight(from+i, left)
		for s := range 2 * pairs {
			rows[i*2*pairs+s] = int16(modgemm.Balanced(w, int64(m)))
			w = w << 16 % int64(m)
		}
	}
	c := make([]int16, modgemm.LeftLen(k, n, 2*pairs))
	modgemm.PackLeft(k, c, rows, n, 2*pairs, 2*pairs)
	if len(b.constants) >= maxTables {
		clear(b.constants)
	}
	b.constants[key] = c
	return c
}

// entryWeight returns the factor of numbers modulo m_t. Numbers of left operands are multiplied by
// (M/m_t)^-1, so that the products are ready for the Chinese remainder sum. Numbers modulo the
// redundant modulus are not multiplied.
func (b *base) entryWeight(t int, left bool) int64 {
	if left && t < len(b.inv) {
		return b.inv[t]
	}
	return 1
}

// byteConversion returns the conversion to bytes modulo the planes from index from on.
func (b *base) byteConversion(from, pairs int, left bool) *modgemm.ByteConversion {
	key := constantsKey{"", from, len(b.planes), pairs, left}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, ok := b.toBytes[key]; ok {
		return c
	}
	var w []int64
	for t := from; t < len(b.planes); t++ {
		w = append(w, b.entryWeight(t, left))
	}
	c := modgemm.NewByteConversion(b.planes[from:], w, pairs)
	if len(b.toBytes) >= maxTables {
		clear(b.toBytes)
	}
	b.toBytes[key] = c
	return c
}

// wordBits is the number of bits of the words that Combine forms from three digits.
const wordBits = rounding.WordBits

// weights are the constants of the reconstruction from residues y_t. With W_t = round(M/m_t 2^-cut)
// and q the integer nearest to sum y_t/m_t, the number is 2^cut (sum y_t W_t - q round(M 2^-cut)),
// up to the reconstruction error.
//
// Word 0 of the weights is 2^39/m_t; its sum gives q. Words 1 to words are W_t in radix 2^39. With
// a redundant modulus one more word follows: see checkWeights.
//
// On tiles the two bytes of a residue have separate weights, the weights of the upper byte h being
// for h - 64 in y_t = l + 2^8 (h - 64) (see modgemm.CombineBytes). These are 2^8 times the weights
// of the lower byte, minus the multiple of (2^39, round(M 2^-cut)) that leaves at most about half
// of it. A multiple e subtracts e (h - 64) from q, and as many round(M 2^-cut) from the sum, so the
// integer is the same. |q| < 2^10 holds for at most 852 Karatsuba moduli, which have |y_t|/m_t <=
// 1/2 and the multiple 0, and 48 plain moduli, whose lower byte contributes at most 255/m_t < 8 and
// whose upper byte, 0 or -1, at most 1/2.
type weights struct {
	cut    int
	words  int
	panels int
	packed []int16
	bytes  *modgemm.ByteCombination // in place of packed, on tiles
	m      []int64                  // round(M 2^-cut) in radix 2^39; the last word holds the rest
	mod    *rounding.Modulus        // the same
	err    float64                  // bound of the reconstruction error in units of 2^cut
	check  *checkWeights
}

// reconstruction returns the weights that drop the bits below 2^cut.
func (b *base) reconstruction(k *modgemm.Kernel, cut int) *weights {
	key := weightsKey{k.Name, cut}
	b.mu.Lock()
	defer b.mu.Unlock()
	if w, ok := b.weights[key]; ok {
		return w
	}
	n, tiles := len(b.moduli), b.pool.bytes != nil
	bits, columns := residueDigits, n
	// Words needed for |W_t| <= M/m_t 2^-cut with a sign, or for half of M 2^-cut.
	top := int(math.Ceil(b.log2M+1e-6-math.Log2(float64(slices.Min(b.moduli))))) + 2
	if tiles {
		top = int(math.Ceil(b.log2M+1e-6)) + 1
		bits, columns = modgemm.CombinedDigits[:], 2*n
	}
	w := &weights{cut: cut, words: max(1, (top-cut+wordBits-1)/wordBits)}
	if b.pool.check != 0 {
		w.check = b.checkWeights(cut, w.words)
	}
	rows := weightRows{bits, columns, w.words, make([]int16, len(bits)*w.sums()*columns)}
	var quotient, x big.Int
	m := shiftRound(new(big.Int).Set(b.big), cut)
	for t, q := range b.moduli {
		quotient.Div(b.big, x.SetInt64(int64(q)))
		f, rest := (int64(1)<<wordBits+int64(q)/2)/int64(q), int64(0)
		if w.check != nil {
			rest = w.check.rest(&quotient, cut)
		}
		shiftRound(&quotient, cut)
		if !tiles {
			rows.set(t, f, &quotient, rest)
			continue
		}
		rows.set(2*t, f, &quotient, rest)
		e := nearestWords(f<<8, bits)
		f, rest = f<<8-e<<wordBits, rest<<8
		quotient.Lsh(&quotient, 8).Sub(&quotient, x.Mul(m, x.SetInt64(e)))
		if w.check != nil {
			rest = modgemm.Balanced(rest-e*w.check.r, int64(b.pool.check))
		}
		rows.set(2*t+1, f, &quotient, rest)
	}
	if tiles {
		w.bytes = modgemm.NewByteCombination(rows.digits, w.sums(), n)
	} else {
		count := len(bits) * w.sums()
		w.panels = modgemm.LeftPanels(k, count)
		w.packed = make([]int16, modgemm.LeftLen(k, count, n))
		modgemm.PackLeft(k, w.packed, rows.digits, count, n, n)
	}
	w.m = make([]int64, w.words)
	mask := x.SetInt64(1<<wordBits - 1)
	var word big.Int
	for i := range w.words - 1 {
		w.m[i] = word.And(m, mask).Int64()
		m.Rsh(m, wordBits)
	}
	w.m[w.words-1] = m.Int64()
	w.mod = rounding.NewModulus(w.m)
	if cut > 0 {
		// |y_t| <= 2^12, or 2^14 on tiles, and |q| <= n/2 + 1; each is multiplied by a rounding
		// error of at most 1/2.
		most := 1 << 12
		if tiles {
			most = 1 << 14
		}
		w.err = float64(float64(n)*float64(most/2)) + float64(float64(n)/4) + 1
	}
	if len(b.weights) >= maxTables {
		clear(b.weights)
	}
	b.weights[key] = w
	return w
}

// sums returns the number of words that are summed.
func (w *weights) sums() int {
	if w.check != nil {
		return w.words + 2
	}
	return w.words + 1
}

// rowsOfWords returns the number of words for which the sums have room.
func (w *weights) rowsOfWords(k *modgemm.Kernel) int {
	return max(w.sums(), w.panels*k.MR/3)
}

// bytesTaken returns the approximate memory of the weights.
func (w *weights) bytesTaken() int64 {
	n := 2*int64(len(w.packed)) + 8*int64(len(w.m))
	if w.bytes != nil {
		n += w.bytes.Bytes()
	}
	return n
}

// residueDigits are the bits of the digits of a word if residues are not split into bytes.
var residueDigits = []uint{13, 13, 13}

// weightRows are the digits of weights, with a row for each digit of each word.
type weightRows struct {
	bits    []uint // of the digits of a word
	columns int
	words   int // of W_t
	digits  []int16
}

// set writes a column: the word of q, the words of x, and the word of the redundant modulus if
// there is one.
func (r *weightRows) set(column int, q int64, x *big.Int, rest int64) {
	word := len(r.bits) * r.columns
	var t big.Int
	digits(r.digits[column:], r.columns, r.bits, 1, t.SetInt64(q))
	digits(r.digits[word+column:], r.columns, r.bits, r.words, x)
	if len(r.digits) > (r.words+1)*word {
		digits(r.digits[(r.words+1)*word+column:], r.columns, r.bits, 1, t.SetInt64(rest))
	}
}

// shiftRound replaces x >= 0 by round(x 2^-cut).
func shiftRound(x *big.Int, cut int) *big.Int {
	if cut > 0 {
		half := new(big.Int).Lsh(big.NewInt(1), uint(cut-1))
		x.Add(x, half).Rsh(x, uint(cut))
	}
	return x
}

// digits writes the balanced digits of x to dst[0], dst[stride], ...: words words of digits with
// the given widths in bits, 39 in total. It requires |x| < 2^(39 words - 1) - 2^(39 words - 6).
func digits(dst []int16, stride int, widths []uint, words int, x *big.Int) {
	// With half of its radix added, every digit is an unsigned digit.
	bias := new(big.Int)
	for range words {
		bias.Lsh(bias, wordBits).Add(bias, big.NewInt(halves(widths)))
	}
	v := bias.Add(bias, x)
	at := 0
	for range words {
		for _, bits := range widths {
			var d uint
			for j := range bits {
				d |= v.Bit(at) << j
				at++
			}
			dst[0] = int16(int(d) - 1<<(bits-1))
			dst = dst[min(stride, len(dst)):]
		}
	}
}

// halves returns the sum of half of the radix of each digit of a word, at the digit's place.
func halves(widths []uint) (half int64) {
	at := uint(0)
	for _, bits := range widths {
		half |= 1 << (at + bits - 1)
		at += bits
	}
	return half
}

// nearestWords returns the e for which the digits of a word can hold x - 2^39 e.
func nearestWords(x int64, widths []uint) int64 { return (x + halves(widths)) >> wordBits }
