package matfile

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile/internal/casformat"
	"github.com/halfulp/halfulp/matfile/internal/delimited"
	"github.com/halfulp/halfulp/matfile/internal/npy"
	"github.com/halfulp/halfulp/matrixmarket"
)

// WriteOptions are options for writing a matrix; the zero value stands for the defaults.
type WriteOptions struct {
	Digits   int                // as in halfulp.Scalar.Text: 0 shortest, n significant, halfulp.Hex
	Threads  int                // 0: GOMAXPROCS
	Context  context.Context    // cancels
	Progress func(done float64) // as in matrixmarket.Options
	Flat     bool               // NumPy's files have one dimension for a matrix of one column
	As       string             // a name that chooses the file format in place of the file's name
	// Last, if not nil, is called once, when everything is written and before a file gets its name.
	// If it returns an error, no file gets its name.
	Last func() error
}

// WriteMatrix writes m to the file called name, or to stdout for "-". The extension chooses the
// file format: .npy, .npz; .csv, .tsv, .txt and .dat for tables; .arb, .gp, .py and .wl for lists
// of other programs; .mtx, .mm or no extension for Matrix Market. A further .gz packs the file. Any
// other extension is an error. The complete file appears under its name, in place of an older one,
// or not at all.
func WriteMatrix(name string, stdout io.Writer, m *halfulp.Matrix, opt WriteOptions) error {
	return WriteMatrices([]NamedMatrix{{name, m}}, stdout, opt)
}

// NamedMatrix is a matrix and the name of the file to write it to.
type NamedMatrix struct {
	Name   string
	Matrix *halfulp.Matrix
}

// WriteMatrices writes matrices like WriteMatrix. No file appears before all files are complete.
func WriteMatrices(all []NamedMatrix, stdout io.Writer, opt WriteOptions) error {
	if len(all) == 0 {
		return nil
	}
	name, m := all[0].Name, all[0].Matrix
	opt = opt.Filled()
	as := name
	if opt.As != "" {
		as = opt.As
	}
	if err := CheckMatrixName(as, m.NumberFormat()); err != nil {
		return err
	}
	var others error // errors of the others name their own files
	last := opt.Last
	if len(all) > 1 {
		last = nil // the last matrix has it
	}
	err := files.WriteThen(name, stdout, last, func(w io.Writer) error {
		if err := writeMatrix(w, as, m, opt); err != nil || len(all) == 1 {
			return err
		}
		if f, ok := w.(interface{ Flush() error }); ok {
			if err := f.Flush(); err != nil {
				return err
			}
		}
		others = WriteMatrices(all[1:], stdout, opt)
		return others
	})
	if others != nil {
		return others
	}
	return err
}

// IsArchive reports whether the extension of a name stands for a file that holds several matrices.
func IsArchive(name string) bool { return KindByName(name) == NumPyZip }

// A Member is an array of a .npz file: a matrix, or integers.
type Member struct {
	Name     string
	Matrix   *halfulp.Matrix // nil for integers
	Integers []int
}

// WriteArchive writes several arrays to the .npz file called name, like WriteMatrix.
func WriteArchive(name string, stdout io.Writer, members []Member, opt WriteOptions) error {
	opt = opt.Filled()
	var all []npy.Array
	for _, m := range members {
		if m.Matrix == nil {
			all = append(all, npy.Integers(m.Name, m.Integers))
			continue
		}
		a, err := npy.Member(m.Name, m.Matrix)
		if err != nil {
			return err
		}
		all = append(all, a...)
	}
	return files.WriteThen(name, stdout, opt.Last, func(w io.Writer) error {
		return npy.WriteZip(w, all, func(w io.Writer, a npy.Array) error { return writeParts(w, a, opt) })
	})
}

// Filled returns the options with defaults for the zero fields.
func (opt WriteOptions) Filled() WriteOptions {
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	return opt
}

// writeMatrix writes m in the file format that name chooses.
func writeMatrix(w io.Writer, name string, m *halfulp.Matrix, opt WriteOptions) error {
	switch KindByName(name) {
	case NumPy:
		a, err := npy.File(m, opt.Flat)
		if err != nil {
			return err
		}
		if _, err := w.Write(a.Head); err != nil {
			return err
		}
		return writeParts(w, a, opt)
	case NumPyZip:
		all, err := npy.Arrays(m, opt.Flat)
		if err != nil {
			return err
		}
		return npy.WriteZip(w, all, func(w io.Writer, a npy.Array) error { return writeParts(w, a, opt) })
	case list:
		return listOf(name).Write(w, m, casformat.Options{Digits: opt.Digits, Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress})
	case tableText:
		separator := byte(' ')
		switch Extension(name) {
		case ".csv":
			separator = ','
		case ".tsv":
			separator = '\t'
		}
		return delimited.Write(w, m, delimited.Options{
			Digits: opt.Digits, Separator: separator, Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress,
		})
	}
	return matrixmarket.Write(w, m, &matrixmarket.Options{
		Digits: opt.Digits, Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress,
	})
}

// writeParts writes the data of an array.
func writeParts(w io.Writer, a npy.Array, opt WriteOptions) error {
	return textio.Write(opt.Context, w, opt.Threads, a.Parts, a.Append, opt.Progress)
}

// IsKind reports whether the extension of a name stands for a kind of file.
func IsKind(name string) bool { return KindByName(name) != unknown }

// CheckMatrixName returns an error if the extension of name stands for no kind of file, or for a
// kind that cannot hold numbers of one of the formats.
func CheckMatrixName(name string, formats ...halfulp.Format) error {
	switch KindByName(name) {
	case unknown:
		return fmt.Errorf("%s: the extension %s does not say what kind of file to write: it may be .mtx, .npz, .npy, .csv, .tsv, .txt, .dat, or .arb, .gp, .py or .wl for lists of FLINT, PARI/GP, mpmath or Mathematica, and .gz after it",
			name, Extension(name))
	case NumPy:
		for _, f := range formats {
			if !npy.Holds(f) {
				return fmt.Errorf("%s: a .npy file does not hold numbers of format %v: write .npz, or a text", name, f)
			}
		}
	}
	return nil
}
