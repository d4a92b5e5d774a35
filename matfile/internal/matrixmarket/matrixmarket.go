// Package matrixmarket reads dense and sparse matrices in the Matrix Market exchange format, and
// writes dense ones, without loss.
//
// It reads the formats array and coordinate, the fields real, integer, unsigned-integer and
// pattern, and the symmetries general, symmetric and skew-symmetric, all into a dense
// halfulp.Matrix. A Hermitian matrix that is not complex is read as symmetric; complex matrices are
// an error. Numbers are separated by blanks, tabs, vertical tabs and form feeds. A line ends with a
// line feed, a carriage return or both. Numbers may have any number of digits, Fortran exponents
// (1.5D+3, 1.5+300) and hexadecimal digits (0x1.8p+3); inf and nan are numbers too. Every number is
// rounded once to the format of the matrix. This format holds integers exactly, unless Options.In
// or the file names the format. Entries of a coordinate file that name the same place are added
// exactly, and their sum is rounded once. [ReadSparse] returns the entries of a coordinate file
// without a dense matrix.
//
// It writes the format array, real and general, with a comment line that names the format of the
// numbers, as in
//
//	%%MatrixMarket matrix array real general
//	% halfulp format mp:424
//	2 1
//	0.5
//	-1e-30
//
// Read takes the format from this line, so writing and reading lose nothing. Vectors are matrices
// of one column.
//
// Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial
// Design, NISTIR 5935, 1996.
package matrixmarket

import (
	"context"
	"runtime"

	"github.com/halfulp/halfulp"
)

// Banner begins every Matrix Market file.
const Banner = "%%MatrixMarket"

// Options are options for reading and writing a file. A nil *Options stands for the defaults.
type Options struct {
	// In selects the format of the numbers for Read. The zero value is
	// halfulp.AtLeast(halfulp.Float64).
	In halfulp.InputFormat
	// Stats, if not nil, is set by Read and Parse to the losses by the range of the matrix's
	// format. For a format that halfulp.AtLeast chooses, only numbers beyond the exponents of MP
	// are out of range. A repeated entry counts once, by its sum, at the last line that names it.
	Stats *halfulp.InputStats
	// Digits selects the text of the numbers for Write: 0 writes the shortest decimal that reads
	// back to the same number, n > 0 n significant digits, halfulp.Hex exact hexadecimal.
	Digits int
	// Threads is the number of threads; 0 means GOMAXPROCS.
	Threads int
	// MemoryLimit bounds the memory of the matrix and of the text in bytes; 0
	// means halfulp.DefaultMemoryLimit().
	MemoryLimit int64
	// Context cancels reading and writing, which then return the error of the context.
	Context context.Context
	// Progress, if not nil, is called now and then with the fraction of the work that is done, from
	// one goroutine at a time.
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
