package matfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
)

// largeRows are as many as a large Matrix Market file with wide lines has here.
const largeRows = 1 << 12

// contents returns two contents of equal length for a file of a kind.
func contents(t *testing.T, ext string, rows int) (a, b []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a"+ext)
	for k, to := range []*[]byte{&a, &b} {
		m := halfulp.NewMatrix(halfulp.Float64, rows, 1)
		for i := range rows {
			m.SetFloat64(i, 0, float64(k+1))
		}
		if err := Write(path, m, nil); err != nil {
			t.Fatal(err)
		}
		var err error
		if *to, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if rows == largeRows {
		wide := strings.Repeat(" ", 2*largeFile/largeRows)
		a, b = bytes.ReplaceAll(a, []byte("\n1"), []byte("\n"+wide+"1")), bytes.ReplaceAll(b, []byte("\n2"), []byte("\n"+wide+"2"))
	}
	if len(a) != len(b) {
		t.Fatalf("%d and %d bytes", len(a), len(b))
	}
	return a, b
}

// TestChanged writes other numbers to files of all kinds while they are read, in place, so that the
// length does not change.
func TestChanged(t *testing.T) {
	for _, c := range []struct {
		ext  string
		rows int
	}{{".npy", 20}, {".npy", 20000}, {".npz", 20000}, {".csv", 40000}, {".mtx", 40000}, {".mtx", largeRows}} {
		path := filepath.Join(t.TempDir(), "a"+c.ext)
		a, b := contents(t, c.ext, c.rows)
		write := func(content []byte) {
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Error(err)
			}
		}
		want := path + ": the file was changed while it was read"
		write(a)
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := Read(path, nil); err != nil || m.At(c.rows-1, 0).String() != "1" {
			t.Errorf("%s: unchanged: %v", path, err)
		}
		for _, how := range []string{"written", "as long ago as before", "cut", "replaced", "with an error"} {
			if how == "as long ago as before" && runtime.GOOS != "linux" || how == "written" && len(a) < mappedSize {
				continue // the change cannot be detected here
			}
			if len(a) < mappedSize {
				time.Sleep(20 * time.Millisecond) // ticks of a kernel last up to 10
			}
			z, err := reading(path, (&Options{Context: t.Context()}).filled(), func(in *input) (string, error) {
				switch how {
				case "written", "as long ago as before", "with an error":
					write(b)
				case "cut":
					if err := os.Truncate(path, int64(len(a))-8); err != nil {
						t.Error(err)
					}
				case "replaced":
					if err := os.WriteFile(path+".new", b, 0o666); err != nil {
						t.Error(err)
					}
					if err := os.Rename(path+".new", path); err != nil {
						t.Skip(err)
					}
				}
				if how == "as long ago as before" {
					if err := os.Chtimes(path, time.Time{}, before.ModTime()); err != nil {
						t.Error(err)
					}
				}
				if how == "with an error" {
					return "something", fmt.Errorf("wrong")
				}
				return "something", nil
			})
			if how == "replaced" { // what is open stays
				if err != nil || z != "something" {
					t.Errorf("%s %s: %q, %v", path, how, z, err)
				}
			} else if err == nil || err.Error() != want || z != "" {
				t.Errorf("%s %s: %q, %v, want %s", path, how, z, err, want)
			}
			write(a)
			before, _ = os.Stat(path)
		}
		if c.ext != ".mtx" {
			continue
		}
		once := false
		if _, err := Read(path, &Options{Threads: 1, Progress: func(float64) {
			if !once {
				once = true
				write(b)
			}
		}}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// TestDoublesChanged writes to a file that is read in parts.
func TestDoublesChanged(t *testing.T) {
	if !mapsFiles {
		t.Skip("files are not mapped here")
	}
	path := filepath.Join(t.TempDir(), "a.npy")
	a, b := contents(t, ".npy", 20000)
	short, _ := contents(t, ".npy", 20)
	for _, other := range [][]byte{short, a[:len(a)-1], bytes.Replace(a, []byte("<f8"), []byte("<i8"), 1), nil} {
		if err := os.WriteFile(path, other, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, ok := OpenDoubles(t.Context(), path); ok {
			t.Errorf("%d bytes are opened", len(other))
		}
	}
	for _, content := range [][]byte{a, b} {
		if err := os.WriteFile(path, a, 0o666); err != nil {
			t.Fatal(err)
		}
		d, ok := OpenDoubles(t.Context(), path)
		if !ok {
			t.Fatal("not opened")
		}
		if bytes.Equal(content, b) {
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		z := make([]float64, d.Len())
		if err := d.Read(z, 0); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(); (err == nil) != bytes.Equal(content, a) || err != nil && !strings.HasPrefix(err.Error(), path+": the file was changed") {
			t.Errorf("%g: %v", z[0], err)
		}
		d.Close()
	}
}
