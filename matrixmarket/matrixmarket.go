// Package matrixmarket reads dense and sparse matrices in the Matrix Market
// exchange format, and writes dense ones, without loss.
//
// It reads the formats array and coordinate; the fields real, integer,
// unsigned-integer and pattern; and general, symmetric and skew-symmetric matrices,
// all into a dense halfulp.Matrix; a matrix that is Hermitian by its first line and
// not complex is symmetric. Blanks, tabs, vertical tabs and form feeds separate
// numbers, and a line ends with a line feed, a carriage return or both. Numbers may
// have any number of digits, Fortran exponents (1.5D+3, 1.5+300) and hexadecimal
// digits (0x1.8p+3); inf and nan are numbers too. Every number is rounded once to the
// format of the matrix, which holds integers exactly unless Options.In or the file
// names it; entries of a coordinate file that name the same place are added exactly,
// and their sum is rounded once. Complex matrices are refused. [ReadSparse] returns
// the entries of a coordinate file without a dense matrix.
//
// It writes the format array, real and general, with a comment line that names
// the format of the numbers, as in
//
//	%%MatrixMarket matrix array real general
//	% halfulp format mp:424
//	2 1
//	0.5
//	-1e-30
//
// by which Read finds the format again, so that nothing is lost on the way.
// Vectors are matrices of one column.
//
// R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats:
// Initial Design, NISTIR 5935, 1996.
package matrixmarket

import (
	"context"
	"runtime"

	"github.com/halfulp/halfulp"
)

// Banner begins every Matrix Market file.
const Banner = "%%MatrixMarket"

// Options change how a file is read or written. A nil *Options stands for the
// defaults.
type Options struct {
	// In says how numbers are stored (Read). The zero value is
	// halfulp.AtLeast(halfulp.Float64).
	In halfulp.InputFormat
	// Stats, if not nil, is set by Read and Parse to what the range of the matrix's format took
	// from the numbers of the file. Of the format that halfulp.AtLeast chooses only exponents
	// beyond those of MP are out of range. A repeated entry counts once, by its sum, at the last
	// line that names it.
	Stats *halfulp.InputStats
	// Digits says how numbers are written (Write): 0 as the shortest decimal that
	// reads back to the same number, n > 0 with n significant digits, halfulp.Hex
	// exactly in hexadecimal.
	Digits int
	// Threads is the number of threads; 0 means all of GOMAXPROCS.
	Threads int
	// MemoryLimit bounds the memory of the matrix and of the text in bytes; 0
	// means halfulp.DefaultMemoryLimit().
	MemoryLimit int64
	// Context cancels reading and writing; the error is the context's.
	Context context.Context
	// Progress, if not nil, is called now and then with the share of the work
	// done, from one goroutine at a time.
	Progress func(done float64)
}

func (o *Options) filled() Options {
	var z Options
	if o != nil {
		z = *o
	}
	if z.Threads <= 0 {
		z.Threads = runtime.GOMAXPROCS(0)
	}
	if z.MemoryLimit <= 0 {
		z.MemoryLimit = halfulp.DefaultMemoryLimit()
	}
	if z.Context == nil {
		z.Context = context.Background()
	}
	return z
}
