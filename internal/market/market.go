// Package market is what package matrixmarket does for files that several processes read and write
// in parts, and keeps to itself otherwise. Package matrixmarket fills the functions in.
package market

import (
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

var (
	// Open reads what stands before the entries, given as many bytes of the beginning of a file
	// of so many bytes, for *matrixmarket.Options. The error is textio.ErrWhole for files that are
	// no arrays, or are wrong.
	Open func(head []byte, size int64, name string, opt any) (Array, error)
	// Head returns what stands before the entries of a rows x cols matrix that is written.
	Head func(f num.Format, rows, cols int) []byte
	// Append appends entries from ≤ k < to of m, column by column, for Options.Digits.
	Append func(dst []byte, m num.Mat, from, to, digits int) []byte
)

// An Array is an array file.
type Array interface {
	Rows() int
	Cols() int
	Begin() int64  // where the entries begin: a line
	Line() int     // the number of that line
	Below() int    // see grid.Order
	Skew() bool    // entries above the diagonal are the negatives of those below it
	Entries() int  // how many there are to be
	Scanned() bool // the text of all numbers has to be known to choose their format
	// Scan adds what the numbers of a text need to e, and sees that they are of the file's field.
	Scan(t *Text, e *decimal.Extent) error
	// Choose returns the format, for what all numbers need.
	Choose(e decimal.Extent) (num.Format, error)
	// Count returns a text of whole lines.
	Count(text []byte) *Text
	// Read stores the numbers of a text in z, and their negatives in negated if that is not nil,
	// and returns what the range of the format took.
	Read(t *Text, z, negated *num.Array) (textio.Stats, error)
	// Measure returns how long the numbers of the text are, which Choose has seen: Digits and Bits
	// of halfulp.InputStats.
	Measure() (digits, bits int)
	// Truncated is the error for a file that has so few entries, and ends with a line.
	Truncated(line int, have int) error
	// TooMany is the error for a file with too many entries: the first one too many is entry k of
	// a text.
	TooMany(t *Text, k int) error
}
