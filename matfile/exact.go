package matfile

import (
	"fmt"
	"io"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/matfile/internal/delimited"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
)

// Exact is a matrix of rational numbers: Values[i][j] is the number in row i and column j. Package
// rational computes with them: rational.FromRats(x.Values). If a file holds numbers of a format,
// Matrix has them and Values is nil.
type Exact struct {
	Rows, Cols int
	Values     [][]*big.Rat
	Matrix     *halfulp.Matrix
}

// ErrRational is wrapped by the error of [Read] for a Matrix Market file of fractions, which
// [ReadExact] reads.
var ErrRational = matrixmarket.ErrRational

// ReadExact reads a file like [Read], without rounding. Every number of a text is the rational
// number that it denotes: a decimal such as 0.1, a hexadecimal float, or a fraction such as 7/15.
// A text that names the format of its numbers is an exception unless opt.Literal is set: its
// decimals stand for numbers of this format. Numbers of NumPy are what they are. opt.In has no
// effect.
//
// An infinity, a NaN and a fraction over 0 are errors, which name the file, the line, and the
// column.
func ReadExact(name string, opt *Options) (*Exact, error) {
	o := opt.filled()
	o.In = halfulp.InputFormat{}
	return reading(o.name(name), o, func(in *input) (*Exact, error) { return in.exact(o) })
}

// exact reads the exact numbers of a file.
func (in *input) exact(opt options) (*Exact, error) {
	text, err := in.readAll(opt)
	if err != nil {
		return nil, err
	}
	shown := files.Shown(in.name)
	k := opt.detect(in.name, text)
	var named *halfulp.Format
	var z *Exact
	switch {
	case k == MatrixMarket && opt.Part == "":
		opt.found(k)
		opt.densify(text)
		var x *matrixmarket.Rats
		if x, err = matrixmarket.ParseRats(text, shown, opt.matrixMarket()); err == nil {
			named, z = x.Format, &Exact{Rows: x.Rows, Cols: x.Cols, Values: x.Values}
		}
	case k.isTable() && foreign(text) == nil:
		opt.found(k)
		var o delimited.Options
		if o, err = opt.table(); err != nil {
			return nil, files.Named(shown, err)
		}
		var x *delimited.Rats
		if x, err = delimited.ParseRats(text, shown, o); err == nil {
			named, z = x.Format, &Exact{Rows: len(x.Values), Cols: len(x.Values[0]), Values: x.Values}
		}
	default:
		m, err := parse(k, in.name, text, opt)
		if err != nil {
			return nil, err
		}
		return exactly(shown, m)
	}
	if err != nil {
		return nil, err
	}
	if named == nil {
		return z, nil
	}
	if opt.Info != nil {
		opt.Info.Format = named
	}
	if opt.Literal {
		return z, nil
	}
	m, err := parse(k, in.name, text, opt)
	if err != nil {
		return nil, err
	}
	return exactly(shown, m)
}

// exactly returns the numbers of m.
func exactly(name string, m *halfulp.Matrix) (*Exact, error) {
	for i := range m.Rows() {
		for j := range m.Cols() {
			if x := m.At(i, j); x.IsNaN() || x.IsInf(0) {
				return nil, fmt.Errorf("%s: the number in row %d, column %d is %v: exact numbers are finite", name, i+1, j+1, x)
			}
		}
	}
	return &Exact{Rows: m.Rows(), Cols: m.Cols(), Matrix: m}, nil
}

// CheckExactName returns an error if a file of this name cannot hold exact numbers: because the
// extension stands for no kind of file, or for one without fractions. Matrix Market files, tables
// and texts for FLINT (.flint), PARI/GP and Mathematica hold them.
func CheckExactName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if extension(name) == ".arb" {
		return fmt.Errorf("%s: an .arb file holds numbers of a format, no exact ones: .flint is for an fmpq_mat of python-flint", name)
	}
	return KindOf(name).checkExact(name)
}

// checkExact returns an error if files of the kind hold no exact numbers.
func (k Kind) checkExact(name string) error {
	list := k.list()
	if k == MatrixMarket || k.isTable() || list != nil && list.HoldsRats() {
		return nil
	}
	return fmt.Errorf("%s: the kind %s has no fractions: exact numbers go to mtx, csv, tsv, txt, flint, pari and mathematica", name, k)
}

// write writes exact numbers as a file of the kind.
func (x *Exact) write(w io.Writer, k Kind) error {
	switch k {
	case MatrixMarket:
		return matrixmarket.WriteRats(w, x.Rows, x.Cols, x.Values)
	case CSV, TSV, Text:
		return delimited.WriteRats(w, x.Rows, x.Cols, x.Values, separators[k])
	}
	return k.list().WriteRats(w, x.Rows, x.Cols, x.Values)
}
