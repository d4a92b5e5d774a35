package gridfiles

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/grid/gridtest"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/internal/npy"
)

var formats = []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(2), halfulp.MP(64), halfulp.MP(200)}

var shapes = [][2]int{{7, 5}, {1, 1}, {1, 9}, {9, 1}, {0, 3}, {3, 0}, {23, 31}}

var grids = [][2]int{{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}}

// blockSize and rounds are so small that matrices of tests have many blocks and rounds.
const blockSize = 3

var rounds = []int{100, 1000, roundSize}

// specials replaces entries of a random matrix by infinities, NaN and signed zeros.
func specials(f halfulp.Format, rows, cols int) *halfulp.Matrix {
	m := gallery.Random(f, rows, cols, 20, 1)
	for k, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), -1} {
		if k < rows*cols {
			m.SetFloat64(k%rows, k/rows, x)
		}
	}
	return m
}

// onGrid runs f in the processes of a grid.
func onGrid(t *testing.T, sides [2]int, f func(g *grid.Grid) error) {
	t.Helper()
	gridtest.Run(t, sides[0]*sides[1], func(to gridtest.Process) error {
		g, err := grid.New(to, sides[0], sides[1], blockSize, new(grid.Local))
		if err != nil {
			return err
		}
		return f(g)
	})
}

// there copies a matrix of the host to a grid, and home back.
func there(t *testing.T, g *grid.Grid, h *halfulp.Matrix) *halfulp.Matrix {
	v := h.View()
	_, z, err := g.NewEntries(t.Context(), v.Arr.Format, v.Rows, v.Cols)
	if err == nil {
		err = g.Set(t.Context(), z, v)
	}
	if err != nil {
		t.Error(err)
	}
	return halfulp.MatrixOf(z)
}

func home(t *testing.T, g *grid.Grid, m *halfulp.Matrix) *halfulp.Matrix {
	z, err := g.Get(t.Context(), m.View())
	if err != nil {
		t.Error(err)
	}
	return halfulp.MatrixOf(z)
}

// left returns the names of the files in a folder.
func left(t *testing.T, dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestRoundTrip writes and reads matrices of all formats and kinds of files on grids: the bytes of
// files and the bits of matrices are the same as with one process.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	trial := 0
	for _, f := range formats {
		for _, shape := range shapes {
			h := specials(f, shape[0], shape[1])
			for _, name := range []string{"a.npy", "a.npz", "a.mtx", "a", "a.csv", "a.mtx.gz"} {
				if strings.HasSuffix(name, ".npy") && f.IsMP() {
					continue
				}
				trial++
				sides, round := grids[trial%len(grids)], rounds[trial%len(rounds)]
				what := fmt.Sprintf("%s of %v, %d x %d, on %v, rounds of %d", name, f, shape[0], shape[1], sides, round)
				one, all := filepath.Join(dir, "one-"+name), filepath.Join(dir, "all-"+name)
				writeErr := matfile.Write(one, h, nil)
				if writeErr != nil { // a table of nothing
					got := failing(t, sides, func(g *grid.Grid) error {
						return newWriting(g, one, there(t, g, h), nil, round).write()
					})
					if got != writeErr.Error() {
						t.Errorf("%s: %q, want %v", what, got, writeErr)
					}
					continue
				}
				opt := &matfile.Options{}
				if strings.HasSuffix(name, ".csv") {
					opt.In = halfulp.Exactly(f)
				}
				want, wantErr := matfile.Read(one, opt)
				onGrid(t, sides, func(g *grid.Grid) error {
					if err := newWriting(g, all, there(t, g, h), nil, round).write(); err != nil {
						return fmt.Errorf("%s: %w", what, err)
					}
					m, err := newReading(g, one, opt, round).read()
					if wantErr != nil {
						if err == nil || err.Error() != wantErr.Error() {
							t.Errorf("%s: error %v, want %v", what, err, wantErr)
						}
						return nil
					}
					if err != nil {
						return fmt.Errorf("%s: %w", what, err)
					}
					if got := home(t, g, m); !got.Same(want) {
						return fmt.Errorf("%s: read\n%v\nwant\n%v", what, got, want)
					}
					return nil
				})
				a, _ := os.ReadFile(one)
				b, _ := os.ReadFile(all)
				if !bytes.Equal(a, b) {
					t.Errorf("%s: another file of %d bytes, not %d", what, len(b), len(a))
				}
			}
		}
	}
	for _, name := range strings.Fields(left(t, dir)) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestViews writes parts of matrices.
func TestViews(t *testing.T) {
	dir := t.TempDir()
	h := specials(halfulp.MP(100), 20, 17)
	for k, of := range []func(*halfulp.Matrix) *halfulp.Matrix{
		func(m *halfulp.Matrix) *halfulp.Matrix { return m.T() },
		func(m *halfulp.Matrix) *halfulp.Matrix { return m.Slice(3, 12, 5, 17) },
		func(m *halfulp.Matrix) *halfulp.Matrix { return m.Row(4).Matrix() },
		func(m *halfulp.Matrix) *halfulp.Matrix { return m.Slice(0, 20, 2, 2) },
	} {
		for _, name := range []string{"a.npz", "a.mtx"} {
			one, all := filepath.Join(dir, "one-"+name), filepath.Join(dir, "all-"+name)
			if err := matfile.Write(one, of(h), nil); err != nil {
				t.Fatal(err)
			}
			onGrid(t, [2]int{2, 2}, func(g *grid.Grid) error {
				return newWriting(g, all, of(there(t, g, h)), nil, 300).write()
			})
			a, _ := os.ReadFile(one)
			b, _ := os.ReadFile(all)
			if !bytes.Equal(a, b) {
				t.Errorf("view %d: another file %s", k, name)
			}
		}
	}
}

// npyFile returns a .npy file with the header that NumPy writes.
func npyFile(descr, shape string, fortran bool, data []byte) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	b := binary.LittleEndian.AppendUint16([]byte(npy.Magic+"\x01\x00"), uint16(len(head)+1))
	return append(append(b, head+"\n"...), data...)
}

// TestNumPy reads arrays as NumPy writes them: in both orders of entries and of bytes, of other
// types, rounded or not, compressed, and several in a file.
func TestNumPy(t *testing.T) {
	dir := t.TempDir()
	f64 := func(order binary.AppendByteOrder, n int) (b []byte) {
		for k := range n {
			x := float64(k)*1.5 - 7
			switch k {
			case 5:
				x = 1e300
			case 6:
				x = math.NaN()
			}
			b = order.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	var dd []byte // by rows: high and low term side by side
	for k := range 9 * 7 {
		dd = binary.LittleEndian.AppendUint64(dd, math.Float64bits(float64(k)))
		dd = binary.LittleEndian.AppendUint64(dd, math.Float64bits(float64(k)*0x1p-60))
	}
	all := map[string][]byte{
		"rows":     npyFile("<f8", "(9, 7)", false, f64(binary.LittleEndian, 63)),
		"columns":  npyFile("<f8", "(9, 7)", true, f64(binary.LittleEndian, 63)),
		"big":      npyFile(">f8", "(9, 7)", false, f64(binary.BigEndian, 63)),
		"flat":     npyFile("<f8", "(63,)", false, f64(binary.LittleEndian, 63)),
		"scalar":   npyFile("<f8", "()", false, f64(binary.LittleEndian, 1)),
		"none":     npyFile("<f8", "(0, 4)", false, nil),
		"dd":       npyFile("<f8", "(9, 7, 2)", false, dd),
		"bytes":    npyFile("|i1", "(9, 7)", false, f64(binary.LittleEndian, 63)[:63]),
		"integers": npyFile("<i8", "(9, 7)", false, f64(binary.LittleEndian, 63)), // whole
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name+".npy"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name := range all {
		for _, in := range []halfulp.InputFormat{{}, halfulp.Exactly(halfulp.Float32), halfulp.Exactly(halfulp.MP(30))} {
			path := filepath.Join(dir, name+".npy")
			var wantInfo matfile.Info
			want, err := matfile.Read(path, &matfile.Options{In: in, Info: &wantInfo})
			if err != nil {
				t.Fatal(err)
			}
			for k, sides := range grids {
				onGrid(t, sides, func(g *grid.Grid) error {
					info := matfile.Info{Stats: halfulp.InputStats{Digits: 7}}
					m, err := newReading(g, path, &matfile.Options{In: in, Info: &info}, rounds[k%len(rounds)]).read()
					if err != nil {
						return fmt.Errorf("%s %v: %w", name, in, err)
					}
					if got := home(t, g, m); !got.Same(want) || !same(info, wantInfo) || info.Kind != matfile.NPY {
						t.Errorf("%s %v on %v: %+v, want %+v\n%v\nwant\n%v", name, in, sides, info, wantInfo, got, want)
					}
					return nil
				})
			}
		}
	}
}

// same reports whether two processes found the same in a file, as far as all processes find it.
func same(a, b matfile.Info) bool {
	return a.Kind == b.Kind && a.Flat == b.Flat && a.Stats == b.Stats
}

// TestArchive reads matrices of a .npz file that has several, compressed or not.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	stored, packed := filepath.Join(dir, "F.npz"), filepath.Join(dir, "G.npz")
	all := []matfile.Named{{Name: "P", Integers: []int{3, 1 << 30, 2}}}
	for name, m := range map[string]*halfulp.Matrix{"L": specials(halfulp.DD, 9, 8), "U": specials(halfulp.MP(90), 8, 7)} {
		all = append(all, matfile.Named{Name: name, Matrix: m})
	}
	if err := matfile.WriteArchive(stored, all, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	from, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	to := zip.NewWriter(&b)
	for _, f := range from.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		w, err := to.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, r); err != nil { //nolint:gosec // a small file
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), os.WriteFile(packed, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{stored, packed} {
		for _, member := range []string{":L", ":U", ":P", ":Q", ""} {
			want, wantErr := matfile.Read(file+member, nil)
			got := failing(t, [2]int{2, 2}, func(g *grid.Grid) error {
				m, err := newReading(g, file+member, nil, 200).read()
				if err == nil && wantErr == nil && !home(t, g, m).Same(want) {
					t.Errorf("%s%s: another matrix", file, member)
				}
				return err
			})
			if wantErr == nil && got != "" || wantErr != nil && got != wantErr.Error() {
				t.Errorf("%s%s: %q, want %v", file, member, got, wantErr)
			}
		}
	}
}

// TestMarket reads valid and invalid Matrix Market files of all kinds, as one process does.
func TestMarket(t *testing.T) {
	const array = "%%MatrixMarket matrix array "
	var numbers, integers strings.Builder
	for k := range 91 {
		fmt.Fprintf(&numbers, "%d.%de-%d\n", k-20, k*k, k%7)
		fmt.Fprintf(&integers, "%d\n", k*k*k-1000)
	}
	list := strings.Fields(numbers.String())
	var several strings.Builder
	for k, x := range list {
		several.WriteString(x)
		switch k % 5 {
		case 0:
			several.WriteString(" ")
		case 1:
			several.WriteString("\n\n% a comment 1 2 3\n")
		case 2:
			several.WriteString(" % 4 5\n")
		default:
			several.WriteString("\t\r\n")
		}
	}
	for name, text := range map[string]string{
		"chosen":      array + "real general\n7 13\n" + numbers.String(),
		"digits":      array + "real general\n7 13\n" + strings.Replace(numbers.String(), "0.", "0.1234567890123456789012345678901234567890", 1),
		"named":       array + "real general\n% halfulp format dd\n7 13\n" + numbers.String(),
		"no end":      array + "real general\n7 13\n" + strings.TrimSpace(numbers.String()),
		"blank end":   array + "real general\n7 13\n" + numbers.String() + strings.Repeat("\n  \n", 50),
		"begin":       array + "real general\n7 13\n\n\n% nothing\n" + numbers.String(),
		"several":     array + "real general\n% halfulp format mp:90\n13 7\n" + several.String(),
		"CRLF":        strings.ReplaceAll(array+"real general\n7 13\n"+numbers.String(), "\n", "\r\n"),
		"CR":          strings.ReplaceAll(array+"real general\n7 13\n"+several.String(), "\n", "\r"),
		"CR within":   array + "real general\n7 13\n" + strings.Replace(several.String(), "% a comment 1 2 3\n", "% a comment 1\r", 3),
		"one line":    array + "real general\n7 13\n" + strings.Join(list, " "),
		"long line":   array + "real general\n7 13\n% " + strings.Repeat("x", 3000) + "\n" + numbers.String(),
		"long head":   array + "real general\n%" + strings.Repeat("x", headSize) + "\n7 13\n" + numbers.String(),
		"at the edge": array + "real general\n%" + strings.Repeat("x", headSize-len(array+"real general\n%\n7 1")) + "\n7 13\n" + numbers.String(),
		"symmetric":   array + "real symmetric\n13 13\n" + numbers.String(),
		"skew":        array + "real skew-symmetric\n14 14\n" + numbers.String(),
		"skew zeros":  array + "real skew-symmetric\n% halfulp format f32\n4 4\n0\n-0\nnan\n-1e-60\n1e-60\n-inf\n",
		"integers":    array + "integer general\n91 1\n" + integers.String(),
		"large":       array + "integer symmetric\n2 2\n1\n123456789012345678901234567890\n-7\n",
		"hex":         array + "real general\n2 2\n0x1.8p+3\n-0x1.123456789abcdef01p-3\n1.5D+3\ninf\n",
		"wide":        array + "integer general\n91 1\n" + strings.Replace(integers.String(), "-999\n", "9007199254740993\n", 1),
		"wide, mixed": array + "real general\n3 1\n0.5\n1\n-9007199254740993.0",
		"losses":      array + "real general\n% halfulp format f32\n5 2\n1\n2\n3\n1e-70\n1e70\n5\n1e-71\n-1e71\n1\n1e72\n",
		"coordinate":  "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n3 2 5\n",
		"empty":       array + "real general\n0 5\n",
		"empty 2":     array + "real general\n5 0\n\n",
		"one skew":    array + "real skew-symmetric\n1 1\n",

		"bad entry":      array + "real general\n7 13\n" + strings.Replace(numbers.String(), list[88], "1.2x", 1),
		"bad, named":     array + "real general\n% halfulp format dd\n7 13\n" + strings.Replace(numbers.String(), list[88], "1.2x", 1),
		"two bad":        array + "real general\n% halfulp format dd\n7 13\n" + strings.NewReplacer(list[40], "one", list[88], "two").Replace(numbers.String()),
		"not whole":      array + "integer general\n91 1\n" + strings.Replace(integers.String(), "\n", ".5\n", 1),
		"truncated":      array + "real general\n7 14\n" + numbers.String(),
		"too many":       array + "real general\n7 12\n" + numbers.String(),
		"too many named": array + "real general\n% halfulp format f64\n7 12\n" + several.String(),
		"full symmetric": array + "real symmetric\n9 9\n" + strings.Join(list[:81], "\n"),
		"far too few":    array + "real general\n70 130\n1\n2\n",
		"nothing":        array + "real general\n3 3\n",
		"no sizes":       array + "real general\n",
		"complex":        array + "complex general\n1 1\n1 2\n",
		"negative":       array + "unsigned-integer general\n3 1\n1\n2\n-3\n",
	} {
		path := filepath.Join(t.TempDir(), "a.mtx")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, in := range []halfulp.InputFormat{{}, halfulp.Exactly(halfulp.Float32), halfulp.OwnOr(halfulp.QD)} {
			var wantInfo matfile.Info
			want, wantErr := matfile.Read(path, &matfile.Options{In: in, Info: &wantInfo})
			for k, sides := range grids {
				what := fmt.Sprintf("%s, %v, on %v", name, in, sides)
				got := failing(t, sides, func(g *grid.Grid) error {
					var info matfile.Info
					m, err := newReading(g, path, &matfile.Options{In: in, Info: &info}, rounds[k%len(rounds)]).read()
					if err != nil {
						return err
					}
					if got := home(t, g, m); wantErr == nil && !got.Same(want) {
						t.Errorf("%s: read\n%v\nwant\n%v", what, got, want)
					}
					if wantErr == nil && (!same(info, wantInfo) || info.Kind != matfile.MatrixMarket) {
						t.Errorf("%s: %+v, want %+v", what, info, wantInfo)
					}
					return nil
				})
				if wantErr == nil && got != "" || wantErr != nil && got != wantErr.Error() {
					t.Errorf("%s: %q, want %v", what, got, wantErr)
				}
			}
		}
	}
}

// TestParts checks which files are read in parts.
func TestParts(t *testing.T) {
	const array, eight = "%%MatrixMarket matrix array ", "1\n2\n3\n4\n5\n6\n7\n8\n"
	long := strings.Repeat("7", 10000)
	doubles := make([]byte, 64)
	for _, x := range []struct {
		name, text string
		whole      bool
	}{
		{"a.mtx", array + "real general\n4 2\n" + eight, false},
		{"a.mtx", array + "integer general\r\n4 2\r\n" + strings.ReplaceAll(eight, "\n", "\r\n"), false},
		{"a.mtx", array + "real symmetric\n% halfulp format qd\n3 3\n" + eight[:12], false},
		{"a.mtx", array + "real skew-symmetric\n3 3\n" + eight[:6], false},
		{"a.mtx", array + "real general\n4 2\n" + strings.ReplaceAll(eight, "\n", "\r"), false},
		{"a.mtx", array + "real general\n4 2\n" + strings.Replace(eight, "3", long, 1), true},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 0\n", true},
		{"a.npy", string(npyFile("<f8", "(4, 2)", false, doubles)), false},
		{"a.npy", string(npyFile(">f8", "(2, 2, 2)", true, doubles)), false},
		{"a.npy", string(npyFile("<u4", "(4, 4)", false, doubles)), false},
		{"a.npy", string(npyFile("<u8", "(4, 2)", false, doubles)), true},
		{"a.npy", string(npyFile("<f16", "(4,)", false, doubles)), true},
		{"a.csv", "1,2\n", true},
		{"a.npy.gz", string(npyFile("<f8", "(4, 2)", false, doubles)), true},
	} {
		path := filepath.Join(t.TempDir(), x.name)
		if err := os.WriteFile(path, []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		onGrid(t, [2]int{1, 3}, func(g *grid.Grid) error {
			r := newReading(g, path, nil, 100)
			whole, err := r.open()
			defer r.file.Close()
			if whole || err != nil {
				return fmt.Errorf("%s: %v, %w", x.name, whole, err)
			}
			if _, err = r.parts(); errors.Is(err, textio.ErrWhole) != x.whole || err != nil && !x.whole {
				t.Errorf("%s: %.60q: %v", x.name, x.text, err)
			}
			return nil
		})
	}
}

// failing reads or writes in the processes of a grid, and returns the error, which is the same in
// all of them.
func failing(t *testing.T, sides [2]int, f func(g *grid.Grid) error) string {
	t.Helper()
	texts := make([]string, sides[0]*sides[1])
	onGrid(t, sides, func(g *grid.Grid) error {
		if err := f(g); err != nil {
			texts[g.Transport().Rank()] = err.Error()
		}
		return nil
	})
	for p, text := range texts {
		if text != texts[0] {
			t.Errorf("process %d says %q, process 0 %q", p, text, texts[0])
		}
	}
	return texts[0]
}

// TestDamaged reads files that are cut short, or have a wrong byte anywhere.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	h := specials(halfulp.MP(100), 11, 7)
	for _, name := range []string{"a.npz", "a.npy", "a.mtx"} {
		path := filepath.Join(dir, name)
		m := h
		if name == "a.npy" {
			m = h.Convert(halfulp.DD)
		}
		if err := matfile.Write(path, m, nil); err != nil {
			t.Fatal(err)
		}
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(good)/150)
		for at := 0; at < len(good); at += step {
			for _, cut := range []bool{true, false} {
				bad := bytes.Clone(good)
				if cut {
					bad = bad[:at]
				} else {
					bad[at] ^= 0x21
				}
				if err := os.WriteFile(path, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				want, wantErr := matfile.Read(path, nil)
				got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
					m, err := newReading(g, path, nil, 200).read()
					if err == nil && wantErr == nil && !home(t, g, m).Same(want) {
						t.Errorf("%s, byte %d, cut %v: another matrix", name, at, cut)
					}
					return err
				})
				if (got != "") != (wantErr != nil) || name == "a.mtx" && wantErr != nil && got != wantErr.Error() && !strings.Contains(got, "is not a number") {
					t.Errorf("%s, byte %d, cut %v: %q, want %v", name, at, cut, got, wantErr)
				}
			}
		}
	}
}

// TestChanged writes other numbers to files while processes read them.
func TestChanged(t *testing.T) {
	const n = 20000
	for _, name := range []string{"a.npy", "a.mtx"} {
		path := filepath.Join(t.TempDir(), name)
		var contents [2][]byte
		for k := range contents {
			h := halfulp.NewMatrix(halfulp.Float64, n, 1)
			for i := range n {
				h.SetFloat64(i, 0, float64(3+k))
			}
			if err := matfile.Write(path, h, nil); err != nil {
				t.Fatal(err)
			}
			var err error
			if contents[k], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		for k, want := range []string{"", path + ": the file was changed while it was read"} {
			if err := os.WriteFile(path, contents[0], 0o600); err != nil {
				t.Fatal(err)
			}
			got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
				var once sync.Once
				opt := &matfile.Options{Progress: func(float64) {
					if g.Transport().Rank() > 0 {
						return
					}
					once.Do(func() {
						if err := os.WriteFile(path, contents[k], 0o600); err != nil {
							t.Error(err)
						}
					})
				}}
				if k == 0 {
					opt.Progress = nil
				}
				_, err := newReading(g, path, opt, 2000).read()
				return err
			})
			if got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

// TestElsewhere has processes that find no file, or a file other than the one of the others.
func TestElsewhere(t *testing.T) {
	dir := t.TempDir()
	h := specials(halfulp.Float64, 30, 40)
	for _, name := range []string{"a.npy", "a.npz", "a.mtx", "a.csv"} {
		for p := range 2 {
			sub := filepath.Join(dir, fmt.Sprint(p))
			if err := os.MkdirAll(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			m := h.Clone()
			m.SetFloat64(0, 0, float64(p))
			m.SetFloat64(29, 39, float64(p))
			if err := matfile.Write(filepath.Join(sub, name), m, nil); err != nil {
				t.Fatal(err)
			}
		}
		at := func(g *grid.Grid, p int) int { return min(max(g.Transport().Rank()-p, 0), 1) }
		got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
			_, err := newReading(g, filepath.Join(dir, fmt.Sprint(at(g, 1)), name), nil, roundSize).read()
			if err != nil { // files have different names here
				err = errors.New(strings.ReplaceAll(err.Error(), filepath.Join(dir, fmt.Sprint(at(g, 1))), "DIR"))
			}
			return err
		})
		if want := "DIR/" + name + ": process 2 has another file of this name than process 0"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		got = failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
			_, err := newReading(g, filepath.Join(dir, []string{"0", "nix", "0"}[g.Transport().Rank()], name), nil, roundSize).read()
			return err
		})
		if want := "process 1: " + filepath.Join(dir, "nix", name) + ": no such file or directory"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
		_, err := newReading(g, filepath.Join(dir, "nix"), nil, roundSize).read()
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("process %d: %v is another error", g.Transport().Rank(), err)
		}
		return err
	})
	if want := filepath.Join(dir, "nix") + ": no such file or directory"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCopies has processes with copies of a file, which are read, and with copies that differ in
// one entry far from the samples that are compared for one file, which are an error.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	h := gallery.Random(halfulp.Float64, 200, 200, 0, 1)
	other := h.Clone()
	const row, col = 22, 95
	x := h.Float64(row, col)
	other.SetFloat64(row, col, math.Float64frombits(math.Float64bits(x)^1))
	for _, name := range []string{"a.npy", "a.mtx"} {
		for sub, m := range map[string]*halfulp.Matrix{"0": h, "1": h, "2": other} {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := matfile.Write(filepath.Join(dir, sub, name), m, &matfile.Options{Digits: 17}); err != nil {
				t.Fatal(err)
			}
		}
		read := func(g *grid.Grid, sub string) (*halfulp.Matrix, error) {
			return newReading(g, filepath.Join(dir, sub, name), nil, 5000).read()
		}
		onGrid(t, [2]int{1, 3}, func(g *grid.Grid) error {
			m, err := read(g, []string{"0", "1", "0"}[g.Transport().Rank()])
			if err == nil && !home(t, g, m).Same(h) {
				err = fmt.Errorf("%s: another matrix", name)
			}
			return err
		})
		got := failing(t, [2]int{2, 2}, func(g *grid.Grid) error {
			sub := []string{"0", "2", "1", "2"}[g.Transport().Rank()]
			_, err := read(g, sub)
			if err != nil {
				err = errors.New(strings.ReplaceAll(err.Error(), filepath.Join(dir, sub), "DIR"))
			}
			return err
		})
		if want := "DIR/" + name + ": processes 1 and 3 have another file of this name than process 0"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMemoryLimit has a memory limit that allows each process its part, but not the whole matrix.
func TestMemoryLimit(t *testing.T) {
	dir := t.TempDir()
	h := specials(halfulp.Float64, 60, 60)
	for _, name := range []string{"a.npy", "a.npz", "a.mtx"} {
		path := filepath.Join(dir, name)
		if err := matfile.Write(path, h, nil); err != nil {
			t.Fatal(err)
		}
		onGrid(t, [2]int{2, 2}, func(g *grid.Grid) error {
			m, err := newReading(g, path, &matfile.Options{MemoryLimit: 8 * 60 * 60 / 4}, 500).read()
			if err != nil {
				return err
			}
			if !home(t, g, m).Same(h) {
				return errors.New("another matrix")
			}
			return nil
		})
		got := failing(t, [2]int{2, 2}, func(g *grid.Grid) error {
			_, err := newReading(g, path, &matfile.Options{MemoryLimit: 8*60*60/4 - 1}, 500).read()
			return err
		})
		if !strings.Contains(got, "memory limit") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// full is a disk with room for a number of writes.
type full struct {
	io.WriterAt
	room int
}

func (f *full) WriteAt(b []byte, at int64) (int, error) {
	if f.room--; f.room < 0 {
		return 0, &fs.PathError{Op: "write", Path: "temporary", Err: syscall.ENOSPC}
	}
	return f.WriterAt.WriteAt(b, at)
}

// TestUnwritten lets writing fail in one process: no new file is left, and an existing file stays.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npz")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := specials(halfulp.Float64, 20, 20)
	for _, name := range []string{"a.npy", "a.npz", "a.mtx"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
			w := newWriting(g, path, there(t, g, h), nil, 300)
			if g.Transport().Rank() == 2 {
				w.through = func(to io.WriterAt) io.WriterAt { return &full{to, 2} }
			}
			return w.write()
		})
		if want := path + ": no space left on device"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if text, _ := os.ReadFile(path); string(text) != "old" {
			t.Errorf("%s was changed", name)
		}
	}
	for _, x := range []struct{ name, want string }{{"nix/a.npy", "no such file"}, {"a.xyz", "extension"}, {".", "is a directory"}} {
		got := failing(t, [2]int{1, 2}, func(g *grid.Grid) error {
			return newWriting(g, filepath.Join(dir, x.name), there(t, g, h), nil, 300).write()
		})
		if !strings.Contains(got, x.want) {
			t.Errorf("%s: %q", x.name, got)
		}
	}
	if got := failing(t, [2]int{1, 2}, func(g *grid.Grid) error {
		return newWriting(g, filepath.Join(dir, "b.npy"), there(t, g, h.Convert(halfulp.MP(70))), nil, 300).write()
	}); !strings.Contains(got, "does not hold") {
		t.Errorf("%q", got)
	}
	if l := left(t, dir); l != "a.mtx a.npy a.npz" {
		t.Errorf("left: %s", l)
	}
}
