// Package market gives other packages of this module the functions of package matrixmarket for
// array files that several processes read and write in parts. They are not exported by
// matrixmarket, which sets the variables below when it is initialized.
package market

import (
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
)

var (
	// Open parses the lines before the entries. head is the beginning of a file of size bytes, opt
	// a *matrixmarket.Options. For files that are malformed or hold no array the error is
	// textio.ErrWhole.
	Open func(head []byte, size int64, name string, opt any) (Array, error)
	// Head returns the lines before the entries of a rows x cols matrix, for writing.
	Head func(f num.Format, rows, cols int) []byte
	// Append appends entries from ≤ k < to of m, column by column, for Options.Digits.
	Append func(dst []byte, m num.Mat, from, to, digits int) []byte
)

// An Array is the head of an array file, with methods that parse the text of its entries.
type Array interface {
	Rows() int
	Cols() int
	Begin() int64  // offset of the line where the entries begin
	Line() int     // the number of that line
	Below() int    // see grid.Order
	Skew() bool    // entries above the diagonal are the negatives of the entries below it
	Entries() int  // number of entries that the file must have
	Scanned() bool // choosing the format requires a scan of all numbers
	// Scan extends e by the precision and range that the numbers of a text need. It returns an
	// error if a number does not belong to the file's field.
	Scan(t *Text, e *decimal.Extent) error
	// Choose returns a format for numbers of the extent e.
	Choose(e decimal.Extent) (num.Format, error)
	// Count splits whole lines into pieces and counts their entries.
	Count(text []byte) *Text
	// Read stores the numbers of a text in z, and their negatives in negated if that is not nil. It
	// returns the numbers that became infinite or 0 by the range of the format.
	Read(t *Text, z, negated *num.Array) (textio.Stats, error)
	// Measure returns the lengths of the longest numbers given to Choose: Digits and Bits of
	// halfulp.InputStats.
	Measure() (digits, bits int)
	// Truncated returns the error for a file that ends after line with only have entries.
	Truncated(line int, have int) error
	// TooMany returns the error for a file with too many entries, of which the first is entry k of
	// a text.
	TooMany(t *Text, k int) error
}
