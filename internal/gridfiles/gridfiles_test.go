package gridfiles

import (
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
	"syscall"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/grid/gridtest"
	"github.com/halfulp/halfulp/internal/npy"
	"github.com/halfulp/halfulp/internal/raw"
)

var formats = []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(2), halfulp.MP(64), halfulp.MP(200)}

var shapes = [][2]int{{7, 5}, {1, 1}, {1, 9}, {9, 1}, {0, 3}, {3, 0}, {23, 31}}

var grids = [][2]int{{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}}

// blockSize and rounds are so small that matrices of tests have many blocks and rounds.
const blockSize = 3

var rounds = []int{100, 1000, roundSize}

// specials puts infinities, NaN and signed zeros into a random matrix.
func specials(f halfulp.Format, rows, cols int) *halfulp.Matrix {
	m := halfulp.Random(f, rows, cols, 20, 1)
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
	v := raw.Matrix(h)
	_, z, err := g.NewEntries(t.Context(), v.Arr.Format, v.Rows, v.Cols)
	if err == nil {
		err = g.Set(t.Context(), z, v)
	}
	if err != nil {
		t.Error(err)
	}
	return raw.NewMatrix(z).(*halfulp.Matrix)
}

func home(t *testing.T, g *grid.Grid, m *halfulp.Matrix) *halfulp.Matrix {
	z, err := g.Get(t.Context(), raw.Matrix(m))
	if err != nil {
		t.Error(err)
	}
	return raw.NewMatrix(z).(*halfulp.Matrix)
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

// TestRoundTrip writes and reads matrices of all formats and kinds of files on grids: files have the
// bytes and matrices the bits of one process.
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
				writeErr := files.WriteMatrix(one, nil, h, files.WriteOptions{})
				if writeErr != nil { // a table of nothing
					got := failing(t, sides, func(g *grid.Grid) error {
						return newWriting(g, one, there(t, g, h), files.WriteOptions{}, round).write(nil)
					})
					if got != writeErr.Error() {
						t.Errorf("%s: %q, want %v", what, got, writeErr)
					}
					continue
				}
				opt := files.ReadOptions{}
				if strings.HasSuffix(name, ".csv") {
					opt.In = halfulp.Exactly(f)
				}
				want, wantErr := files.ReadMatrix(one, nil, opt)
				onGrid(t, sides, func(g *grid.Grid) error {
					if err := newWriting(g, all, there(t, g, h), files.WriteOptions{}, round).write(nil); err != nil {
						return fmt.Errorf("%s: %w", what, err)
					}
					m, err := read(g, one, nil, opt, round)
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
			if err := files.WriteMatrix(one, nil, of(h), files.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			onGrid(t, [2]int{2, 2}, func(g *grid.Grid) error {
				return newWriting(g, all, of(there(t, g, h)), files.WriteOptions{}, 300).write(nil)
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
// types, rounded or not, compressed, several in a file.
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
		"integers": npyFile("<i8", "(9, 7)", false, f64(binary.LittleEndian, 63)), // read as a whole
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name+".npy"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name := range all {
		for _, in := range []halfulp.InputFormat{{}, halfulp.Exactly(halfulp.Float32), halfulp.Exactly(halfulp.MP(30))} {
			path := filepath.Join(dir, name+".npy")
			var wantStats halfulp.InputStats
			wantFlat := false
			want, err := files.ReadMatrix(path, nil, files.ReadOptions{In: in, Stats: &wantStats, Flat: &wantFlat})
			if err != nil {
				t.Fatal(err)
			}
			for k, sides := range grids {
				onGrid(t, sides, func(g *grid.Grid) error {
					stats, flat, noTable := halfulp.InputStats{Digits: 7}, false, false
					m, err := read(g, path, nil, files.ReadOptions{In: in, Stats: &stats, Flat: &flat, NoTable: &noTable}, rounds[k%len(rounds)])
					if err != nil {
						return fmt.Errorf("%s %v: %w", name, in, err)
					}
					if got := home(t, g, m); !got.Same(want) || stats != wantStats || flat != wantFlat || !noTable {
						t.Errorf("%s %v on %v: %+v, want %+v, %v\n%v\nwant\n%v", name, in, sides, stats, wantStats, flat, got, want)
					}
					return nil
				})
			}
		}
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
		if err := files.WriteMatrix(path, nil, m, files.WriteOptions{}); err != nil {
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
				want, wantErr := files.ReadMatrix(path, nil, files.ReadOptions{})
				got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
					m, err := read(g, path, nil, files.ReadOptions{}, 200)
					if err == nil && wantErr == nil && !home(t, g, m).Same(want) {
						t.Errorf("%s, byte %d, cut %v: another matrix", name, at, cut)
					}
					return err
				})
				if (got != "") != (wantErr != nil) || name == "a.mtx" && wantErr != nil && got != wantErr.Error() {
					t.Errorf("%s, byte %d, cut %v: %q, want %v", name, at, cut, got, wantErr)
				}
			}
		}
	}
}

// TestElsewhere has processes that find another file than the others, or none.
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
			if err := files.WriteMatrix(filepath.Join(sub, name), nil, m, files.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		at := func(g *grid.Grid, p int) int { return min(max(g.Transport().Rank()-p, 0), 1) }
		got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
			_, err := read(g, filepath.Join(dir, fmt.Sprint(at(g, 1)), name), nil, files.ReadOptions{}, roundSize)
			if err != nil { // files have different names here
				err = errors.New(strings.ReplaceAll(err.Error(), filepath.Join(dir, fmt.Sprint(at(g, 1))), "DIR"))
			}
			return err
		})
		if want := "DIR/" + name + ": process 2 has another file of this name than process 0"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		got = failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
			_, err := read(g, filepath.Join(dir, []string{"0", "nix", "0"}[g.Transport().Rank()], name), nil, files.ReadOptions{}, roundSize)
			return err
		})
		if want := "process 1: " + filepath.Join(dir, "nix", name) + ": no such file or directory"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
		_, err := read(g, filepath.Join(dir, "nix"), nil, files.ReadOptions{}, roundSize)
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("process %d: %v is another error", g.Transport().Rank(), err)
		}
		return err
	})
	if want := filepath.Join(dir, "nix") + ": no such file or directory"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMemoryLimit lets each process have its part, and not the whole.
func TestMemoryLimit(t *testing.T) {
	dir := t.TempDir()
	h := specials(halfulp.Float64, 60, 60)
	for _, name := range []string{"a.npy", "a.npz"} {
		path := filepath.Join(dir, name)
		if err := files.WriteMatrix(path, nil, h, files.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		onGrid(t, [2]int{2, 2}, func(g *grid.Grid) error {
			m, err := read(g, path, nil, files.ReadOptions{MemoryLimit: 8 * 60 * 60 / 4}, 500)
			if err != nil {
				return err
			}
			if !home(t, g, m).Same(h) {
				return errors.New("another matrix")
			}
			return nil
		})
		got := failing(t, [2]int{2, 2}, func(g *grid.Grid) error {
			_, err := read(g, path, nil, files.ReadOptions{MemoryLimit: 8*60*60/4 - 1}, 500)
			return err
		})
		if !strings.Contains(got, "memory limit") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// full is a disk with room for so many writes.
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

// TestUnwritten writes where that fails in one process: nothing is left, and what was there stays.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npz")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := specials(halfulp.Float64, 20, 20)
	for _, name := range []string{"a.npy", "a.npz"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := failing(t, [2]int{1, 3}, func(g *grid.Grid) error {
			w := newWriting(g, path, there(t, g, h), files.WriteOptions{}, 300)
			if g.Transport().Rank() == 2 {
				w.through = func(to io.WriterAt) io.WriterAt { return &full{to, 2} }
			}
			return w.write(nil)
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
			return newWriting(g, filepath.Join(dir, x.name), there(t, g, h), files.WriteOptions{}, 300).write(nil)
		})
		if !strings.Contains(got, x.want) {
			t.Errorf("%s: %q", x.name, got)
		}
	}
	if got := failing(t, [2]int{1, 2}, func(g *grid.Grid) error {
		return newWriting(g, filepath.Join(dir, "b.npy"), there(t, g, h.Convert(halfulp.MP(70))), files.WriteOptions{}, 300).write(nil)
	}); !strings.Contains(got, "does not hold") {
		t.Errorf("%q", got)
	}
	if l := left(t, dir); l != "a.npy a.npz" {
		t.Errorf("left: %s", l)
	}
}
