package abi

import (
	"math/bits"
	"slices"
	"strconv"

	"github.com/halfulp/halfulp/internal/cuda"
)

// Structures of the kernels of rows and of entries: their arguments, and their answers to the host.

// RowDigit is the number of bits of a digit.
const RowDigit = 28

// FusedFile is the source of the fused kernels.
const FusedFile = "direct"

// DigitFiles lists the sources of the kernels by numbers of digits: the source of sums and
// products, and the source of the kernels for the tensor cores ("" for none).
var DigitFiles = []struct {
	Sums, Convolve string
	Digits         []int
}{
	{FusedFile, "", []int{3, 4, 5, 6, 9}},
	{FusedFile, "convolve17", []int{13, 17}},
	{"reduce32", "convolve32", []int{24, 32}},
	{"reduce62", "convolve62", []int{48, 62}},
}

// DigitFile returns the sources of the kernels for the given number of digits. It panics if there
// are none.
func DigitFile(digits int) (sums, convolve string) {
	for _, f := range DigitFiles {
		if slices.Contains(f.Digits, digits) {
			return f.Sums, f.Convolve
		}
	}
	panic("gpu: no kernels for so many digits")
}

// ReduceDigits returns the numbers of digits for which kernels exist, in ascending order.
func ReduceDigits() []int { return reduceDigits }

var reduceDigits = func() (list []int) {
	for _, f := range DigitFiles {
		list = append(list, f.Digits...)
	}
	return list
}()

// LeftWord is the index of the word of an answer that holds the number of rows left over. The
// columns and spans of a row follow, two words each, the low half first.
const LeftWord = 0

// ColumnWord returns the index of the first word of column c - 1 of the row in an answer. The row's
// spans follow its columns.
func ColumnWord(c int) int { return LeftWord + 1 + 2*c }

// Spans are the top exponents of the addends of rows, their negated bottom exponents, and flags.
type Spans struct{ Top, Bottom, Flags cuda.Pointer }

// Flags of the addends of a row.
const (
	SeenSpecial = 1 << iota
	SeenFinite
	SeenPositiveZero
	SeenNegativeZero
)

// What an ending does with rows: it leaves their columns and spans in memory, rounds their sums, or
// writes the columns and spans of a single row to the answer.
const (
	Keeps = iota
	Rounds
	Tells
)

// RowEnding describes how the kernels of sums end: kernels/rows/conclude.cuh.
type RowEnding struct {
	To     RowRounding
	Answer cuda.Pointer
	Ticket uint32
	Does   int32
}

// RowRounding describes how the kernels of sums round.
type RowRounding struct {
	C               Target
	List            cuda.Pointer
	Unit            int64
	Error           float64
	Exact           int64
	Neg, Expansions int32
}

// MaxTiles is the most tiles of rows for which several blocks may share a tile.
const MaxTiles = 2048

// RowReduction is the argument of the kernels of kernels/rows/reduce.cuh.
type RowReduction struct {
	A, X                         Vectors
	Parts, S                     Spans
	Columns                      cuda.Pointer
	Digits, Products, Magnitudes int32
	Count, First                 int32
	Rows, Width, Buffers         int32
	Down, Later                  int32
	End                          RowEnding
}

// Integers is the argument of integersOfRows of kernels/rows/integers.cu.
type Integers struct {
	S                                         Spans
	Columns, Raw                              cuda.Pointer
	L, R                                      VectorData
	Counts                                    cuda.Pointer
	Exact                                     int64
	Digits, Rows, Words, Pitch, Expansions, _ int32
}

// FusedReduction is the argument of the kernels of kernels/rows/fused.cuh.
type FusedReduction struct {
	A, X               Vectors
	Parts              cuda.Pointer
	S                  Spans
	Columns            cuda.Pointer
	End                RowEnding
	Digits, Magnitudes int32
	LogRows, Across    int32
}

// Convolution is the argument of the kernels of kernels/rows/convolve.cuh.
type Convolution struct {
	FusedReduction
	In       ConvolveLayout
	Steps, _ int32
}

// ConvolveLayout describes how the entries of a step are laid out in memory and in shared memory,
// in words.
type ConvolveLayout struct {
	Fast, Slow                            int64
	Entry, Pitch, Log, Runs, Wide, Buffer int32
}

// The most rows of a block of these kernels, and the columns of a step.
const (
	LogConvolveRows = 4
	ConvolveRows    = 1 << LogConvolveRows
	ConvolveColumns = 4
)

// ConvolveShape is a shape of the kernels of kernels/rows/convolve.cuh.
type ConvolveShape struct {
	Groups  int // of 8 digits of 8 bits
	Kept    int // sums of products of digits that are kept
	Longest int // the most steps of a warp
	Warps   int // the most warps of a block
}

// ConvolveShapeOf returns the shape for the given number of digits of 28 bits.
func ConvolveShapeOf(digits int) ConvolveShape {
	groups := (7*digits + 15) / 16
	s := ConvolveShape{Groups: groups, Kept: min(8*groups, (14*digits+11)/4), Longest: 2048 / groups, Warps: 16}
	switch {
	case digits > 32:
		s.Warps = 8
	case digits > 24:
		s.Warps = 12
	}
	return s
}

// LayoutOf returns the layout for the rows of v.
//
// Thread 4 g + q of a warp reads 4 bytes at a time of the entries of rows g and g + 8 and column q.
// With an odd number of limbs pairs of threads share a bank. With an even number groups of four do,
// because entries are aligned to 16 bytes. No pitch is better.
func (s ConvolveShape) LayoutOf(v Vectors, digits int) ConvolveLayout {
	limbs := v.A.Limbs
	fast, slow, down := v.CS, v.RS, abs64(v.RS) < abs64(v.CS)
	fasts, slows := int32(ConvolveColumns), int32(ConvolveRows)
	if down {
		fast, slow, fasts, slows = slow, fast, slows, fasts
	}
	l := ConvolveLayout{Fast: fast * int64(limbs), Slow: slow * int64(limbs), Entry: limbs}
	if down && limbs%16 == 0 {
		l.Entry += 2
	}
	l.Pitch = fasts * l.Entry
	switch {
	case down && limbs%2 != 0:
		l.Pitch += 8
	case down || l.Entry%4 == 0:
		l.Pitch += 2
	}
	units := limbs
	if fast == 1 && l.Entry == limbs {
		l.Runs, units = 1, fasts*limbs
	}
	if v.A.Plane[0]%16 == 0 && (limbs%2 == 0 || l.Runs != 0 && v.Off%2 == 0 && slow%2 == 0) {
		l.Wide, units = 1, (units+1)/2
	}
	l.Log = min(5, int32(bits.Len32(uint32(units-1))))
	// In the end a buffer holds half of a warp's results, its sums and columns.
	l.Buffer = max(slows*l.Pitch, (ConvolveRows*int32(8*s.Groups+1)/2+ConvolveRows*int32(digits+1)+1)/2+1) &^ 1
	return l
}

func abs64(x int64) int64 { return max(x, -x) }

// OuterReduction is the argument of the kernels of kernels/rows/outer.cuh.
type OuterReduction struct {
	FusedReduction
	First, Second Fetching
}

// Fetching describes how these kernels fetch the numbers of a factor.
type Fetching struct {
	Stage, Jump         int64
	Words, Log, Size, _ int32
}

// FetchingOf returns the Fetching of the rows of v, for stages of shape s.
func (s OuterShape) FetchingOf(v Vectors) Fetching {
	f := Fetching{Size: 8, Words: min(v.A.Limbs, int32(2*s.Groups))}
	if v.A.Limbs%2 == 0 && v.A.Plane[0]%16 == 0 {
		f.Size, f.Words = 16, f.Words/2
	}
	f.Log = int32(bits.Len32(uint32(f.Words - 1)))
	step := 8 * v.CS * int64(v.A.Limbs)
	f.Stage = int64(s.Numbers()) * step
	f.Jump = int64(OuterThreads>>f.Log) * step
	return f
}

// OuterShape is a shape of the kernels of kernels/rows/outer.cuh: groups of 16 digits in radix 2^8,
// warps that share numbers, and stages in flight.
type OuterShape struct{ Groups, Warps, Depth int }

// OuterShapes lists the shapes that kernels/rows/outer.cu provides.
var OuterShapes = []OuterShape{{2, 1, 3}, {4, 2, 3}, {7, 4, 3}, {14, 8, 4}}

// OuterShapeOf returns the shape for the given number of digits of 28 bits, and whether there is
// one.
func OuterShapeOf(digits int) (OuterShape, bool) {
	for _, s := range OuterShapes {
		if RowDigit*digits <= 8*16*s.Groups {
			return s, true
		}
	}
	return OuterShape{}, false
}

// Kernel returns the name of the kernel of shape s.
func (s OuterShape) Kernel() string { return "outer" + strconv.Itoa(s.Groups) }

// Kept returns the number of antidiagonals of products of digits that are kept.
func (s OuterShape) Kept(digits int) int { return min(16*s.Groups, 7*(digits+1)/2-1) }

const outerWarps = 8 // of a block

// OuterThreads is the number of threads of a block.
const OuterThreads = 32 * outerWarps

// Numbers returns the number of numbers of a stage.
func (s OuterShape) Numbers() int { return OuterThreads / s.Warps }

// SharedBytes returns the shared memory of a block in bytes: stages, tiles of products of digits
// for each warp, antidiagonals, shifts and signs of four stages.
func (s OuterShape) SharedBytes() int {
	pitch := 16 * (s.Groups | 1)
	if s.Groups == 2 {
		pitch = 32
	}
	stage := s.Numbers() * pitch
	return (2*s.Depth+3)*stage + outerWarps*4*16*17 + 8*16*(s.Groups+1) + 4*5*s.Numbers()
}

// WordReduction is the argument of the kernels of kernels/rows/words.cuh.
type WordReduction struct {
	FusedReduction
	Limbs, Unit int32
	Inverse     uint32
	Stage       int32
}

// WordThreads is the number of threads of a block of these kernels.
const WordThreads = 512

// WordShape is a shape of the kernels of kernels/rows/words.cuh: the words of a sum and the numbers
// of a stage.
type WordShape struct{ Words, Numbers int }

// WordShapes lists the shapes that kernels/rows/words.cu provides.
var WordShapes = []WordShape{{32, 32}, {64, 16}}

// WordShapeOf returns the shape for the given number of digits, and whether there is one.
func WordShapeOf(digits int) (WordShape, bool) {
	for _, s := range WordShapes {
		if s.Words >= keptWords(digits) {
			return s, true
		}
	}
	return WordShape{}, false
}

// keptWords returns the number of words of a number that are kept.
func keptWords(digits int) int { return (RowDigit*digits + 31) / 32 }

// Kernel returns the name of the kernel of shape s.
func (s WordShape) Kernel() string { return "words" + strconv.Itoa(s.Words) }

// ReductionOf returns the arguments for the rows of numbers of r.
func (s WordShape) ReductionOf(r FusedReduction) WordReduction {
	limbs := int64(r.A.A.Limbs)
	w := WordReduction{FusedReduction: r, Limbs: int32(min(limbs, int64(keptWords(int(r.Digits))+1)/2)), Unit: 8}
	w.Inverse = ^uint32(0)/uint32(w.Limbs) + 1
	w.Stage = int32(8*s.Numbers) * w.Limbs
	aligned := (int64(r.A.A.Plane[0])+8*limbs*r.A.Off)%16 == 0 && (r.A.N == 1 || limbs*r.A.RS%2 == 0)
	if r.A.CS == 1 && int64(w.Limbs) == limbs && aligned {
		w.Unit = 16
	}
	return w
}

// SharedBytes returns the shared memory of a block in bytes: four stages a warp, and later the sums
// of warps, of words and of digits, with room for the sums of slices or for rounding.
func (s WordShape) SharedBytes(r WordReduction) int {
	const warps = WordThreads / 32
	return max(warps*4*int(r.Stage), 8*(warps*(s.Words+1)+s.Words+int(r.Digits)+1+WordThreads))
}

// AlphaWords is the most words of alpha in an Update.
const AlphaWords = 64

// KindOnes is the kind of y in an Update without y.
const KindOnes = -1

// Update is the argument of the kernel update, laid out as in kernels/rows/elementwise.cu.
type Update struct {
	X, Y       Vectors
	C          Target
	Rest       Leftovers
	Counts     cuda.Pointer
	Value      float64
	Exp        int64
	Alpha      [AlphaWords]uint64
	Cls, Bits  int32
	Floats     int32
	Add, Words int32
}

// Searching is the argument of the kernel largest, laid out as in kernels/rows/elementwise.cu.
type Searching struct {
	X             Vectors
	From, To, Odd cuda.Pointer
	N             int32
}
