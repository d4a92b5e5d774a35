package matfile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/matfile/internal/casformat"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
	"github.com/halfulp/halfulp/matfile/internal/npy"
)

// Kind is a kind of file.
type Kind string

// The kinds of files.
const (
	MatrixMarket Kind = "mtx"
	CSV          Kind = "csv" // a table with commas
	TSV          Kind = "tsv" // a table with tabs
	Text         Kind = "txt" // a table with blanks; Read reports it for every table
	NPY          Kind = "npy" // an array of NumPy
	NPZ          Kind = "npz" // arrays of NumPy
	FLINT        Kind = "flint"
	PARI         Kind = "pari"
	Mpmath       Kind = "mpmath"
	Mathematica  Kind = "mathematica"
)

// extensions are the kinds of files by the extensions of their names.
var extensions = map[string]Kind{
	"": MatrixMarket, ".mtx": MatrixMarket, ".mm": MatrixMarket, ".npy": NPY, ".npz": NPZ,
	".csv": CSV, ".tsv": TSV, ".txt": Text, ".dat": Text,
	".arb": FLINT, ".gp": PARI, ".py": Mpmath, ".wl": Mathematica,
	".flint": FLINT, ".pari": PARI, ".mpmath": Mpmath, ".mathematica": Mathematica,
}

// KindOf returns the kind of file that the extension of a name stands for, whether or not .gz
// follows it: [MatrixMarket] for a name without an extension, and "" for an extension that stands
// for no kind.
func KindOf(name string) Kind { return extensions[extension(name)] }

// Detect returns the kind of a file by the beginning of its content, head, after unpacking. Where
// head is the beginning of none of [MatrixMarket], [NPY] and [NPZ], Detect returns the kind that
// the extension of the name stands for, and [Text] if there is no such kind.
func Detect(name string, head []byte) Kind {
	text := bytes.TrimPrefix(head, []byte("\ufeff"))
	if n := len(matrixmarket.Banner); len(text) >= n && strings.EqualFold(string(text[:n]), matrixmarket.Banner) {
		return MatrixMarket
	}
	if bytes.HasPrefix(head, []byte(npy.Magic)) {
		return NPY
	}
	if bytes.HasPrefix(head, []byte(npy.ZipMagic)) {
		return NPZ
	}
	if k := KindOf(name); k != "" && extension(name) != "" {
		return k
	}
	return Text
}

// CheckName returns an error if [Write] cannot write a matrix to a file of this name in one of the
// formats: because the extension stands for no kind of file, or for a kind that cannot hold the
// numbers. It does not look at the file.
func CheckName(name string, formats ...halfulp.Format) error {
	k := KindOf(name)
	if k == "" {
		return fmt.Errorf("%s: the extension %s does not say what kind of file to write: it may be .mtx, .npz, .npy, .csv, .tsv, .txt, .dat, or .arb, .gp, .py or .wl for lists of FLINT, PARI/GP, mpmath or Mathematica, and .gz after it",
			name, extension(name))
	}
	return k.check(name, formats...)
}

// check returns an error if files of the kind cannot hold numbers of one of the formats.
func (k Kind) check(name string, formats ...halfulp.Format) error {
	if k != NPY {
		return nil
	}
	for _, f := range formats {
		if !npy.Holds(f) {
			return fmt.Errorf("%s: a .npy file does not hold numbers of format %v: write .npz, or a text", name, f)
		}
	}
	return nil
}

// isTable reports whether files of the kind are tables of numbers.
func (k Kind) isTable() bool { return k == CSV || k == TSV || k == Text }

// list returns how to write files for other programs, nil for other kinds.
func (k Kind) list() *casformat.Kind {
	for _, l := range casformat.Kinds {
		if string(k) == l.Name {
			return l
		}
	}
	return nil
}

// extension returns the extension of a name, in lower case and without .gz.
func extension(name string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(filepath.Base(name)), ".gz"))
}
