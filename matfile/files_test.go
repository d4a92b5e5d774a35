package matfile

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/testlength"
)

// left returns the names in dir.
func left(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.mtx", "a.mtx.gz", "a.npy", "a.npy.gz", "a.npz", "b.NPZ.gz", "a.csv", "a.tsv", "a.txt", "a.dat.gz", "a", "A.MTX.GZ"} {
		for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(3), halfulp.MP(424)} {
			m := gallery.Random(f, 7, 3, 20, 1)
			path := filepath.Join(dir, name)
			err := Write(path, m, nil)
			if strings.Contains(name, "npy") && f.IsMP() {
				if err == nil || CheckName(path, f) == nil {
					t.Errorf("%s holds %v", name, f)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Same(m) {
				t.Errorf("%s in format %v comes back as %v:\n%v, want\n%v", name, f, got.NumberFormat(), got, m)
			}
			// The same bytes on standard input.
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err = Read("-", &Options{Stdin: bytes.NewReader(b)}); err != nil || !got.Same(m) {
				t.Errorf("%s on standard input: %v", name, err)
			}
		}
	}
	if got := left(t, dir); strings.Contains(got, "tmp") {
		t.Errorf("left behind: %s", got)
	}
}

func TestStdout(t *testing.T) {
	var b bytes.Buffer
	if err := Write("-", halfulp.Identity(halfulp.Float64, 2), &Options{Digits: 3, Stdout: &b}); err != nil {
		t.Fatal(err)
	}
	want := "%%MatrixMarket matrix array real general\n% halfulp format f64\n2 2\n1.00\n0\n0\n1.00\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestNothingHalfWritten lets writing fail at several points.
func TestNothingHalfWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "y.mtx")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		if b, _ := os.ReadFile(path); string(b) != "old" || left(t, dir) != "y.mtx" {
			t.Errorf("%s: %q in %s", what, b, left(t, dir))
		}
	}
	fail := errors.New("no more")
	err := files.Write(path, nil, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		if !strings.Contains(left(t, dir), ".tmp") {
			t.Error("no temporary file")
		}
		return fail
	})
	if !errors.Is(err, fail) {
		t.Error(err)
	}
	check("error")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := gallery.Random(halfulp.Float64, 100, 100, 0, 1)
	if err := Write(path, m, &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check("cancelled")
	if err := files.CheckWritable(path); err != nil {
		t.Error(err)
	}
	check("checked")
	if err := Write(path, m, nil); err != nil {
		t.Error(err)
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", i.Mode(), err)
	}
}

// TestLongNames writes files whose names are as long as names can be.
func TestLongNames(t *testing.T) {
	for _, n := range []int{100, 243, 244, 250, 255} {
		name := strings.Repeat("n", n-len(".mtx.gz")) + ".mtx.gz"
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Logf("%d bytes: %v", n, err) // the file system allows no such name
			continue
		}
		for range 2 { // the second time there is no such file
			if err := files.CheckWritable(path); err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
			if err := Write(path, halfulp.Identity(halfulp.Float64, 2), nil); err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
			if got := left(t, filepath.Dir(path)); got != name {
				t.Errorf("%d bytes: left %s", n, got)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", dir, filepath.Join(dir, "none", "a.mtx"), filepath.Join(dir, "file", "a.mtx")} {
		if err := files.CheckWritable(name); err == nil || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := files.CheckWritable(os.DevNull); err != nil {
		t.Error(err)
	}
	if err := Write(os.DevNull, halfulp.Identity(halfulp.DD, 2), nil); err != nil {
		t.Error(err)
	}
	if err := files.CheckWritable("-"); err != nil {
		t.Error(err)
	}
	if err := Write("/dev/full", halfulp.Identity(halfulp.DD, 2), nil); err == nil || !strings.HasPrefix(err.Error(), "/dev/full: ") {
		if _, e := os.Stat("/dev/full"); e == nil {
			t.Error(err)
		}
	}
}

// TestLinks writes through symbolic links: the file that they name is written, in its own folder,
// and the links stay.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, d := range []string{"far", "far/deep"} {
		if err := os.Mkdir(at(d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"direct": "there.mtx", "absolute": at("far/abs.mtx"), "chain": "far/second", "far/second": "third", "far/third": "../end.mtx",
		"short": "far/deep", "short-up": "short/../up.mtx", // far/up.mtx: short/.. is far
		"gone": "nowhere/x.mtx", "loop": "loop",
	} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skip(err)
		}
	}
	m := halfulp.Identity(halfulp.Float64, 2)
	for _, c := range []struct{ link, target string }{
		{"direct", "there.mtx"}, {"absolute", "far/abs.mtx"}, {"chain", "end.mtx"}, {"short-up", "far/up.mtx"},
	} {
		if err := files.CheckWritable(at(c.link)); err != nil {
			t.Errorf("%s: %v", c.link, err)
		}
		if _, err := os.Lstat(at(c.target)); err == nil {
			t.Errorf("%s: checking made the file", c.link)
		}
		for range 2 { // the second time it is there
			err := files.Write(at(c.link), nil, func(w io.Writer) error {
				if got := left(t, filepath.Dir(at(c.target))); !strings.Contains(got, ".tmp") {
					t.Errorf("%s: no temporary file beside %s, only %s", c.link, c.target, got)
				}
				return WriteTo(w, m, nil)
			})
			if err != nil {
				t.Errorf("%s: %v", c.link, err)
				continue
			}
			if i, err := os.Lstat(at(c.link)); err != nil || i.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s is no link any more", c.link)
			}
			if i, err := os.Lstat(at(c.target)); err != nil || !i.Mode().IsRegular() {
				t.Errorf("%s: no file %s", c.link, c.target)
			}
		}
	}
	for _, link := range []string{"gone", "loop"} {
		if err := files.CheckWritable(at(link)); err == nil || !strings.HasPrefix(err.Error(), at(link)+": ") {
			t.Errorf("%s: %v", link, err)
		}
	}
	if got := left(t, dir) + left(t, at("far")); strings.Contains(got, "tmp") {
		t.Errorf("left behind: %s", got)
	}
}

// TestPacked reads files with further bytes after the data that gzip packed.
func TestPacked(t *testing.T) {
	pack := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, s); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one, two := pack("1 2\n3"), pack(" 4\n")
	path := filepath.Join(t.TempDir(), "a.txt.gz")
	for _, c := range []struct{ name, packed, want string }{
		{"two members", one + two, ""},
		{"zeros after them", one + two + strings.Repeat("\x00", 5000), ""},
		{"an empty member", one + pack("") + two + "\x00", ""},
		{"garbage", one + two + "garbage", "a.txt.gz: the packed data is followed by bytes that gzip did not pack"},
		{"text behind zeros", one + "\x00\x00" + two, "the packed data is followed by"},
		{"half a member", one + two[:5], "the packed data ends early"},
		{"half of its magic", one + two[:1], "the packed data is followed by"},
		{"a damaged member", one + two[:2] + "\xff" + two[3:], "invalid header"},
	} {
		if err := os.WriteFile(path, []byte(c.packed), 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := Read(path, nil)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "" && m.String() != "1 2\n3 4":
			t.Errorf("%s:\n%v", c.name, m)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	// The unpacked data of all members counts against the limit.
	if err := os.WriteFile(path, []byte(one+pack(strings.Repeat(" ", 1<<17))), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, &Options{MemoryLimit: 1 << 16}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}

// TestStats reads numbers beyond their format from every kind of file.
func TestStats(t *testing.T) {
	dir := t.TempDir()
	wide := filepath.Join(dir, "a.npy")
	if err := Write(wide, gallery.Random(halfulp.Float64, 1, 40, 900, 1), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		line       int
	}{{"a.csv", "1,2\n1e-99,1e99\n", 2}, {"a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1e99\n1e-99\n", 3}, {"a.npy", "", 0}} {
		path := filepath.Join(dir, c.name)
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var info Info
		if _, err := Read(path, &Options{In: halfulp.Exactly(halfulp.Float32), Info: &info}); err != nil {
			t.Fatal(err)
		}
		if stats := info.Stats; stats.ToInf.Count == 0 || stats.ToZero.Count == 0 || stats.ToInf.Line != c.line {
			t.Errorf("%s: %+v", c.name, info)
		}
	}
}

// TestUnknownExtension writes nothing under a name whose extension has no meaning.
func TestUnknownExtension(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.mat", "a.json", "a.mtx.bz2", "a.mat.gz"} {
		path := filepath.Join(dir, name)
		if err := Write(path, halfulp.Identity(halfulp.Float64, 2), nil); err == nil || !strings.Contains(err.Error(), "does not say what kind") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names := left(t, dir); names != "" {
		t.Errorf("left %s", names)
	}
	// A file to be read is recognized by its content.
	path := filepath.Join(dir, "a.dump")
	if err := os.WriteFile(path, []byte("1 2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(path, nil); err != nil || m.Cols() != 2 {
		t.Errorf("%v, %v", m, err)
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var packed bytes.Buffer
	if err := Write(filepath.Join(dir, "whole.csv.gz"), gallery.Random(halfulp.Float64, 100, 1, 0, 1), nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "whole.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	packed.Write(whole[:len(whole)/2])
	damaged := append([]byte(nil), whole...)
	damaged[len(damaged)-8] ^= 1 // checksum
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "none.mtx"), "no such file"},
		{dir, "is a directory"},
		{write("empty.mtx", ""), "empty"},
		{write("empty.csv", ""), "no numbers"},
		{write("a.mtx", "1 2 3\n"), "a.mtx:1: no Matrix Market file"},
		{write("a.npy", "1 2 3\n"), "no .npy file"},
		{write("a.mtx.gz", "%%MatrixMarket matrix array real general\n1 1\n1\n"), "not packed"},
		{write("short.csv.gz", packed.String()), "ends early"},
		{write("damaged.csv.gz", string(damaged)), "checksum"},
		{write("a.dat", "Dataset Name: x\nFile Format: y\n"), `a.dat:2: "File" is not a number`},
	} {
		if _, err := Read(c.path, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
	}
	big := write("big.csv", strings.Repeat("1 2 3\n", 1000))
	if _, err := Read(big, &Options{MemoryLimit: 1000}); err == nil {
		t.Error("no limit")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(big, &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// opened opens a file, and returns a function that closes it.
func opened(t *testing.T, path string) (in *input, stop func()) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	in = &input{name: path, from: f}
	if err := in.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return in, func() { f.Close() }
}

// TestMapped reads NumPy files that are large enough to be mapped, and damaged ones.
func TestMapped(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD, halfulp.MP(424)} {
		m := gallery.Random(f, 150, 100, 20, 1)
		for _, ext := range []string{".npz", ".npy", ".npz.gz"} {
			if f.IsMP() && ext == ".npy" {
				continue
			}
			path := filepath.Join(dir, "a"+ext)
			if err := Write(path, m, nil); err != nil {
				t.Fatal(err)
			}
			in, stop := opened(t, path)
			_, text, unmap, ok := in.mapNumPy(options{Options: Options{MemoryLimit: 1 << 30}})
			if ok {
				if whole, err := os.ReadFile(path); err != nil || !bytes.Equal(text, whole) {
					t.Errorf("%s: mapped %d bytes, %v", path, len(text), err)
				}
				unmap()
			}
			stop()
			if want := ext != ".npz.gz" && mapsFiles; ok != want {
				t.Errorf("%v %s: mapped %v, want %v", f, path, ok, want)
			}
			got, err := Read(path, nil)
			if err != nil || !got.Same(m) {
				t.Errorf("%v %s: %v", f, path, err)
			}
		}
		path := filepath.Join(dir, "a.npz")
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole[len(whole)/2] ^= 1
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path, nil); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("%v: a damaged file: %v", f, err)
		}
	}
}

// TestBecameShorter truncates files while they are read.
func TestBecameShorter(t *testing.T) {
	testlength.SkipEmulated(t, "it tells no address of a page that is gone")
	if !mapsFiles {
		t.Skip("files are not mapped here")
	}
	dir := t.TempDir()
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD, halfulp.MP(424)} {
		m := gallery.Random(f, 150, 100, 20, 1)
		for _, ext := range []string{".npz", ".npy"} {
			if f.IsMP() && ext == ".npy" {
				continue
			}
			path := filepath.Join(dir, "b"+ext)
			if err := Write(path, m, nil); err != nil {
				t.Fatal(err)
			}
			in, stop := opened(t, path)
			k, text, unmap, ok := in.mapNumPy(options{Options: Options{MemoryLimit: 1 << 30}})
			if !ok {
				t.Fatalf("%s: not mapped", path)
			}
			for _, left := range []int64{int64(len(text)) - 1<<13, 1 << 12, 0} {
				if err := os.Truncate(path, left); err != nil {
					t.Fatal(err)
				}
				for _, threads := range []int{1, 3} {
					if _, err := parse(k, path, text, options{Options: (&Options{Threads: threads}).filled().Options, file: in.file}); err == nil || !strings.Contains(err.Error(), path+": the file became shorter") {
						t.Errorf("%v %s cut to %d bytes: %v", f, path, left, err)
					}
				}
			}
			unmap()
			stop()
		}
	}
}

// TestSciPy reads sparse matrices that SciPy wrote, one of them with two numbers for one place.
func TestSciPy(t *testing.T) {
	for _, format := range []string{"coo", "csr", "csc", "bsr", "dia"} {
		path := filepath.Join("internal", "npy", "testdata", "scipy-"+format+".npz")
		m, err := Read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var info Info
		a, err := ReadSparse(path, &Options{Info: &info})
		if err != nil || info.Kind != NPZ {
			t.Fatal(err, info)
		}
		z := halfulp.NewMatrix(halfulp.Float64, a.Rows, a.Cols)
		for k := range a.Row {
			z.Set(int(a.Row[k]), int(a.Col[k]), a.Values.At(k))
		}
		if !z.Same(m) || m.At(1, 0).String() != "1.75" || m.At(3, 5).String() != "5" {
			t.Errorf("%s:\n%v as entries\n%v", path, m, z)
		}
	}
}

// TestForeign checks that errors name files of other programs and how to convert them.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct{ name, text, want string }{
		{"old.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600), "workbook of Excel"},
		{"a.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64" + strings.Repeat(" ", 90), "'precision', 17"},
		{"b.mat", "MATLAB 7.3 MAT-file, Platform: GLNXA64" + strings.Repeat(" ", 90), "'precision', 17"},
		{"a.h5", "\x89HDF\r\n\x1a\n\x00\x00", "HDF5"},
		{"a.parquet", "PAR1\x15\x04\x15\x20", "Parquet"},
		{"large.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 1<<12), "save the sheet as CSV"},
	} {
		path := filepath.Join(dir, x.name)
		if err := os.WriteFile(path, []byte(x.text), 0o666); err != nil {
			t.Fatal(err)
		}
		// of a memory limit that makes the last one a large file
		_, err := Read(path, &Options{MemoryLimit: 1 << 13})
		if err == nil || !strings.HasPrefix(err.Error(), path+": this is a") || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", x.name, err, x.want)
		}
	}
	path := filepath.Join(dir, "header.csv")
	if err := os.WriteFile(path, []byte("PAR1,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(path, nil); err != nil || m.Rows() != 1 {
		t.Errorf("%v, %v", m, err)
	}
}
