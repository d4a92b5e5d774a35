package neon

import (
	"fmt"
	"regexp"
	"strconv"
)

// A field puts an operand's number into an instruction.
type field struct {
	bits  func(n int) uint32
	valid func(n int) bool
}

func number(shift, width int) field {
	return field{func(n int) uint32 { return uint32(n) << shift }, func(n int) bool { return n >= 0 && n < 1<<width }}
}

// scaled is an offset in units, of width bits, two's complement if signed.
func scaled(shift, width, unit int, signed bool) field {
	low, high := 0, 1<<width
	if signed {
		low, high = -high/2, high/2
	}
	return field{func(n int) uint32 { return uint32(n/unit) & (1<<width - 1) << shift },
		func(n int) bool { return n%unit == 0 && n/unit >= low && n/unit < high }}
}

// right is a shift to the right of elements of the given size, left one to the left.
func right(size int) field {
	return field{func(n int) uint32 { return uint32(2*size-n) << 16 }, func(n int) bool { return n >= 1 && n <= size }}
}

func left(size int) field {
	return field{func(n int) uint32 { return uint32(size+n) << 16 }, func(n int) bool { return n >= 0 && n < size }}
}

// literal is the one number that an operand may have.
func literal(x int) field {
	return field{func(int) uint32 { return 0 }, func(n int) bool { return n == x }}
}

var (
	d  = number(0, 5) // also the first register that is loaded or stored
	n  = number(5, 5)
	m  = number(16, 5)
	t2 = number(10, 5) // the second of a pair
	hm = number(16, 4) // of a vector whose 16-bit elements are used
	// Elements: bits 11, 21 and 20 are the index's, the highest first.
	hLane = field{func(i int) uint32 { return uint32(i>>2&1)<<11 | uint32(i>>1&1)<<21 | uint32(i&1)<<20 }, func(i int) bool { return i >= 0 && i < 8 }}
	sLane = field{func(i int) uint32 { return uint32(i>>1&1)<<11 | uint32(i&1)<<21 }, func(i int) bool { return i >= 0 && i < 4 }}
	dLane = field{func(i int) uint32 { return uint32(i&1) << 11 }, func(i int) bool { return i >= 0 && i < 2 }}
	// after is the register that follows register d, which alone is encoded.
	after = field{func(int) uint32 { return 0 }, func(n int) bool { return n > 0 && n < 32 }}
)

// A form is an instruction with its kinds of operands: the bits that are fixed, and what the
// numbers of its text are, in their order.
type form struct {
	word   uint32
	fields []field
}

var (
	two   = []field{d, n}
	three = []field{d, n, m}
	pair  = []field{d, t2, n, scaled(15, 7, 16, true)}
	loads = []field{d, n, scaled(10, 12, 16, false)}
)

// forms lists the A64 instructions that the kernels use, in their text with every number replaced
// by #. The encodings come from the Arm Architecture Reference Manual; neon_test.go compares
// examples with another assembler.
var forms = map[string]form{
	"ldr q#, [x#, ##]":             {0x3dc00000, loads},
	"str q#, [x#, ##]":             {0x3d800000, loads},
	"ldr d#, [x#, ##]":             {0xfd400000, []field{d, n, scaled(10, 12, 8, false)}},
	"ldp q#, q#, [x#, ##]":         {0xad400000, pair},
	"stp q#, q#, [x#, ##]":         {0xad000000, pair},
	"ldp q#, q#, [x#], ##":         {0xacc00000, pair},
	"stp q#, q#, [x#], ##":         {0xac800000, pair},
	"ld1r {v#.4s}, [x#]":           {0x4d40c800, two},
	"ld1r {v#.2d}, [x#]":           {0x4d40cc00, two},
	"ld2 {v#.8h, v#.8h}, [x#], ##": {0x4cdf8400, []field{d, after, n, literal(32)}},
	"st2 {v#.8h, v#.8h}, [x#], ##": {0x4c9f8400, []field{d, after, n, literal(32)}},

	"smlal v#.4s, v#.4h, v#.h[#]":  {0x0f402000, []field{d, n, hm, hLane}},
	"smlal2 v#.4s, v#.8h, v#.h[#]": {0x4f402000, []field{d, n, hm, hLane}},
	"smlal v#.2d, v#.2s, v#.s[#]":  {0x0f802000, []field{d, n, m, sLane}},
	"smlal2 v#.2d, v#.4s, v#.s[#]": {0x4f802000, []field{d, n, m, sLane}},
	"mla v#.4s, v#.4s, v#.s[#]":    {0x6f800000, []field{d, n, m, sLane}},
	"mls v#.4s, v#.4s, v#.s[#]":    {0x6f804000, []field{d, n, m, sLane}},
	"add v#.2d, v#.2d, v#.2d":      {0x4ee08400, three},
	"sshr v#.2d, v#.2d, ##":        {0x4f000400, []field{d, n, right(64)}},
	"ushr v#.2d, v#.2d, ##":        {0x6f000400, []field{d, n, right(64)}},
	"sshr v#.4s, v#.4s, ##":        {0x4f000400, []field{d, n, right(32)}},
	"ushr v#.4s, v#.4s, ##":        {0x6f000400, []field{d, n, right(32)}},
	"shl v#.4s, v#.4s, ##":         {0x4f005400, []field{d, n, left(32)}},
	"sshll v#.4s, v#.4h, ##":       {0x0f00a400, []field{d, n, left(16)}},
	"sshll2 v#.4s, v#.8h, ##":      {0x4f00a400, []field{d, n, left(16)}},
	"sshll v#.2d, v#.2s, ##":       {0x0f00a400, []field{d, n, left(32)}},
	"sshll2 v#.2d, v#.4s, ##":      {0x4f00a400, []field{d, n, left(32)}},
	"smin v#.4s, v#.4s, v#.4s":     {0x4ea06c00, three},
	"smax v#.4s, v#.4s, v#.4s":     {0x4ea06400, three},
	"uzp1 v#.4s, v#.4s, v#.4s":     {0x4e801800, three},
	"uzp1 v#.8h, v#.8h, v#.8h":     {0x4e401800, three},
	"xtn v#.2s, v#.2d":             {0x0ea12800, two},
	"movi v#.2d, ##":               {0x6f00e400, []field{d, literal(0)}},
	"movi v#.16b, ##":              {0x4f07e7e0, []field{d, literal(255)}},
	"mov v#.16b, v#.16b":           {0x4ea01c00, []field{d, {func(r int) uint32 { return uint32(r)<<5 | uint32(r)<<16 }, n.valid}}},
	"dup v#.4s, w#":                {0x4e040c00, two},
	"fmov x#, d#":                  {0x9e660000, two},

	"and v#.16b, v#.16b, v#.16b": {0x4e201c00, three},
	"orr v#.16b, v#.16b, v#.16b": {0x4ea01c00, three},
	"eor v#.16b, v#.16b, v#.16b": {0x6e201c00, three},
	"bsl v#.16b, v#.16b, v#.16b": {0x6e601c00, three},
	"bit v#.16b, v#.16b, v#.16b": {0x6ea01c00, three},
	"bif v#.16b, v#.16b, v#.16b": {0x6ee01c00, three},
	"mvn v#.16b, v#.16b":         {0x6e205800, two},

	"scvtf v#.4s, v#.4s":         {0x4e21d800, two},
	"fcvtns v#.4s, v#.4s":        {0x4e21a800, two},
	"fmul v#.4s, v#.4s, v#.s[#]": {0x4f809000, []field{d, n, m, sLane}},
	"fmla v#.4s, v#.4s, v#.s[#]": {0x4f801000, []field{d, n, m, sLane}},
	"fmla v#.2d, v#.2d, v#.d[#]": {0x4fc01000, []field{d, n, m, dLane}},
	"fadd v#.4s, v#.4s, v#.4s":   {0x4e20d400, three},
	"fsub v#.4s, v#.4s, v#.4s":   {0x4ea0d400, three},
	"fadd v#.2d, v#.2d, v#.2d":   {0x4e60d400, three},
	"fsub v#.2d, v#.2d, v#.2d":   {0x4ee0d400, three},
	"fmul v#.2d, v#.2d, v#.2d":   {0x6e60dc00, three},
	"fdiv v#.2d, v#.2d, v#.2d":   {0x6e60fc00, three},
	"fmla v#.2d, v#.2d, v#.2d":   {0x4e60cc00, three},
	"fmls v#.2d, v#.2d, v#.2d":   {0x4ee0cc00, three},
	"fsqrt v#.2d, v#.2d":         {0x6ee1f800, two},
	"fabs v#.2d, v#.2d":          {0x4ee0f800, two},
	"fneg v#.2d, v#.2d":          {0x6ee0f800, two},
	"fneg v#.4s, v#.4s":          {0x6ea0f800, two},
	"frintn v#.2d, v#.2d":        {0x4e618800, two},
	"frintm v#.2d, v#.2d":        {0x4e619800, two},
	"frintz v#.2d, v#.2d":        {0x4ee19800, two},
	"fcmeq v#.2d, v#.2d, v#.2d":  {0x4e60e400, three},
	"fcmge v#.2d, v#.2d, v#.2d":  {0x6e60e400, three},
	"fcmgt v#.2d, v#.2d, v#.2d":  {0x6ee0e400, three},
}

// A number of an operand, but not of an arrangement such as 4s, nor of a mnemonic.
var operand = regexp.MustCompile(`(\b[vqdxw]|[\[#])(-?[0-9]+)`)

// Encode returns the word of an instruction in the syntax of the manual, one space after the
// mnemonic and after every comma.
func Encode(text string) (uint32, error) {
	var numbers []int
	key := operand.ReplaceAllStringFunc(text, func(s string) string {
		x, err := strconv.Atoi(s[1:])
		if err != nil {
			panic(err) // the expression matches digits
		}
		numbers = append(numbers, x)
		return s[:1] + "#"
	})
	f, ok := forms[key]
	if !ok {
		return 0, fmt.Errorf("%s: no form %q", text, key)
	}
	if len(numbers) != len(f.fields) {
		return 0, fmt.Errorf("%s: %d numbers, not %d", text, len(numbers), len(f.fields))
	}
	word := f.word
	for i, x := range numbers {
		if !f.fields[i].valid(x) {
			return 0, fmt.Errorf("%s: %d is out of range", text, x)
		}
		word |= f.fields[i].bits(x)
	}
	return word, nil
}
