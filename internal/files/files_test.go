package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
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
	for _, name := range []string{"a.mtx", "a.mtx.gz", "a.npy", "a.npy.gz", "a.csv", "a.tsv", "a.txt", "a.dat.gz", "a", "A.MTX.GZ"} {
		for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(3), halfulp.MP(424)} {
			m := halfulp.Random(f, 7, 3, 20, 1)
			path := filepath.Join(dir, name)
			err := WriteMatrix(path, nil, m, WriteOptions{})
			if strings.Contains(name, "npy") && f != halfulp.Float32 && f != halfulp.Float64 {
				if err == nil || CheckWritable(path, f) == nil {
					t.Errorf("%s holds %v", name, f)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReadMatrix(path, nil, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Same(m) {
				t.Errorf("%s in format %v comes back as %v:\n%v, want\n%v", name, f, got.Format(), got, m)
			}
			// The same bytes on standard input.
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err = ReadMatrix("-", bytes.NewReader(b), ReadOptions{}); err != nil || !got.Same(m) {
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
	if err := WriteMatrix("-", &b, halfulp.Identity(halfulp.Float64, 2), WriteOptions{Digits: 3}); err != nil {
		t.Fatal(err)
	}
	want := "%%MatrixMarket matrix array real general\n% halfulp format f64\n2 2\n1.00\n0\n0\n1.00\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestNothingHalfWritten lets writing fail at several places.
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
	err := Write(path, nil, func(w io.Writer) error {
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
	m := halfulp.Random(halfulp.Float64, 100, 100, 0, 1)
	if err := WriteMatrix(path, nil, m, WriteOptions{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check("cancelled")
	if err := CheckWritable(path); err != nil {
		t.Error(err)
	}
	check("checked")
	if err := WriteMatrix(path, nil, m, WriteOptions{}); err != nil {
		t.Error(err)
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", i.Mode(), err)
	}
}

func TestRemoveTemporaries(t *testing.T) {
	dir := t.TempDir()
	err := Write(filepath.Join(dir, "x"), nil, func(io.Writer) error {
		RemoveTemporaries()
		if n := left(t, dir); n != "" {
			t.Errorf("left: %s", n)
		}
		return nil
	})
	if err == nil || left(t, dir) != "" {
		t.Errorf("%v, left: %s", err, left(t, dir))
	}
	temporaries.gone = false
}

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", dir, filepath.Join(dir, "none", "a.mtx"), filepath.Join(dir, "file", "a.mtx")} {
		if err := CheckWritable(name); err == nil || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckWritable(os.DevNull); err != nil {
		t.Error(err)
	}
	if err := WriteMatrix(os.DevNull, nil, halfulp.Identity(halfulp.DD, 2), WriteOptions{}); err != nil {
		t.Error(err)
	}
	if err := CheckWritable("-"); err != nil {
		t.Error(err)
	}
	if err := WriteMatrix("/dev/full", nil, halfulp.Identity(halfulp.DD, 2), WriteOptions{}); err == nil || !strings.HasPrefix(err.Error(), "/dev/full: ") {
		if _, e := os.Stat("/dev/full"); e == nil {
			t.Error(err)
		}
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
	if err := WriteMatrix(filepath.Join(dir, "whole.csv.gz"), nil, halfulp.Random(halfulp.Float64, 100, 1, 0, 1), WriteOptions{}); err != nil {
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
		{write("a.dat", "Dataset Name: x\n"), `a.dat:1: "Dataset" is not a number`},
	} {
		if _, err := ReadMatrix(c.path, nil, ReadOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
	}
	big := write("big.csv", strings.Repeat("1 2 3\n", 1000))
	if _, err := ReadMatrix(big, nil, ReadOptions{MemoryLimit: 1000}); err == nil {
		t.Error("no limit")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ReadMatrix(big, nil, ReadOptions{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
