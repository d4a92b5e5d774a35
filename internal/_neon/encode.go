package neon

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// A field puts an operand's number into an instruction.
type field struct {
	bits  string // an expression of Go's assembler, with @ for the number
	valid func(n int) bool
	shown string // of a number that is not encoded: what stands for it in a macro's comment
}

func number(shift, width int) field {
	return field{bits: fmt.Sprintf("@<<%d", shift), valid: func(n int) bool { return n >= 0 && n < 1<<width }}
}

// scaled is an offset in units, of width bits, two's complement if signed.
func scaled(shift, width, unit int, signed bool) field {
	low, high := 0, 1<<width
	if signed {
		low, high = -high/2, high/2
	}
	return field{bits: fmt.Sprintf("(@&%#x)<<%d", (1<<width-1)*unit, shift-bits.TrailingZeros(uint(unit))),
		valid: func(n int) bool { return n%unit == 0 && n/unit >= low && n/unit < high }}
}

// right is a shift to the right of elements of the given size, left one to the left.
func right(size int) field {
	return field{bits: fmt.Sprintf("(%d-@)<<16", 2*size), valid: func(n int) bool { return n >= 1 && n <= size }}
}

func left(size int) field {
	return field{bits: fmt.Sprintf("(%d+@)<<16", size), valid: func(n int) bool { return n >= 0 && n < size }}
}

// literal is the one number that an operand may have.
func literal(x int) field {
	return field{shown: fmt.Sprint(x), valid: func(n int) bool { return n == x }}
}

var (
	d  = number(0, 5) // also the first register that is loaded or stored
	n  = number(5, 5)
	m  = number(16, 5)
	t2 = number(10, 5) // the second of a pair
	hm = number(16, 4) // of a vector whose 16-bit elements are used
	// Elements: bits 11, 21 and 20 are the index's, the highest first.
	hLane = field{bits: "(@&4)<<9|(@&2)<<20|(@&1)<<20", valid: func(i int) bool { return i >= 0 && i < 8 }}
	sLane = field{bits: "(@&2)<<10|(@&1)<<21", valid: func(i int) bool { return i >= 0 && i < 4 }}
	dLane = field{bits: "@<<11", valid: func(i int) bool { return i >= 0 && i < 2 }}
	// after is the register that follows register d, which alone is encoded.
	after = field{shown: "(a+1)", valid: func(n int) bool { return n > 0 && n < 32 }}
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
	"mov v#.16b, v#.16b":           {0x4ea01c00, []field{d, {bits: "@<<5|@<<16", valid: n.valid}}},
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

// Encode returns the call of a macro for an instruction in the syntax of the manual, with one space
// after the mnemonic and after every comma, and the macro's definition.
func Encode(text string) (call, definition string, err error) {
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
		return "", "", fmt.Errorf("%s: no form %q", text, key)
	}
	if len(numbers) != len(f.fields) {
		return "", "", fmt.Errorf("%s: %d numbers, not %d", text, len(numbers), len(f.fields))
	}
	word := fmt.Sprintf("%#08x", f.word)
	var letters, args, shown []string
	for i, x := range numbers {
		if !f.fields[i].valid(x) {
			return "", "", fmt.Errorf("%s: %d is out of range", text, x)
		}
		if f.fields[i].bits == "" {
			shown = append(shown, f.fields[i].shown)
			continue
		}
		letter := string(rune('a' + len(letters)))
		letters = append(letters, letter)
		args = append(args, strconv.Itoa(x))
		shown = append(shown, letter)
		word += "|" + strings.TrimSuffix(strings.ReplaceAll(f.fields[i].bits, "@", letter), "<<0")
	}
	meaning := operand.ReplaceAllStringFunc(text, func(s string) string {
		t := s[:1] + shown[0]
		shown = shown[1:]
		return t
	})
	macro := macroName(key)
	return fmt.Sprintf("%s(%s)", macro, strings.Join(args, ",")),
		fmt.Sprintf("#define %s(%s) WORD $(%s) // %s", macro, strings.Join(letters, ","), word, meaning), nil
}

// arrangement is the one of a form's first operand, and the letter before a scalar register.
var arrangement = regexp.MustCompile(`v#\.(\w+)|\b([xqd])#`)

// macroName returns the name of the macro for a form: the mnemonic and the first operand's
// arrangement or letter, then _lane if the last operand is an element, _post if an address changes.
func macroName(key string) string {
	name, rest, _ := strings.Cut(key, " ")
	m := arrangement.FindStringSubmatch(rest)
	if name += m[1] + m[2]; strings.HasSuffix(name, "16b") { // the only arrangement of logic
		name = strings.TrimSuffix(name, "16b")
	}
	if strings.HasSuffix(rest, ".s[#]") || strings.HasSuffix(rest, ".d[#]") || strings.HasSuffix(rest, ".h[#]") {
		name += "_lane"
	}
	if strings.HasSuffix(rest, "], ##") {
		name += "_post"
	}
	return name
}
