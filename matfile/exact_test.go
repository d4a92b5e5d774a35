package matfile_test

import (
	"bytes"
	"fmt"
	"log"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/matfile"
)

// Decimals and fractions of a table, as the rational numbers that they are, and back.
func ExampleReadExact() {
	name, remove := temporary("a.csv")
	defer remove()
	if err := os.WriteFile(name, []byte("0.1,7/15\n2,-1/3\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	a, err := matfile.ReadExact(name, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Values)
	if err := matfile.WriteAll([]matfile.Named{{Name: "-", Exact: a}}, &matfile.Options{Kind: matfile.PARI}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [[1/10 7/15] [2/1 -1/3]]
	// [1/10, 7/15; 2, -1/3]
}

func ExampleCheckExactName() {
	fmt.Println(matfile.CheckExactName("a.csv"))
	fmt.Println(matfile.CheckExactName("a.npy"))
	// Output:
	// <nil>
	// a.npy: the kind npy has no fractions: exact numbers go to mtx, csv, tsv, txt, flint, pari and mathematica
}

// write writes a file and returns its name.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadExact(t *testing.T) {
	const head = "%%MatrixMarket matrix "
	for _, c := range []struct{ name, text, want string }{
		{"a.mtx", head + "array rational general\n2 2\n1/2\n-3\n.25\n1e-3\n", "[[1/2 1/4] [-3/1 1/1000]]"},
		{"a.mtx", head + "array real symmetric\n2 2\n1\n1/3\n2\n", "[[1/1 1/3] [1/3 2/1]]"},
		{"a.mtx", head + "array real skew-symmetric\n2 2\n1/3\n", "[[0/1 -1/3] [1/3 0/1]]"},
		{"a.mtx", head + "coordinate rational general\n% comment\n2 2 3\n1 1 1/3\n2 2 5\n1 1 2/3\n", "[[1/1 0/1] [0/1 5/1]]"},
		{"a.mtx", head + "coordinate pattern general\n1 2 1\n1 2\n", "[[0/1 1/1]]"},
		{"a.mtx", head + "array integer general\n1 1\n123456789012345678901234567890\n", "[[123456789012345678901234567890/1]]"},
		{"a.mtx", head + "array integer general\n2 0\n", "[[] []]"},
		{"a.csv", "x,y\n1/2,3\n\"4\",0x1p-1\n", "[[1/2 3/1] [4/1 1/2]]"},
		{"a.csv", "1,5;2/3\n", ""},
		{"a.txt", "# comment\n1/2 .5 # more\n\n1e2 7\n", "[[1/2 1/2] [100/1 7/1]]"},
		// Numbers of a format that the file names.
		{"a.txt", "# halfulp format f32\n0.1\n", "[[13421773/134217728]]"},
	} {
		var info matfile.Info
		x, err := matfile.ReadExact(write(t, c.name, c.text), &matfile.Options{Info: &info})
		if c.want == "" {
			if err == nil {
				t.Errorf("%q is read", c.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if x.Matrix != nil {
			x.Values = nil
			for i := range x.Rows {
				row := make([]*big.Rat, x.Cols)
				for k := range row {
					row[k], _ = x.Matrix.At(i, k).Big().Rat(nil)
				}
				x.Values = append(x.Values, row)
			}
			if info.Format == nil || *info.Format != halfulp.Float32 {
				t.Errorf("%q: format %v", c.text, info.Format)
			}
		}
		if got := fmt.Sprint(x.Values); got != c.want || x.Rows != len(x.Values) {
			t.Errorf("%q is %s, want %s", c.text, got, c.want)
		}
	}
	x, err := matfile.ReadExact(write(t, "a.txt", "# halfulp format f32\n0.1\n"), &matfile.Options{Literal: true})
	if err != nil || x.Values[0][0].Cmp(big.NewRat(1, 10)) != 0 {
		t.Errorf("a literal decimal: %v, %v", x, err)
	}
}

func TestReadExactErrors(t *testing.T) {
	const head = "%%MatrixMarket matrix "
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "1,2\n3,1/0\n", `a.csv:2: column 2: "1/0" is no rational number: its denominator is 0`},
		{"a.csv", "1,nan\n", `a.csv:1: column 2: "nan" is no rational number: exact numbers are finite`},
		{"a.csv", "1,1.5/2\n", `a.csv:1: column 2: "1.5/2" is not a number: a fraction consists of two integers`},
		{"a.csv", "1,2\n3\n", "a.csv:2: a row of 1 number after rows of 2"},
		{"a.txt", "1\n1e2000000\n", `a.txt:2: column 1: "1e2000000": an exponent beyond ±1000000`},
		{"a.csv", "1,,2\n", "a.csv:1: an empty field"},
		{"a.mtx", head + "array rational general\n1 2\n1/2\n-inf\n", `a.mtx:4: row 1, column 2: "-inf" is no rational number`},
		{"a.mtx", head + "array rational general\n1 2\n1/2\n", "a.mtx:3: the file ends after 1 of 2 entries"},
		{"a.mtx", head + "array rational general\n1 1\n1/2\n3\n", "a.mtx:4: more than the 1 entry of a 1 x 1 matrix"},
		{"a.mtx", head + "array integer general\n1 1\n1/2\n", "a.mtx:3: row 1, column 1: 1/2 is no integer, in a file of integers"},
		{"a.mtx", head + "array unsigned-integer general\n1 1\n-2\n", "-2 is negative"},
		{"a.mtx", head + "coordinate rational general\n1 1 1\n1 2 1/2\n", "a.mtx:3: column index 2 out of range 1 to 1"},
		{"a.mtx", head + "coordinate rational general\n1 1 1\n", "a.mtx:3: the file ends after 0 of 1 entry"},
		{"a.mtx", head + "array rational general\n100000000 100000000\n1/2\n", "memory limit"},
	} {
		_, err := matfile.ReadExact(write(t, c.name, c.text), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := matfile.Read(write(t, "a.mtx", head+"array rational general\n1 1\n1/2\n"), nil); err == nil || !strings.Contains(err.Error(), "the matrix is rational") {
		t.Errorf("fractions as numbers of a format: error %v", err)
	}
	if _, err := matfile.ReadExact(write(t, "a.txt", strings.Repeat("123456789/987654321\n", 1000)), &matfile.Options{MemoryLimit: 50000}); err == nil || !strings.Contains(err.Error(), "memory limit") {
		t.Errorf("a small memory limit: error %v", err)
	}
}

func TestWriteExact(t *testing.T) {
	half, three := big.NewRat(1, 2), big.NewRat(-3, 1)
	long := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 20000))
	for _, c := range []struct {
		kind   matfile.Kind
		values [][]*big.Rat
		want   string
	}{
		{matfile.MatrixMarket, [][]*big.Rat{{half, three}}, "%%MatrixMarket matrix array rational general\n1 2\n1/2\n-3\n"},
		{matfile.MatrixMarket, [][]*big.Rat{{three}}, "%%MatrixMarket matrix array integer general\n1 1\n-3\n"},
		{matfile.CSV, [][]*big.Rat{{half, three}, {three, half}}, "1/2,-3\n-3,1/2\n"},
		{matfile.FLINT, [][]*big.Rat{{half, three}, {three, half}}, "fmpq_mat([[fmpq(1, 2), fmpq(-3, 1)],\n [fmpq(-3, 1), fmpq(1, 2)]])\n"},
		{matfile.FLINT, [][]*big.Rat{{three, three}}, "fmpz_mat([[-3, -3]])\n"},
		{matfile.FLINT, [][]*big.Rat{{long}}, "fmpz_mat([[0x1" + strings.Repeat("0", 5000) + "]])\n"},
		{matfile.PARI, [][]*big.Rat{{half, three}, {three, half}}, "[1/2, -3; -3, 1/2]\n"},
		{matfile.Mathematica, [][]*big.Rat{{half, three}, {three, half}}, "{{1/2, -3},\n {-3, 1/2}}\n"},
	} {
		var b bytes.Buffer
		x := &matfile.Exact{Rows: len(c.values), Cols: len(c.values[0]), Values: c.values}
		if err := matfile.WriteAll([]matfile.Named{{Name: "-", Exact: x}}, &matfile.Options{Kind: c.kind, Stdout: &b}); err != nil || b.String() != c.want {
			t.Errorf("%s: %v\n%.200s\nwant\n%.200s", c.kind, err, b.String(), c.want)
		}
	}
	x := &matfile.Exact{Rows: 1, Cols: 1, Values: [][]*big.Rat{{half}}}
	for _, name := range []string{"a.npy", "a.npz", "a.py", "a.arb", "a.xyz"} {
		if err := matfile.WriteAll([]matfile.Named{{Name: filepath.Join(t.TempDir(), name), Exact: x}}, nil); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	empty := &matfile.Exact{Rows: 0, Cols: 3}
	for _, k := range []matfile.Kind{matfile.CSV, matfile.PARI} {
		if err := matfile.WriteAll([]matfile.Named{{Name: "-", Exact: empty}}, &matfile.Options{Kind: k, Stdout: &bytes.Buffer{}}); err == nil {
			t.Errorf("%s of a matrix without rows", k)
		}
	}
}
