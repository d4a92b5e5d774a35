package residue

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
)

// bias adds 2^15 to each of the four 16-bit digits of a word. A number with all its digits biased
// has the unsigned digits d + 2^15. Subtracting the bias digit by digit leaves the balanced digits
// -2^15 <= d < 2^15 of the number itself.
const bias = 0x8000_8000_8000_8000

// digitPairs returns the number of pairs of balanced 16-bit digits that hold integers |a| <=
// 2^width.
func digitPairs(width int) int { return (width + 2 + 31) / 32 }

// A digitWriter writes balanced 16-bit digits of aligned numbers, one number after the other, in
// the layout of a right operand of modgemm.Convert: numbers are its columns, digits its rows.
type digitWriter struct {
	dst   []int16
	nr    int // numbers in a panel
	pairs int // pairs of digits of a number
	at    int // position of the next number
	left  int // remaining numbers of its panel
}

func newDigitWriter(dst []int16, nr, pairs int) *digitWriter {
	return &digitWriter{dst: dst, nr: nr, pairs: pairs, left: nr}
}

// next returns the position of the number to write, and advances.
func (d *digitWriter) next() int {
	at := d.at
	d.at += 2
	if d.left--; d.left == 0 {
		d.at += (d.pairs - 1) * 2 * d.nr
		d.left = d.nr
	}
	return at
}

// put writes the digits of round(mag 2^shift), negated if neg, as the next number.
func (d *digitWriter) put(neg bool, mag []uint64, shift int64) {
	at := d.next()
	step := 2 * d.nr
	pos := -shift // bit of mag that becomes bit 0
	word, s := int(pos>>6), uint(pos&63)
	// Rounding adds bit pos-1, r. The negation of x + r is ^x + 1 - r.
	carry := num.WordAt(mag, pos-1) & 1
	var flip uint64
	if neg {
		flip = ^uint64(0)
		carry = 1 - carry
	}
	var prev uint64
	if uint(word) < uint(len(mag)) {
		prev = mag[word]
	}
	for p := 0; p < d.pairs; p += 2 {
		word++
		var next uint64
		if uint(word) < uint(len(mag)) {
			next = mag[word]
		}
		x := prev>>s | next<<1<<(63-s)
		prev = next
		x, carry = bits.Add64(x^flip, bias, carry)
		x ^= bias
		o := d.dst[at : at+2 : at+2]
		o[0], o[1] = int16(x), int16(x>>16)
		if at += step; p+1 < d.pairs {
			o := d.dst[at : at+2 : at+2]
			o[0], o[1] = int16(x>>32), int16(x>>48)
			at += step
		}
	}
}

// zero writes the digits of 0 as the next number.
func (d *digitWriter) zero() {
	at := d.next()
	for range d.pairs {
		d.dst[at], d.dst[at+1] = 0, 0
		at += 2 * d.nr
	}
}

// digitScratch is the memory in which one goroutine computes digits.
type digitScratch struct {
	floats floatDigits
	words  [wordBatch / 4]modgemm.WordGroup
	rows   []uint64
	base   []int64
}

// A digitRoom is the memory in which a worker converts numbers to digits and digits to residues. It
// is kept between products: a product in many tiles would leave one for each tile to the garbage
// collector.
type digitRoom struct {
	digits, residues []int16
	scratch          digitScratch
}

var digitRooms bufpool.Shelf[*digitRoom]

// newDigitRoom returns memory for so many digits and residues, all 0.
func newDigitRoom(digits, residues int) *digitRoom {
	r, ok := digitRooms.Take(0, math.MaxInt)
	if !ok {
		r = new(digitRoom)
	}
	r.digits, r.residues = grow(&r.digits, digits), grow(&r.residues, residues)
	clear(r.digits)
	clear(r.residues)
	clear(r.scratch.rows)
	return r
}

// releaseDigits releases the memory of the workers that have some.
func releaseDigits(rooms []*digitRoom) {
	for _, r := range rooms {
		if r != nil {
			bytes := int64(unsafe.Sizeof(*r)) + bufpool.Bytes(r.digits) + bufpool.Bytes(r.residues)
			digitRooms.Put(r, cap(r.digits), bytes+bufpool.Bytes(r.scratch.rows)+bufpool.Bytes(r.scratch.base))
		}
	}
}

// wordBatch is the number of MP numbers whose digits are written at a time, a multiple of the
// columns of every kernel's panels.
const wordBatch = 256

// write writes the digits of the numbers h0 <= h < h1 of panel vectors from v0 on, aligned to width
// bits. It writes them in the order of a packed operand, group numbers at a time, as columns of a
// right operand of Convert with the given pairs.
func (o *operand) write(k *modgemm.Kernel, dst []int16, pairs int, s *digitScratch, v0, panel, h0, h1, group, width int) {
	switch {
	case o.mat.Arr.Kind == num.MP && modgemm.HasWordRows(k):
		o.digitsRows(k, dst, pairs, s, v0, panel, h0, h1, group, width)
	case o.mat.Arr.Kind == num.MP:
		o.digitsWords(k, dst, pairs, &s.words, v0, panel, h0, h1, group, width)
	case group == 2 && o.digitsPairs(k, dst, pairs, &s.floats, v0, panel, h0, h1, width):
	default:
		o.digits(newDigitWriter(dst, k.NR, pairs), v0, panel, h0, h1, group, width)
	}
}

// digitsWords is digits for MP, in vector arithmetic.
func (o *operand) digitsWords(k *modgemm.Kernel, dst []int16, pairs int, words *[wordBatch / 4]modgemm.WordGroup, v0, panel, h0, h1, group, width int) {
	a := o.mat.Arr
	l := a.Limbs()
	n := uint(0) // numbers in the batch
	flush := func() {
		modgemm.WordDigits(k, dst[:2*pairs*int(n)], pairs, a.Sig, l, words[:n/4])
		dst, n = dst[2*pairs*int(n):], 0
	}
	zeros := func(count int) {
		for range count {
			if n == wordBatch {
				flush()
			}
			words[n/4].Clear(n%4, l)
			n++
		}
	}
	filled := max(0, min(panel, o.n-v0))
	for h := h0; h < h1; h += group {
		there := max(0, min(group, o.k-h))
		row := o.mat.At(v0, h)
		for i := range filled {
			at, lowest := row, int64(64*l-width)+o.exp[v0+i]
			for range there {
				if n == wordBatch {
					flush()
				}
				w, c := &words[n/4], a.Cls[at]
				if c.Class() == num.Finite {
					w.Set(n%4, at*l, l, lowest-int64(a.Exp[at]), uint64(c&1))
				} else {
					w.Clear(n%4, l)
				}
				n++
				at += o.mat.CS
			}
			zeros(group - there)
			row += o.mat.RS
		}
		zeros(group * (panel - filled))
	}
	flush()
}

// words returns the array of an operand in MP as vector kernels take it.
func (o *operand) words() *modgemm.Words[num.Cls] {
	a := o.mat.Arr
	return &modgemm.Words[num.Cls]{Sig: a.Sig, Limbs: a.Limbs(), Exp: a.Exp, Cls: a.Cls}
}

// columnsAhead is the number of columns that digitsRows prefetches from matrices stored by columns.
const columnsAhead = 4

// digitsRows is digits for MP, in vector arithmetic on the words of one number. It processes
// numbers in the order of storage, in batches of whole groups of all vectors.
func (o *operand) digitsRows(k *modgemm.Kernel, dst []int16, pairs int, s *digitScratch, v0, panel, h0, h1, group, width int) {
	a := o.words()
	filled := max(0, min(panel, o.n-v0))
	base := grow(&s.base, filled)
	for i := range base {
		base[i] = int64(64*a.Limbs-width) + o.exp[v0+i]
	}
	// Columns of group numbers of every vector, as many as fill whole panels of Convert.
	step := k.NR / modgemm.GCD(group*panel, k.NR)
	step *= max(1, modgemm.TileBytes/(step*group*panel))
	words := (pairs + 1) / 2
	for h := h0; h < h1; h += group * step {
		columns := min(step, (h1-h)/group)
		numbers := columns * group * panel
		rows := grow(&s.rows, modgemm.RowsRoom(words, numbers))
		if filled < panel || h+group*columns > o.k {
			clear(rows)
		}
		if a.Limbs == 2 && words == 2 && (o.mat.RS == 1 || o.mat.CS == 1) {
			o.twoWordRows(k, rows, a, base, v0, panel, h, min(group*columns, o.k-h), group)
			modgemm.TransposeRows(k, dst, pairs, rows, words, numbers)
			dst = dst[2*pairs*numbers:]
			continue
		}
		for q := range columns {
			n, from := q*group*panel, h+q*group
			there := max(0, min(group, o.k-from))
			if o.mat.RS == 1 {
				for g := range there {
					modgemm.WordRows(k, rows, n+g, group, words, a, o.mat.At(v0, from+g), 1, filled, base, 1, columnsAhead*o.mat.CS)
				}
			} else if there > 0 {
				for i := range filled {
					modgemm.WordRows(k, rows, n+i*group, 1, words, a, o.mat.At(v0+i, from), o.mat.CS, there, base[i:], 0, o.mat.RS)
				}
			}
		}
		modgemm.TransposeRows(k, dst, pairs, rows, words, numbers)
		dst = dst[2*pairs*numbers:]
	}
}

// twoWordRows writes the rows of digitsRows for count numbers from h on, of two words each. The
// numbers of a vector, or of a column, must be contiguous: such numbers take half the time.
func (o *operand) twoWordRows(k *modgemm.Kernel, rows []uint64, a *modgemm.Words[num.Cls], base []int64, v0, panel, h, count, group int) {
	if o.mat.RS == 1 {
		for g := range count {
			modgemm.TwoWordRows(k, rows, g/group*group*panel+g%group, 1, 0, group, a, o.mat.At(v0, h+g), len(base), base, 1, columnsAhead*o.mat.CS)
		}
		return
	}
	for i := range base {
		if at := o.mat.At(v0+i, h); group <= 8 {
			modgemm.TwoWordRows(k, rows, i*group, group, 1, group*panel, a, at, count, base[i:], 0, o.mat.RS)
		} else {
			for g := 0; g < count; g += group {
				modgemm.TwoWordRows(k, rows, g*panel+i*group, 8, 1, 8, a, at+g, min(group, count-g), base[i:], 0, o.mat.RS)
			}
		}
	}
}

// digits writes the numbers h0 <= h < h1 of the vectors v0 <= v < v0+panel, aligned to width bits,
// in the order of a packed operand with panel vectors a panel: group by group of h, and vector by
// vector in each. Vectors and numbers beyond the operand are written as zeros, and so are
// infinities and NaN.
func (o *operand) digits(d *digitWriter, v0, panel, h0, h1, group, width int) {
	put := o.putAny
	if o.mat.Arr.Kind == num.F64 {
		put = o.putF64
	}
	filled := max(0, min(panel, o.n-v0))
	for h := h0; h < h1; h += group {
		there := max(0, min(group, o.k-h))
		at := o.mat.At(v0, h)
		for i := range filled {
			shift := int64(width) - o.exp[v0+i]
			for g := range there {
				put(d, at+g*o.mat.CS, shift)
			}
			for range group - there {
				d.zero()
			}
			at += o.mat.RS
		}
		for range group * (panel - filled) {
			d.zero()
		}
	}
}

// floatDigits is the memory for digits of binary64 in vector arithmetic: numbers in the order of
// their digits, and their scalings, both in groups of four.
type floatDigits struct {
	numbers [modgemm.TileVectors * modgemm.StepNumbers]float64
	base    [modgemm.TileVectors * modgemm.StepNumbers]int64
}

// float reports whether modgemm.Digits applies to the operand: it must be finite binary64.
func (o *operand) float(pairs int) bool {
	return o.mat.Arr.Kind == num.F64 && pairs <= modgemm.MaxDigitsPairs && !o.specials
}

// scaling returns the base of modgemm.Digits for vector v. It returns false if the vector's
// exponent is too close to the subnormal range: subnormal numbers must come out as 0, 2^126 2^890
// 2^-1022 < 1/2, and 1084 - 126 - 890 >= 64.
func (o *operand) scaling(v, width int) (base int64, ok bool) {
	if v >= o.n || o.exp[v] == zeroExp {
		return 1084, true
	}
	return 1084 - int64(width) + o.exp[v], o.exp[v] >= -890
}

// digitsTile is digits for a tile of bytes of binary64. It returns false if it does not apply.
func (o *operand) digitsTile(k *modgemm.Kernel, dst []int16, pairs int, t *floatDigits, v0, h0 int, s side, width int) bool {
	const vectors, numbers = modgemm.TileVectors, modgemm.StepNumbers
	if !o.float(pairs) {
		return false
	}
	filled, there := max(0, min(vectors, o.n-v0)), max(0, min(numbers, o.k-h0))
	for i := range vectors {
		b, ok := o.scaling(v0+i, width)
		if !ok {
			return false
		}
		for j := range 4 {
			t.base[4*i+j] = b
		}
	}
	src, rs := t.numbers[:], numbers
	data, cs, whole := o.mat.Arr.F64[0], o.mat.CS, filled == vectors && there == numbers
	switch {
	case whole && cs == 1 && o.mat.RS >= numbers:
		src, rs = data[o.mat.At(v0, h0):], o.mat.RS
	case whole && o.mat.RS == 1 && cs >= vectors:
		modgemm.Transpose(k, src, rs, data[o.mat.At(v0, h0):], cs, vectors, numbers)
	default:
		if !whole {
			clear(src)
		}
		for h := range there {
			at := o.mat.At(v0, h0+h)
			for i := range filled {
				src[i*numbers+h] = data[at]
				at += o.mat.RS
			}
		}
	}
	if s == left {
		for i := range vectors {
			modgemm.Digits(k, dst[2*pairs*numbers*i:], pairs, src[i*rs:], 4, t.base[4*i:], 0, numbers/4)
		}
	} else {
		for g := range numbers / 4 {
			modgemm.Digits(k, dst[2*pairs*4*vectors*g:], pairs, src[4*g:], rs, t.base[:], 1, vectors)
		}
	}
	return true
}

// digitsPairs is digits for groups of two binary64 numbers, from panel boundary to panel boundary
// of modgemm.Convert. It returns false if it does not apply.
func (o *operand) digitsPairs(k *modgemm.Kernel, dst []int16, pairs int, t *floatDigits, v0, panel, h0, h1, width int) bool {
	const group = 2
	if !o.float(pairs) {
		return false
	}
	// Columns of two numbers of every vector, as many as fill whole panels of Convert.
	step := k.NR / modgemm.GCD(group*panel, k.NR)
	step *= len(t.numbers) / (step * group * panel)
	for e := range t.base[:step*group*panel] {
		b, ok := o.scaling(v0+e/group%panel, width)
		if !ok {
			return false
		}
		t.base[e] = b
	}
	data, rs, cs := o.mat.Arr.F64[0], o.mat.RS, o.mat.CS
	filled := max(0, min(panel, o.n-v0))
	for h := h0; h < h1; h += group * step {
		columns := min(step, (h1-h)/group)
		numbers := t.numbers[:columns*group*panel]
		if filled < panel || h+group*columns > o.k {
			clear(numbers)
		}
		for q := range columns {
			there := min(group, o.k-(h+group*q))
			if there <= 0 {
				break
			}
			at, to := o.mat.At(v0, h+group*q), numbers[q*group*panel:]
			for i := range filled {
				to[group*i] = data[at]
				if there == group {
					to[group*i+1] = data[at+cs]
				}
				at += rs
			}
		}
		modgemm.Digits(k, dst, pairs, numbers, 4, t.base[:], 1, len(numbers)/4)
		if h+group*columns < h1 {
			dst = dst[2*pairs*len(numbers):]
		}
	}
	return true
}

func (o *operand) putAny(d *digitWriter, at int, shift int64) {
	var buf [num.MaxValueWords]uint64
	if r := o.mat.Arr.Value(at, buf[:]); r.Class == num.Finite {
		d.put(r.Neg, r.Mag, shift+r.Exp)
	} else {
		d.zero()
	}
}

func (o *operand) putF64(d *digitWriter, at int, shift int64) {
	x := o.mat.Arr.F64[0][at]
	if x == 0 || x-x != 0 {
		d.zero()
		return
	}
	m, exp := num.Decompose(x)
	d.put(math.Signbit(x), []uint64{m}, shift+exp)
}
