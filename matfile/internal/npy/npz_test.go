package npy

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

var formats = []halfulp.Format{
	halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(2), halfulp.MP(64), halfulp.MP(65), halfulp.MP(424),
}

// specials puts infinities, NaN and signed zeros into m.
func specials(m *halfulp.Matrix) *halfulp.Matrix {
	for k, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), -1} {
		if k < m.Rows()*m.Cols() {
			m.SetFloat64(k%m.Rows(), k/m.Rows(), x)
		}
	}
	return m
}

// TestZip writes and reads all formats, specials and shapes, and rounds to others.
func TestZip(t *testing.T) {
	for _, f := range formats {
		for _, shape := range [][2]int{{5, 4}, {1, 1}, {0, 3}, {3, 0}, {1, 7}, {40, 37}} {
			m := specials(gallery.Random(f, shape[0], shape[1], 20, 1))
			for k, view := range []*halfulp.Matrix{m, m.T(), m.Slice(0, shape[0]/2, 0, shape[1])} {
				got, err := ParseZip(zipped(t, view), "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
				if err != nil || !got.Same(view) {
					t.Errorf("%v %v, view %d: %v, %v, want %v", f, shape, k, got, err, view)
				}
				got, err = ParseZip(zipped(t, view), "a", options(t, halfulp.Exactly(halfulp.MP(20)), 1<<20, nil))
				if err != nil || !got.Same(view.Convert(halfulp.MP(20))) {
					t.Errorf("%v %v, view %d to mp:20: %v, %v", f, shape, k, got, err)
				}
				if !Holds(f) {
					continue
				}
				if got, err = Parse(written(t, view), "a", options(t, halfulp.InputFormat{}, 1<<20, nil)); err != nil || !got.Same(view) {
					t.Errorf("%v %v, view %d in .npy: %v, %v", f, shape, k, got, err)
				}
			}
		}
	}
	if a, err := File(halfulp.NewMatrix(halfulp.QD, 0, math.MaxInt32), false); err != nil || a.Parts > 0 {
		t.Errorf("a matrix without rows has %d parts, %v", a.Parts, err)
	}
	huge := halfulp.NewScalar(halfulp.MP(9), new(big.Float).SetMantExp(big.NewFloat(1), 2000))
	m := halfulp.NewMatrix(halfulp.MP(9), 1, 2)
	m.Set(0, 0, huge)
	m.Set(0, 1, halfulp.MP(9).Quo(halfulp.Float(1), huge))
	var stats halfulp.InputStats
	if _, err := ParseZip(zipped(t, m), "a", options(t, halfulp.Exactly(halfulp.Float64), 1<<20, &stats)); err != nil || stats.ToInf.Count != 1 || stats.ToZero.Count != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// TestFlat checks that vectors stay vectors, in .npz files of every format and in .npy files of
// plain numbers, also as NumPy reads them, and that matrices of one column stay matrices.
func TestFlat(t *testing.T) {
	dir := t.TempDir()
	var paths, want []string
	for _, f := range formats {
		m := specials(gallery.Random(f, 7, 1, 20, 1))
		for _, flat := range []bool{true, false} {
			all, err := Arrays(m, flat)
			if err != nil {
				t.Fatal(err)
			}
			var is bool
			opt := options(t, halfulp.InputFormat{}, 1<<20, nil)
			opt.Flat = &is
			b := zipOf(t, all...)
			got, err := ParseZip(b, "a", opt)
			if err != nil || !got.Same(m) || is != flat {
				t.Errorf("%v, flat %t: %v, %v, flat %t", f, flat, got, err, is)
			}
			name := filepath.Join(dir, strings.ReplaceAll(fmt.Sprint(f, flat, ".npz"), ":", ""))
			if err := os.WriteFile(name, b, 0o666); err != nil {
				t.Fatal(err)
			}
			shape := "(7, 1)"
			if flat {
				shape = "(7,)"
			}
			paths, want = append(paths, name), append(want, shape)
			if f != halfulp.Float32 && f != halfulp.Float64 {
				continue
			}
			a, err := File(m, flat)
			if err != nil {
				t.Fatal(err)
			}
			is = false
			if got, err = Parse(a.bytes(), "a", opt); err != nil || !got.Same(m) || is != flat {
				t.Errorf("%v, flat %t, .npy: %v, %v, flat %t", f, flat, got, err, is)
			}
		}
	}
	python := numpy(t)
	program := `import numpy, sys
for f in sys.argv[1:]:
    z = numpy.load(f)
    a = z[[k for k in ("values", "terms", "signs") if k in z][0]]
    print(a.shape[:-1] if "terms" in z else a.shape)`
	out, err := exec.Command(python, append([]string{"-c", program}, paths...)...).CombinedOutput()
	if err != nil || string(out) != strings.Join(want, "\n")+"\n" {
		t.Errorf("%v: NumPy sees the shapes\n%s, want\n%s", err, out, want)
	}
}

// TestMembers writes several matrices to one file and reads each.
func TestMembers(t *testing.T) {
	for _, f := range formats {
		a, b := specials(gallery.Random(f, 4, 3, 20, 1)), gallery.Random(f, 3, 1, 20, 2)
		var all []Array
		for _, m := range []struct {
			name string
			*halfulp.Matrix
		}{{"A", a}, {"A_b", b}} {
			arrays, err := Member(m.name, m.Matrix, false)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, arrays...)
		}
		z := zipOf(t, append(all, Integers("P", []int{2, 0, 1}))...)
		p := halfulp.NewMatrixFloat64(3, 1, 3, []float64{2, 0, 1})
		for name, want := range map[string]*halfulp.Matrix{"A": a, "A_b": b, "P": p} {
			o := options(t, halfulp.InputFormat{}, 1<<20, nil)
			o.Member = name
			if got, err := ParseZip(z, "a", o); err != nil || !got.Same(want) {
				t.Errorf("%v, %s: %v, %v, want %v", f, name, got, err, want)
			}
		}
		if _, err := ParseZip(z, "a", options(t, halfulp.InputFormat{}, 1<<20, nil)); err == nil || !strings.Contains(err.Error(), "(A, A_b, P)") {
			t.Errorf("%v: %v", f, err)
		}
	}
}

// numpy returns a Python that has NumPy, or skips the test.
func numpy(t *testing.T) string {
	python := os.Getenv("HALFULP_PYTHON")
	if python == "" {
		python = "python3"
	}
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("no NumPy: HALFULP_PYTHON names a Python that has it")
	}
	return python
}

func TestZipErrors(t *testing.T) {
	all, err := Arrays(gallery.Random(halfulp.MP(65), 2, 3, 5, 1), false)
	if err != nil {
		t.Fatal(err)
	}
	value, err := File(gallery.Random(halfulp.Float64, 2, 3, 5, 1), false)
	if err != nil {
		t.Fatal(err)
	}
	other := func(k int, b Array) []byte {
		c := append([]Array(nil), all...)
		b.Name = c[k].Name
		c[k] = b
		return zipOf(t, c...)
	}
	changed := func(k, at int, to byte) []byte {
		a := all[k]
		return other(k, Array{Head: a.Head, Parts: 1, Append: func([]byte, int) []byte {
			b := a.bytes()
			b[len(a.Head)+at] = to
			return b
		}})
	}
	// A zero with one wrong byte in its codes.
	zeros, err := Arrays(halfulp.NewMatrix(halfulp.MP(65), 1, 1), false)
	if err != nil {
		t.Fatal(err)
	}
	zero := func(k int, to byte) []byte {
		c := append([]Array(nil), zeros...)
		c[k] = Array{Name: c[k].Name, Head: c[k].Head, Parts: 1, Append: func(b []byte, _ int) []byte {
			n := len(b)
			b = zeros[k].Append(b, 0)
			b[n] = to
			return b
		}}
		return zipOf(t, c...)
	}
	number := halfulp.NewMatrix(halfulp.MP(65), 1, 1)
	number.SetFloat64(0, 0, math.NaN())
	nans, err := Arrays(number, false)
	if err != nil {
		t.Fatal(err)
	}
	nans[3].Append = func(b []byte, _ int) []byte { return append(b, 0xff) }
	nan := zipOf(t, nans...)
	damaged := zipOf(t, value)
	damaged[200] ^= 1
	named := func(s string) []byte { return zipOf(t, text("format", s), value) }
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "no .npz file"},
		{[]byte(ZipMagic), "no .npz file"},
		{zipOf(t, value, all[1]), "holds 2 matrices (limbs, values)"},
		{zipOf(t), "holds no array"},
		{zipOf(t, value, value), "two arrays"},
		{damaged, "checksum"},
		{zipOf(t, all[:4]...), `no array "classes"`},
		{zipOf(t, all[0]), `no array "limbs"`},
		{named("f64")[:300], "damaged"},
		{named("f32"), "does not hold numbers of format f32"},
		{named("dd"), `no array "terms"`},
		{named("f65"), "unknown format"},
		{other(0, value), "is no name"},
		{other(0, text("format", "mp:64")), "have 2 limbs"},
		{other(0, text("format", "mp:66")), ""}, // a wider format of as many limbs holds them too
		{other(1, value), `array "limbs": not of NumPy's type u8`},
		{other(2, value), `array "exponents": not of NumPy's type i4`},
		{other(3, all[1]), `array "signs"`},
		{changed(3, 0, 0), "entry (1, 1) is no number of format mp:65: its sign is 0, and every number needs 1 or -1"},
		{changed(4, 1, 4), "entry (2, 1) is no number of format mp:65: class 4 is none of 0 zero, 1 finite, 2 infinity, 3 NaN"},
		{changed(4, 1, 0), "entry (2, 1) is no number of format mp:65: of class 0, zero, it needs limbs 0"},
		{changed(1, 0, 1), "entry (1, 1) is no number of format mp:65: bits of the first limb below its 65 bits of precision are set"},
		{changed(1, 55, 0), "entry (1, 1) is no number of format mp:65: of class 1, finite, it needs the highest bit of the last limb set"},
		{zero(2, 1), "of class 0, zero, it needs exponent 0"},
		{zero(3, 0), "its sign is 0: zero needs sign 1, or -1 for -0"},
		{zero(3, 0xff), ""}, // -0
		{zero(4, 2), ""},    // infinity
		{nan, "its sign is -1: NaN needs sign 1"},
		{zipOf(t, value, Array{Name: "xl/workbook.xml"}), "this is an Excel workbook: save the sheet as CSV"},
		{zipOf(t, Array{Name: "mimetype"}, Array{Name: "content.xml"}), "this is an OpenDocument file: save the sheet as CSV"},
	} {
		_, err := ParseZip(c.file, "a.npz", options(t, halfulp.InputFormat{}, 1<<20, nil))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v, want no error", err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "a.npz: ") || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := ParseZip(zipped(t, halfulp.NewMatrix(halfulp.MP(1000), 100, 100)), "a", options(t, halfulp.InputFormat{}, 1<<15, nil)); err == nil {
		t.Error("no limit")
	}
	// 1 MiB of zeros compressed into a kilobyte.
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if w, err := z.Create("a.npy"); err == nil {
		w.Write(append(header1("|u1", "(1048576, 1)"), make([]byte, 1<<20)...))
	}
	z.Close()
	if m, err := ParseZip(b.Bytes(), "a", options(t, halfulp.InputFormat{}, 1<<24, nil)); err != nil || m.Rows() != 1<<20 {
		t.Errorf("compressed: %v", err)
	}
	if _, err := ParseZip(b.Bytes(), "a", options(t, halfulp.InputFormat{}, 1<<18, nil)); err == nil {
		t.Error("no limit of what is compressed")
	}
}

// TestFixtures reads files that NumPy wrote; testdata/make.py documents their contents.
func TestFixtures(t *testing.T) {
	list, err := os.ReadFile(filepath.Join("testdata", "values.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line) // name, format, rows, columns, numbers by rows in hexadecimal
		checkFixture(t, "testdata", f)
	}
}

func checkFixture(t *testing.T, dir string, f []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, f[0]))
	if err != nil {
		t.Fatal(err)
	}
	var m *halfulp.Matrix
	if strings.HasSuffix(f[0], ".npz") {
		m, err = ParseZip(b, f[0], options(t, halfulp.InputFormat{}, 1<<20, nil))
	} else {
		m, err = Parse(b, f[0], options(t, halfulp.InputFormat{}, 1<<20, nil))
	}
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	var got []string
	for i := range m.Rows() {
		for j := range m.Cols() {
			got = append(got, m.At(i, j).Hex())
		}
	}
	r, c := m.Dims()
	head := strings.Join(append([]string{f[0], m.NumberFormat().String(), strconv.Itoa(r), strconv.Itoa(c)}, got...), " ")
	if want := strings.Join(f, " "); head != want {
		t.Errorf("%s, want %s", head, want)
	}
}

// TestNumPyItself lets NumPy, where it is installed, write the fixtures anew and read the files
// that this package writes, in all formats.
func TestNumPyItself(t *testing.T) {
	python := numpy(t)
	dir := t.TempDir()
	if out, err := exec.Command(python, filepath.Join("testdata", "make.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	list, err := os.ReadFile(filepath.Join(dir, "values.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		checkFixture(t, dir, strings.Fields(line))
	}
	var want strings.Builder
	args := []string{filepath.Join("testdata", "show.py")}
	for _, f := range formats {
		m := specials(gallery.Random(f, 4, 3, 20, 2))
		text := ""
		for i := range 4 {
			for j := range 3 {
				text += " " + m.At(i, j).Hex()
			}
		}
		name := filepath.Join(dir, strings.ReplaceAll(f.String(), ":", "")+".npz")
		if err := os.WriteFile(name, zipped(t, m), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
		want.WriteString("4 3" + text + "\n")
		if !Holds(f) {
			continue
		}
		name = strings.TrimSuffix(name, "z") + "y"
		if err := os.WriteFile(name, written(t, m), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
		want.WriteString("4 3" + text + "\n")
	}
	out, err := exec.Command(python, args...).CombinedOutput()
	if err != nil || string(out) != want.String() {
		t.Errorf("%v: NumPy reads\n%s, want\n%s", err, out, want.String())
	}
}

func FuzzParseZip(f *testing.F) {
	for _, g := range formats {
		f.Add(zipped(f, specials(gallery.Random(g, 4, 3, 20, 1))))
	}
	for _, file := range sparseFiles(f, 4, 3, []triple{{1, 2, 0.5}, {3, 0, -7}, {1, 2, 1e300}, {0, 0, 0}}) {
		f.Add(file)
	}
	f.Add(scipy(f, "dia", 2, 3, shaped("data", "<f8", "(2, 2)", []float64{1, 2, 3, 4}), numbersOf("offsets", "<i8", []int64{0, -1})))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseZip(b, "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
		a, err2 := ParseSparse(b, "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
		if err != nil {
			return
		}
		if err2 != nil && !strings.Contains(err2.Error(), "memory limit") || err2 == nil && (a.Values.NumberFormat() != m.NumberFormat() || a.Rows != m.Rows() || a.Cols != m.Cols()) {
			t.Fatalf("%v, %v as entries %+v, %v", m, m.NumberFormat(), a, err2)
		}
		for k := 0; err2 == nil && k < len(a.Row); k++ {
			if x, y := a.Values.At(k), m.At(int(a.Row[k]), int(a.Col[k])); x.Hex() != y.Hex() {
				t.Fatalf("%v, as entries %+v", m, a)
			}
		}
		back, err := ParseZip(zipped(t, m), "a", options(t, halfulp.InputFormat{}, 1<<24, nil))
		if err != nil || !back.Same(m) {
			t.Fatalf("comes back as\n%v, %v, not as\n%v", back, err, m)
		}
	})
}

// TestZeroChecksum reads members of .npz files whose stored checksum is 0, which is wrong.
func TestZeroChecksum(t *testing.T) {
	content := written(t, gallery.Random(halfulp.Float64, 30, 1, 20, 1))
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		packed := content
		if method == zip.Deflate {
			var b bytes.Buffer
			w, err := flate.NewWriter(&b, flate.BestSpeed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(content); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			packed = b.Bytes()
		}
		for _, sum := range []uint32{crc32.ChecksumIEEE(content), 0} {
			var file bytes.Buffer
			z := zip.NewWriter(&file)
			w, err := z.CreateRaw(&zip.FileHeader{
				Name: "a.npy", Method: method, CRC32: sum, CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(content)),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(packed); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = ParseZip(file.Bytes(), "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
			if sum != 0 && err != nil || sum == 0 && !errors.Is(err, zip.ErrChecksum) {
				t.Errorf("method %d, checksum %08x: %v", method, sum, err)
			}
		}
	}
}
