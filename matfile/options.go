package matfile

import (
	"context"
	"io"
	"os"
	"runtime"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/matfile/internal/delimited"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
	"github.com/halfulp/halfulp/matfile/internal/npy"
)

// Options are options for reading and writing. A nil *Options and zero fields stand for the
// defaults.
type Options struct {
	// Kind is the kind of file to read or write. By default the content of a file determines how it
	// is read, and its name how it is written.
	Kind Kind
	// Threads is the number of threads; 0 means GOMAXPROCS.
	Threads int
	// MemoryLimit bounds the memory in bytes of the text that is read, and of the matrix; 0 means
	// halfulp.DefaultMemoryLimit().
	MemoryLimit int64
	// Context cancels reading and writing, which then return the error of the context.
	Context context.Context
	// Progress, if not nil, is called now and then with the fraction of the work that is done, from
	// one goroutine at a time.
	Progress func(done float64)

	// In selects the format that the numbers of a file are rounded to when they are read. The zero
	// value is halfulp.AtLeast(halfulp.Float64).
	In halfulp.InputFormat
	// Literal makes ReadExact take the decimals of a text as they are, even if the text names a
	// format for its numbers.
	Literal bool
	// Part selects what to read: a matrix of a .npz file, or columns of a table, such as
	// "2-4,price". A name FILE:PART has the same meaning.
	Part string
	// Dialect describes a table that is read.
	Dialect Dialect
	// Info, if not nil, is set to what a file contains besides its numbers.
	Info *Info
	// Stdin is what the name "-" stands for when reading; nil means os.Stdin.
	Stdin io.Reader

	// Digits selects the text of the numbers that are written: 0 writes the shortest decimal that
	// reads back to the same number, n > 0 n significant digits, halfulp.Hex exact hexadecimal.
	Digits int
	// Flat makes a .npy or .npz file of a matrix of one column hold an array of one dimension.
	Flat bool
	// Stdout is what the name "-" stands for when writing; nil means os.Stdout.
	Stdout io.Writer
	// Last, if not nil, is called once, when everything is written and before a file gets its name.
	// If it returns an error, no file gets its name, and Write returns this error.
	Last func() error
}

// Info is what a file that is read contains besides its numbers.
type Info struct {
	Kind   Kind            // of the content; Text for every table
	Sparse bool            // the file lists entries, and was read as a dense matrix
	Flat   bool            // an array of NumPy of one dimension, which is a column here
	Names  []string        // of the columns that were read, if a table has a header
	Format *halfulp.Format // for ReadExact: the format that a text names for its numbers
	Note   string          // how a row with words, or an array of three dimensions, was interpreted
	// Stats has the numbers that the range of the format turned into infinities or zeros, the
	// lengths of the numbers, and whether the last number may be cut off.
	Stats halfulp.InputStats
}

// Dialect describes a table that is more than rows of numbers, for example one that a spreadsheet
// exports. For zero fields the reader detects what it can.
type Dialect struct {
	// between fields; 0: a semicolon, tab or comma, if the first row has one, otherwise white space
	Delimiter rune
	Comment   rune // begins a comment; 0: #
	Skip      uint // lines before the table
	// the first row holds names; this is also assumed if none of its fields is a number
	Header       bool
	Columns      []string // to read: numbers from 1, ranges such as 2-4, names; nil: all
	DecimalComma bool     // 1,5 is 1.5
}

// Blank is the delimiter that stands for white space of any length.
const Blank = delimited.Blank

// ErrEmpty is wrapped by the error of Write for a table that would have no rows or no columns.
var ErrEmpty = delimited.ErrEmpty

// SplitColumns splits a list of columns, as for Dialect.Columns, at its commas. A name in quotes
// may contain commas; two quotes in it stand for one.
func SplitColumns(list string) ([]string, error) { return delimited.SplitColumns(list) }

// options are options whose defaults are filled in, and the file that is mapped into memory.
type options struct {
	Options
	file io.ReaderAt
}

// filled returns the options with defaults for the zero fields. It clears opt.Info.
func (opt *Options) filled() options {
	var z options
	if opt != nil {
		z.Options = *opt
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
	if z.Stdin == nil {
		z.Stdin = os.Stdin
	}
	if z.Stdout == nil {
		z.Stdout = os.Stdout
	}
	if z.Info != nil {
		*z.Info = Info{}
	}
	return z
}

// detect returns the kind of file to read.
func (opt options) detect(name string, head []byte) Kind {
	if opt.Kind != "" {
		return opt.Kind
	}
	return Detect(name, head)
}

// found sets the kind in Info.
func (opt options) found(k Kind) {
	if opt.Info == nil {
		return
	}
	if k.isTable() {
		k = Text
	}
	opt.Info.Kind = k
}

func (opt options) matrixMarket() *matrixmarket.Options {
	o := &matrixmarket.Options{
		In: opt.In, Digits: opt.Digits, Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, Progress: opt.Progress,
	}
	if opt.Info != nil {
		o.Stats = &opt.Info.Stats
	}
	return o
}

func (opt options) numpy() npy.Options {
	o := npy.Options{
		In: opt.In, Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, File: opt.file, Member: opt.Part,
	}
	if i := opt.Info; i != nil {
		o.Stats, o.Flat, o.Densified, o.Note = &i.Stats, &i.Flat, &i.Sparse, &i.Note
	}
	return o
}

// table returns the options for a table, with the columns of Part.
func (opt options) table() (delimited.Options, error) {
	o := delimited.Options{
		In: opt.In, Dialect: delimited.Dialect(opt.Dialect), Digits: opt.Digits,
		Threads: opt.Threads, MemoryLimit: opt.MemoryLimit, Context: opt.Context, Progress: opt.Progress,
	}
	if i := opt.Info; i != nil {
		o.Stats, o.Note, o.Names = &i.Stats, &i.Note, &i.Names
	}
	if opt.Part != "" {
		var err error
		if o.Dialect.Columns, err = SplitColumns(opt.Part); err != nil {
			return o, err
		}
	}
	return o, nil
}
