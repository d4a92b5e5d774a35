package matfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

// TestReadersAndWriters writes every kind of file to a writer and reads it back, packed too.
func TestReadersAndWriters(t *testing.T) {
	for _, k := range []Kind{"", MatrixMarket, CSV, TSV, Text, NPY, NPZ, FLINT, PARI, Mpmath, Mathematica} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD, halfulp.MP(300)} {
			m := gallery.Random(f, 7, 3, 20, 1)
			var b bytes.Buffer
			asked := 0
			err := WriteTo(&b, m, &Options{Kind: k, Last: func() error { asked++; return nil }})
			if k == NPY && f.IsMP() {
				if err == nil || b.Len() > 0 || asked != 0 {
					t.Errorf("%s holds %v: %v, %d bytes", k, f, err, b.Len())
				}
				continue
			}
			if err != nil || asked != 1 {
				t.Fatalf("%s: %v, Last called %d times", k, err, asked)
			}
			if k.list() != nil {
				if _, err := ReadFrom(&b, &Options{Kind: k}); err == nil || !strings.Contains(err.Error(), "written, not read") {
					t.Errorf("%s is read: %v", k, err)
				}
				continue
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := z.Write(b.Bytes()); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			for _, text := range [][]byte{b.Bytes(), packed.Bytes()} {
				for _, as := range []Kind{"", k} {
					info := Info{Note: "old", Flat: true}
					got, err := ReadFrom(iotest.OneByteReader(bytes.NewReader(text)), &Options{Kind: as, Info: &info})
					if err != nil || !got.Same(m) {
						t.Errorf("%q as %q in %v: %v", k, as, f, err)
					}
					want := k
					if k == "" {
						want = MatrixMarket
					} else if k.isTable() {
						want = Text
					}
					if info.Kind != want || info.Flat || info.Note != "" || info.Sparse {
						t.Errorf("%q as %q: %+v", k, as, info)
					}
				}
			}
			a, err := ReadSparseFrom(bytes.NewReader(packed.Bytes()), nil)
			if err != nil || a.Rows != 7 || a.Cols != 3 || a.Values.NumberFormat() != f {
				t.Errorf("%q: %v", k, err)
			}
		}
	}
	fails := errors.New("no more")
	if _, err := ReadFrom(iotest.ErrReader(fails), nil); !errors.Is(err, fails) || !strings.HasPrefix(err.Error(), "input: ") {
		t.Error(err)
	}
	if err := WriteTo(new(bytes.Buffer), halfulp.Identity(halfulp.Float64, 2), &Options{Kind: "xls"}); err == nil {
		t.Error("a kind that does not exist is written")
	}
	if _, err := ReadFrom(strings.NewReader("1 2\n"), &Options{Kind: "xls"}); err == nil {
		t.Error("a kind that does not exist is read")
	}
}

// TestForcedKind reads and writes files of a kind that their names do not stand for.
func TestForcedKind(t *testing.T) {
	dir := t.TempDir()
	m := gallery.Random(halfulp.Float64, 300, 40, 20, 1)
	for _, k := range []Kind{MatrixMarket, CSV, NPY, NPZ} {
		path := filepath.Join(dir, "a.mat")
		if err := Write(path, m, &Options{Kind: k}); err != nil {
			t.Fatal(err)
		}
		for _, as := range []Kind{"", k} {
			got, err := Read(path, &Options{Kind: as})
			if err != nil || !got.Same(m) {
				t.Errorf("%s as %q: %v", k, as, err)
			}
		}
	}
	for _, c := range []struct{ content, as Kind }{{NPY, NPZ}, {NPZ, NPY}, {MatrixMarket, CSV}, {CSV, MatrixMarket}, {NPY, MatrixMarket}} {
		for _, name := range []string{"b.npy", "b.npz", "b.csv"} {
			path := filepath.Join(dir, name)
			if err := Write(path, m, &Options{Kind: c.content}); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path, &Options{Kind: c.as}); err == nil || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%s: %s is read as %s: %v", name, c.content, c.as, err)
			}
		}
	}
}

// TestPart reads a part that Options name.
func TestPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	l, u := gallery.Hilbert(halfulp.MP(100), 2), halfulp.Identity(halfulp.DD, 3)
	if err := WriteArchive(path, []Named{{Name: "L", Matrix: l}, {Name: "U", Matrix: u}}, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]*halfulp.Matrix{"L": l, "U": u} {
		if got, err := Read(path, &Options{Part: name}); err != nil || !got.Same(want) {
			t.Errorf("%s: %v", name, err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFrom(f, &Options{Part: name}); err != nil || !got.Same(want) {
			t.Errorf("%s from a reader: %v", name, err)
		}
		f.Close()
	}
	if got, err := ReadFrom(strings.NewReader("a,b,c\n1,2,3\n"), &Options{Part: "c,1"}); err != nil || got.String() != "3 1" {
		t.Errorf("%v, %v", got, err)
	}
	if err := WriteAll([]Named{{Name: path}}, nil); !errors.Is(err, errNoMatrix) {
		t.Error(err)
	}
}
