package abi

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/place"
)

// Structures of the kernels of products: their arguments, and their reports to the host.

// Totals are extremes over the vectors of an operand, computed by kernels/exact/scan.cu.
type Totals struct {
	Norm  float64 // of the vector with the largest sum of magnitudes, in units of its 2^exp
	Width int64   // number of bits that holds every vector exactly
	Flags uint32
	_     uint32
}

// A Sample describes one entry of the result, as kernels/exact/scan.cu computes it. Size is the
// exponent of the entry over alpha, relative to the exponents of its vectors, or at most NoSize for
// zero. NormL and NormR are the norms of the two vectors. If Cancelled is not 0, the old entry
// cancels the product, and Size is the size of either of them.
type Sample struct{ Size, NormL, NormR, Cancelled float64 }

// Report is the scan's report to the host.
type Report struct {
	Left, Right Totals
	Samples     [MaxSamples]Sample
}

// Outcome counts how the entries were settled: List is the number of entries left to the exact pass
// and Rest of those left to the host; Overflow and Underflow count results out of range.
type Outcome struct {
	List, Rest          uint32
	Overflow, Underflow uint64
	// 0, or for the first entry, column by column, that contradicts its redundant modulus: the
	// complement of its place << 32 | residue of the integer << 16 | residue of the product
	Fault uint64
}

// Control is the data that a product keeps on the device, as in kernels/common/report.cuh.
type Control struct {
	Report
	Outcome
	_, _ uint32 // a counter of blocks
}

// ToldAt is the offset in the mailbox at which the reports of kernels to the host begin, as in
// kernels/common/report.cuh.
const ToldAt = 8

// Tiles of the products, in vectors and in bytes.
const (
	Tile      = 128
	TileBytes = Tile * Tile
	// numbers of a vector that a block of residues, or of residues0, converts
	Strip      = 128
	ShortStrip = 64
)

// StepBytes is the number of digits that one tensor core instruction sums over.
const StepBytes = 32

// MaxSteps is the most steps of 32 digits that kernels/exact/residues.cu processes in a pass. Only
// the digits of expansions must fit in one pass.
const MaxSteps = 8

// ShortBits is the most bits of the integers that kernel residues0 supports; it is for numbers of
// one word and for plain moduli.
const ShortBits = 126

// ShortWords is the most words of the integers that kernel finish0 supports.
const ShortWords = 6

// ShortRows is the number of rows of a column that a warp of finish0 finishes. ShortBytes is the
// shared memory in bytes that it takes.
const (
	ShortRows  = 128
	ShortBytes = 4 * TileDigits * 40
)

// TileDigits is the number of digits of weights that the tensor cores process at a time.
const TileDigits = 16

// FinishSteps are the numbers of steps of 32 bytes of residues for which kernels/exact/finish.cu
// has a kernel of its own. finishLong handles more steps.
var FinishSteps = []int{1, 2, 3, 5, 9, 13, 17, 20}

// QuotientBits is the scale of the weights of the quotient: F_t = round(2^33/m_t).
const QuotientBits = 33

// Groups returns the numbers of groups of residues of an entry, for the given numbers of plain and
// of Karatsuba moduli: groups of 16 bytes, and groups of 8 half words.
func Groups(plain, karatsuba int) (bytes, halfWords int) {
	return (plain + 15) / 16, (karatsuba + 7) / 8
}

// FragmentByte returns the index, in a table of fragments of mma.m16n8k32, of the digit of a tile
// in the given row and at the given place of a group. steps is the number of steps of the table.
func FragmentByte(tile, steps, row, group, place int) int {
	lane, word := row%8*4+place/4, row/8+group%2*2
	return ((tile*steps+group/2)*32+lane)*16 + word*4 + place%4
}

// OldSample describes the old entries that scan compares samples with: Ratio 2^Exp is beta over
// alpha.
type OldSample struct {
	Old         Numbers
	Off, RS, CS int64
	Ratio       float64
	Exp         int64
}

// Scanned are the addresses to which scan writes its results for vectors: exponents, least
// exponents, norms, flags, and in Total the extremes over all vectors. Total is 0 if the vectors
// need no scan.
type Scanned struct{ Exp, Low, Norm, Flags, Total cuda.Pointer }

// Extents are up to Looks matrices that are scanned in one launch, and where the results go.
type Extents [Looks]struct {
	X  Vectors
	To Scanned
}

// Looks is the most matrices of Extents.
const Looks = 4

// Panels are the left factor in panels, as the argument of kernels/exact/scan.cu. Panel p consists
// of the numbers Start[p] <= h < Start[p+1] of every vector. The results of its scan are record p,
// at address At + p Size.
type Panels struct {
	At                 cuda.Pointer
	Size               int64
	Count, Width, N, K int32
	Start              [place.MaxPanels + 1]int32
	_                  int32
}

// A Lead is the leading 50 bits or so, X 2^Exp, of a number of a sampled row of a panel.
type Lead struct {
	X   float64
	Exp int64
}

// Record returns the addresses, in record p, of the results for vectors and of the leads of the
// sampled rows, Width for each row.
func (q *Panels) Record(p int) (found Scanned, leads cuda.Pointer) {
	n := cuda.Pointer(q.N)
	exp := q.At + cuda.Pointer(int64(p)*q.Size)
	leads = exp + 24*n
	return Scanned{Exp: exp, Low: exp + 8*n, Norm: exp + 16*n, Flags: leads + cuda.Pointer(16*MaxSamples*int64(q.Width))}, leads
}

// RecordBytes returns the size in bytes of a record of n vectors, with at most width numbers in a
// panel.
func RecordBytes(n, width int) int64 { return (25*int64(n) + 16*MaxSamples*int64(width) + 7) / 8 * 8 }

// A Modulus is a row of a tile of constants, as kernels/exact/residues.cu reads it.
type Modulus struct {
	// bits of 1/m in binary32 for plain moduli, round(2^32/m) for Karatsuba moduli
	Inverse uint32
	M       int32
}

// Conversion is the argument of residues for one factor: constants, and the addresses of its
// planes.
type Conversion struct {
	Constants, Moduli, Planes cuda.Pointer
	Stride                    int64
	Plain, Karatsuba          int32
	Blocks, Vectors           int32
	Width, Permute            int32
	First                     int32
	Triangle, Base, Tall      int32 // omitted by products: TriangleUntil, TriangleFrom or 0
	Before, _                 int32
}

// The triangles of vectors, as in Conversion.
const (
	TriangleUntil = 1 + iota
	TriangleFrom
)

// FactorArgs is a factor that residues converts.
type FactorArgs struct {
	X    Vectors
	Exps cuda.Pointer
	C    Conversion
}

// Sides are the one or two factors of a launch of residues, which may tell the host the report of
// the scan.
type Sides struct {
	S    [2]FactorArgs
	Told Telling
}

// Telling is what a kernel tells the host beside its own work: from the Control at C, if that is
// not 0, to the mailbox at To.
type Telling struct {
	C, To     cuda.Pointer
	Ticket, _ uint32
}

// A Reduction holds the constants by which sums of products are reduced modulo one modulus, as in
// kernels/exact/product.cuh.
type Reduction struct {
	M, Shift int32
	Factor   [3]int32
	Scale    [3]int32
}

// ProductArgs is the argument of products.
type ProductArgs struct {
	Left, Right             cuda.Pointer
	LeftStride, RightStride int64
	Moduli, Out, Wide       cuda.Pointer
	Stride, LD              int64
	Plain, Karatsuba        int32
	Blocks, Rows, Cols      int32
	I0, J0                  int32
	// 'U', 'L' or 0: the triangle of the result that is wanted, and the triangles outside of which
	// the operands are zero
	Triangle, LeftTriangle, RightTriangle int32
	_                                     int32
	Taken                                 cuda.Pointer
}

// VectorData are results of the scan for vectors: Second are the norms or the least exponents.
type VectorData struct{ Exp, Second, Flags cuda.Pointer }

// Finishing is the argument of finish.
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

// Checking describes how finish compares integers with their residues modulo a redundant modulus.
type Checking struct {
	// u32: 2^(cut + 32 w) modulo the modulus, for every word w and for one word more
	Powers  cuda.Pointer
	Fault   cuda.Pointer // address of Outcome.Fault
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

// ExpressionArgs are alpha, beta and the old entries, if these are added.
type ExpressionArgs struct {
	Alpha, Beta Scaling
	Old         Numbers
	Off, RS, CS int64
	Adds, _     int32
}

// Settling is the argument of settle.
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

// ExactPass is the argument of exact.
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

// OldConstants is the number of constants of a modulus that olds reads.
const OldConstants = 3

// OldRows is the number of rows of a group of the table of olds.
const OldRows = 16

// Adding is the argument of olds.
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

// MaxSamples is the number of entries that the choice of widths samples.
const MaxSamples = 64

// NoSize is the size of a sample that is zero.
const NoSize = -1e8
