package npy

import (
	"archive/zip"
	"bytes"
	"hash/crc32"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
)

// elsewhere is the storage of a matrix that has none.
type elsewhere int

func (n elsewhere) Len() int  { return int(n) }
func (elsewhere) Free()       {}
func (elsewhere) Freed() bool { return false }

// TestFrame writes the bytes of a .npz file other than entries, also with members beyond 4 GiB, and
// compares with package zip, which sees the whole members.
func TestFrame(t *testing.T) {
	rows := 1 << 20
	if testlength.Long() {
		rows = 1<<29 + 5
	}
	f := num.Float64
	a := &num.Array{Format: f, Away: elsewhere(rows)}
	m := halfulp.MatrixOf(num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: 1})
	s, err := NewSink(m, true, false)
	if err != nil {
		t.Fatal(err)
	}
	want := new(frame)
	z := zip.NewWriter(want)
	sums := make([]uint32, len(s.all))
	for k, x := range s.all {
		w, err := z.CreateHeader(&zip.FileHeader{Name: x.Name + ".npy", Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(x.Head); err != nil {
			t.Fatal(err)
		}
		if s.isText(k) {
			_, err = w.Write(x.Append(nil, 0))
		} else {
			err = want.skip(z, w, x.Bytes)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	// the sums of zeros, which skip writes
	var zeros [1 << 20]byte
	for left := s.all[1].Bytes; left > 0; {
		n := min(left, int64(len(zeros)))
		left -= n
		sums[1] ^= shifted(crc32.ChecksumIEEE(zeros[:n]), left)
	}
	var got pieces
	if err := s.Finish(&got, sums); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want.pieces) {
		t.Fatalf("%d pieces, want %d", len(got), len(want.pieces))
	}
	for k, p := range want.pieces {
		if got[k].at != p.at || !bytes.Equal(got[k].text, p.text) {
			t.Errorf("piece %d at %d:\n%q\nwant at %d:\n%q", k, got[k].at, got[k].text, p.at, p.text)
		}
	}
}

// pieces is a file to write to.
type pieces []framePiece

func (p *pieces) WriteAt(b []byte, at int64) (int, error) {
	*p = append(*p, framePiece{at, bytes.Clone(b)})
	return len(b), nil
}
