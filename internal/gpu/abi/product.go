package abi

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/place"
)

// What kernels of products take and tell the host.

// Totals are the extremes of the vectors of an operand, as kernels/exact/scan.cu makes them.
type Totals struct {
	Norm  float64 // of the largest sum of magnitudes in units of the vector's 2^exp
	Width int64   // bits that hold every vector exactly
	Flags uint32
	_     uint32
}

// A Sample is what is known of one entry of the result, as kernels/exact/scan.cu makes it: its
// exponent over alpha relative to those of its vectors, NoSize or less for zero, and their norms.
// If cancelled is not 0 the old entry cancels the product, and size is that of either.
type Sample struct{ Size, NormL, NormR, Cancelled float64 }

// Report is what the scan tells the host.
type Report struct {
	Left, Right Totals
	Samples     [MaxSamples]Sample
}

// Outcome is what became of the entries: the lengths of the lists of those for the exact pass and
// for the host, and how many results left the range.
type Outcome struct {
	List, Rest          uint32
	Overflow, Underflow uint64
	// of the first entry, column after column, that contradicts its redundant modulus, the
	// complement of its place << 32 | residue of the integer << 16 | residue of the product; or 0
	Fault uint64
}

// Control is what a product keeps on the device, as kernels/common/report.cuh has it.
type Control struct {
	Report
	Outcome
	_, _ uint32 // a counter of blocks
}

// ToldAt is where what kernels tell the host begins in the mailbox, as kernels/common/report.cuh
// has it.
const ToldAt = 8

// Tiles of the products, in vectors and in numbers.
const (
	Tile      = 128
	TileBytes = Tile * Tile
	// numbers of a vector that a block of residues converts, of residues0
	Strip      = 128
	ShortStrip = 64
)

// StepBytes is the number of digits that one instruction of the tensor cores sums over.
const StepBytes = 32

// MaxSteps is the number of steps of 32 digits that kernels/exact/residues.cu takes in a pass. Only
// the digits of expansions have to fit one.
const MaxSteps = 8

// ShortBits is the most bits of integers that kernel residues0 takes, of numbers of one word and
// for plain moduli.
const ShortBits = 126

// ShortWords is the most words of integers that kernel finish0 takes.
const ShortWords = 6

// ShortRows is the number of rows of a column that a warp of finish0 finishes, and ShortBytes the
// shared memory that it takes.
const (
	ShortRows  = 128
	ShortBytes = 4 * TileDigits * 40
)

// TileDigits is the number of digits of weights that the tensor cores take at a time.
const TileDigits = 16

// FinishSteps are the steps of 32 bytes of residues for which kernels/exact/finish.cu has kernels.
// finishLong takes more.
var FinishSteps = []int{1, 2, 3, 5, 9, 13, 17, 20}

// QuotientBits is the scale of the weights of the quotient: F_t = round(2^33/m_t).
const QuotientBits = 33

// Groups returns the groups of residues of an entry: 16 bytes or 8 half words.
func Groups(plain, karatsuba int) (bytes, halfWords int) {
	return (plain + 15) / 16, (karatsuba + 7) / 8
}

// FragmentByte is the place of digit row of a tile, for a place of a group, in a table of
// fragments of mma.m16n8k32 of the given steps.
func FragmentByte(tile, steps, row, group, place int) int {
	lane, word := row%8*4+place/4, row/8+group%2*2
	return ((tile*steps+group/2)*32+lane)*16 + word*4 + place%4
}

// OldSample says what old entries scan compares samples with: ratio 2^exp is beta over alpha.
type OldSample struct {
	Old         Numbers
	Off, RS, CS int64
	Ratio       float64
	Exp         int64
}

// Scanned is where scan puts what it finds of vectors: exponents, least exponents, norms and flags,
// and at total their extremes; 0 stands for vectors that need no scan.
type Scanned struct{ Exp, Low, Norm, Flags, Total cuda.Pointer }

// Panels are the left factor in panels, as kernels/exact/scan.cu takes it: panel p is numbers
// Start[p] <= h < Start[p+1] of every vector, and what is known of it record p, at At + p Size.
type Panels struct {
	At                 cuda.Pointer
	Size               int64
	Count, Width, N, K int32
	Start              [place.MaxPanels + 1]int32
	_                  int32
}

// A Lead is a number to some 50 bits, X 2^Exp, of a sampled row of a panel.
type Lead struct {
	X   float64
	Exp int64
}

// Record returns where record p has what is found of vectors, and the numbers of sampled rows:
// Width of each.
func (q *Panels) Record(p int) (found Scanned, leads cuda.Pointer) {
	n := cuda.Pointer(q.N)
	exp := q.At + cuda.Pointer(int64(p)*q.Size)
	leads = exp + 24*n
	return Scanned{Exp: exp, Low: exp + 8*n, Norm: exp + 16*n, Flags: leads + cuda.Pointer(16*MaxSamples*int64(q.Width))}, leads
}

// RecordBytes is the size of a record of n vectors, of which at most width numbers are in a panel.
func RecordBytes(n, width int) int64 { return (25*int64(n) + 16*MaxSamples*int64(width) + 7) / 8 * 8 }

// A Modulus is a row of tiles of constants, as kernels/exact/residues.cu takes it.
type Modulus struct {
	// the bits of 1/m in binary32 for plain moduli, round(2^32/m) for Karatsuba moduli
	Inverse uint32
	M       int32
}

// Conversion is what residues takes of one factor: constants, and where its planes go.
type Conversion struct {
	Constants, Moduli, Planes cuda.Pointer
	Stride                    int64
	Plain, Karatsuba          int32
	Blocks, Vectors           int32
	Width, Permute            int32
	First                     int32
	Triangle, Base, Tall      int32 // what products leave out: TriangleUntil, TriangleFrom or 0
	Before, _                 int32
}

// The triangles of vectors, as Conversion has them.
const (
	TriangleUntil = 1 + iota
	TriangleFrom
)

// FactorArgs are a factor that residues converts.
type FactorArgs struct {
	X    Vectors
	Exps cuda.Pointer
	C    Conversion
}

// Sides are the factors of a launch of residues, one or two.
type Sides [2]FactorArgs

// A Reduction says how sums of products are reduced modulo a modulus, as
// kernels/exact/product.cuh takes it.
type Reduction struct {
	M, Shift int32
	Factor   [3]int32
	Scale    [3]int32
}

// ProductArgs are what products takes.
type ProductArgs struct {
	Left, Right             cuda.Pointer
	LeftStride, RightStride int64
	Moduli, Out, Wide       cuda.Pointer
	Stride, LD              int64
	Plain, Karatsuba        int32
	Blocks, Rows, Cols      int32
	I0, J0                  int32
	// 'U', 'L' or 0: of the result that is wanted, and of the operands beyond which there are zeros
	Triangle, LeftTriangle, RightTriangle int32
	_                                     int32
	Taken                                 cuda.Pointer
}

// VectorData is what the scan found of vectors: second are norms or least exponents.
type VectorData struct{ Exp, Second, Flags cuda.Pointer }

// Finishing is what finish takes.
type Finishing struct {
	C                     Target
	Failed                Leftovers
	L, R                  VectorData
	ErrorL, ErrorR, Error float64
	Y, Wide               cuda.Pointer
	Stride, LD            int64
	Unit                  int64
	Weights, Product, Raw cuda.Pointer
	Plain, Karatsuba      int32
	Words, M, N, I0, J0   int32
	Neg, Triangle         int32
	Pitch, Steps          int32
	Check                 Checking
}

// Checking says how finish compares integers with their residues modulo a redundant modulus.
type Checking struct {
	// u32: 2^(cut + 32 w) modulo the modulus, for every word w and the one above
	Powers  cuda.Pointer
	Fault   cuda.Pointer // of Outcome
	Inverse uint64       // floor((2^64 - 1) / modulus)
	Modulus uint32
	Rest    uint32 // what a multiple of M adds, modulo the modulus
	Rows, _ int32  // of C
}

// Scaling is alpha or beta: (-1)^neg words 2^exp, of so many words and bits; plain: words is 1.
type Scaling struct {
	Words                     cuda.Pointer
	Exp                       int64
	Count, Length, Neg, Plain int32
}

// ExpressionArgs are alpha, beta and the old entries, if these take part.
type ExpressionArgs struct {
	Alpha, Beta Scaling
	Old         Numbers
	Off, RS, CS int64
	Adds, _     int32
}

// Settling is what settle takes.
type Settling struct {
	C                         Target
	Failed                    Leftovers
	Counts                    cuda.Pointer
	L, R                      VectorData
	ErrorL, ErrorR, Error     float64
	E                         ExpressionArgs
	Raw                       cuda.Pointer
	Unit                      int64
	Words, Below              int32
	M, N, I0, J0, Triangle, _ int32
}

// ExactPass is what exact takes.
type ExactPass struct {
	X, Y     Vectors
	L, R     VectorData
	C        Target
	From, To Leftovers
	Counts   cuda.Pointer
	E        ExpressionArgs
	Partial  cuda.Pointer
	Arrived  cuda.Pointer
	Room, _  int32
}

// OldConstants is the number of constants of a modulus that olds takes.
const OldConstants = 3

// OldRows is the number of rows of a group of the table of olds.
const OldRows = 16

// Adding is what olds takes.
type Adding struct {
	Old                           Numbers
	Off, RS, CS                   int64
	Failed                        Leftovers
	ExpL, ExpR                    cuda.Pointer
	Y, Wide                       cuda.Pointer
	Stride, LD                    int64
	Moduli, Table                 cuda.Pointer
	Exp                           int64
	Neg, Plain, Karatsuba         int32
	M, N, I0, J0, Triangle, Words int32
}

// MaxSamples is the number of entries that the choice of widths looks at.
const MaxSamples = 64

// NoSize is the size of samples that are zero.
const NoSize = -1e8
