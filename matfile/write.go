package matfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile/internal/casformat"
	"github.com/halfulp/halfulp/matfile/internal/delimited"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
	"github.com/halfulp/halfulp/matfile/internal/npy"
)

// Write writes m to the file called name, or to standard output for "-". The extension chooses the
// kind of file unless opt.Kind does: see [KindOf]. The extension .gz after it packs the file. Any
// other extension is an error. The complete file appears under its name, in place of an older one,
// or not at all.
//
// Reading the file returns the same matrix, in the same format, if opt.Digits is 0 or halfulp.Hex
// and the kind is not one of the lists for other programs. Write panics for a matrix that lives on
// a device; see [halfulp.Matrix.Host].
func Write(name string, m *halfulp.Matrix, opt *Options) error {
	return WriteAll([]Named{{Name: name, Matrix: m}}, opt)
}

// WriteTo writes m to w, as a file of the kind opt.Kind: Matrix Market by default.
func WriteTo(w io.Writer, m *halfulp.Matrix, opt *Options) error {
	o := opt.filled()
	k := o.Kind
	if k == "" {
		k = MatrixMarket
	}
	if err := k.check("output", m.NumberFormat()); err != nil {
		return err
	}
	if err := k.write(w, m, o); err != nil || o.Last == nil {
		return err
	}
	return o.Last()
}

// Named is a matrix and the name of its file, or of its array in a .npz file.
type Named struct {
	Name     string
	Matrix   *halfulp.Matrix
	Integers []int // for WriteArchive: an array of integers, if Matrix is nil
	Flat     bool  // for WriteArchive: a matrix of one column becomes an array of one dimension
	// Exact, if not nil, is written instead of Matrix, as fractions and integers, by WriteAll. A
	// Matrix Market file of fractions has the field "rational", an extension. Texts for FLINT are
	// expressions of python-flint.
	Exact *Exact
}

// WriteAll writes each matrix to the file of its name, as [Write] does. No file appears before all
// files are complete.
func WriteAll(all []Named, opt *Options) error {
	if len(all) == 0 {
		return nil
	}
	name, o := all[0].Name, opt.filled()
	k, err := all[0].kind(o.Kind)
	if err != nil {
		return err
	}
	var others error // errors of the others name their own files
	last := o.Last
	if len(all) > 1 {
		last = nil // the last matrix has it
	}
	err = files.WriteThen(name, o.Stdout, last, func(w io.Writer) error {
		if err := all[0].write(w, k, o); err != nil || len(all) == 1 {
			return err
		}
		if f, ok := w.(interface{ Flush() error }); ok {
			if err := f.Flush(); err != nil {
				return err
			}
		}
		others = WriteAll(all[1:], opt)
		return others
	})
	if others != nil {
		return others
	}
	return err
}

// kind returns the kind of file to write, k if it is not empty.
func (n *Named) kind(k Kind) (Kind, error) {
	var err error
	switch {
	case n.Exact != nil && k == "":
		k, err = KindOf(n.Name), CheckExactName(n.Name)
	case n.Exact != nil:
		err = k.checkExact(shown(n.Name))
	case n.Matrix == nil:
		err = fmt.Errorf("%s: %w", n.Name, errNoMatrix)
	case k == "":
		k, err = KindOf(n.Name), CheckName(n.Name, n.Matrix.NumberFormat())
	default:
		err = k.check(shown(n.Name), n.Matrix.NumberFormat())
	}
	return k, err
}

// write writes the matrix as a file of the kind.
func (n *Named) write(w io.Writer, k Kind, opt options) error {
	if n.Exact != nil {
		return n.Exact.write(w, k)
	}
	return k.write(w, n.Matrix, opt)
}

var errNoMatrix = errors.New("there is no matrix to write")

// shown is how messages call a file that is written.
func shown(name string) string {
	if name == files.Stdio {
		return "standard output"
	}
	return name
}

// WriteArchive writes several matrices and arrays of integers to one .npz file called name, as
// [Write] does. FILE.npz:L reads the matrix called L from it.
func WriteArchive(name string, arrays []Named, opt *Options) error {
	o := opt.filled()
	var all []npy.Array
	for _, m := range arrays {
		if m.Matrix == nil {
			all = append(all, npy.Integers(m.Name, m.Integers))
			continue
		}
		a, err := npy.Member(m.Name, m.Matrix, m.Flat)
		if err != nil {
			return err
		}
		all = append(all, a...)
	}
	return files.WriteThen(name, o.Stdout, o.Last, func(w io.Writer) error {
		return npy.WriteZip(w, all, func(w io.Writer, a npy.Array) error { return writeParts(w, a, o) })
	})
}

// write writes m as a file of the kind.
func (k Kind) write(w io.Writer, m *halfulp.Matrix, opt options) error {
	switch k {
	case MatrixMarket:
		return matrixmarket.Write(w, m, opt.matrixMarket())
	case NPY:
		a, err := npy.File(m, opt.Flat)
		if err != nil {
			return err
		}
		if _, err := w.Write(a.Head); err != nil {
			return err
		}
		return writeParts(w, a, opt)
	case NPZ:
		all, err := npy.Arrays(m, opt.Flat)
		if err != nil {
			return err
		}
		return npy.WriteZip(w, all, func(w io.Writer, a npy.Array) error { return writeParts(w, a, opt) })
	case CSV, TSV, Text:
		return delimited.Write(w, m, delimited.Options{
			Digits: opt.Digits, Separator: separators[k],
			Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress,
		})
	}
	list := k.list()
	if list == nil {
		return fmt.Errorf("there is no kind of file %q", string(k))
	}
	return list.Write(w, m, casformat.Options{Digits: opt.Digits, Threads: opt.Threads, Context: opt.Context, Progress: opt.Progress})
}

// separators stand between the numbers of a row of a table.
var separators = map[Kind]byte{CSV: ',', TSV: '\t', Text: ' '}

// writeParts writes the data of an array.
func writeParts(w io.Writer, a npy.Array, opt options) error {
	return textio.Write(opt.Context, w, opt.Threads, a.Parts, a.Append, opt.Progress)
}
