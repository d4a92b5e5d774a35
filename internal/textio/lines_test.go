package textio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

func TestCut(t *testing.T) {
	for _, text := range []string{
		"", "a", "a\n", "\n\n", strings.Repeat("abc\n", 300000), strings.Repeat("x", 1<<20) + "\ny", strings.Repeat("x", 1<<20),
	} {
		var joined []byte
		line := 5
		for i, p := range Cut([]byte(text), 5, 3) {
			if p.Index != i || p.Line != line || p.Lines != bytes.Count(p.Text, []byte{'\n'}) || len(p.Text) == 0 {
				t.Fatalf("piece %d of %.10q...: %d, line %d, want %d", i, text, p.Index, p.Line, line)
			}
			joined = append(joined, p.Text...)
			line += bytes.Count(p.Text, []byte{'\n'})
			if len(joined) < len(text) && joined[len(joined)-1] != '\n' {
				t.Fatalf("a line of %.10q... is cut", text)
			}
		}
		if string(joined) != text {
			t.Fatalf("the pieces of %.10q... are %.10q...", text, joined)
		}
	}
}

// TestEach checks that the first of several errors is reported.
func TestEach(t *testing.T) {
	text := []byte(strings.Repeat("abcdefg\n", 1<<18))
	pieces := Cut(text, 1, 2)
	bad := errors.New("bad")
	for _, threads := range []int{1, 2, 7} {
		err := Each(context.Background(), "f", threads, pieces, func(p *Piece) error {
			if p.Index >= 2 {
				return &At{Pos: 8*p.Index + 3, Err: bad}
			}
			return nil
		})
		want := fmt.Sprintf("f:%d: bad", pieces[2].Line+2)
		if err == nil || err.Error() != want || !errors.Is(err, bad) {
			t.Errorf("%v, want %s", err, want)
		}
		if err := Each(context.Background(), "f", threads, pieces, func(p *Piece) error { return bad }); err != bad {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var calls atomic.Int64
	err := Each(ctx, "f", 2, pieces, func(p *Piece) error {
		if calls.Add(1) >= 2 { // by either goroutine, as one may be far ahead
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || int(calls.Load()) == len(pieces) {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestReadAll(t *testing.T) {
	ctx := context.Background()
	text := strings.Repeat("0123456789", 100000)
	for name, r := range map[string]io.Reader{
		"sized": strings.NewReader(text), "unsized": io.MultiReader(strings.NewReader(text)),
		"half": iotest.HalfReader(strings.NewReader(text)), "late error": iotest.DataErrReader(strings.NewReader(text)),
	} {
		if b, err := ReadAll(ctx, r, 1<<22); err != nil || string(b) != text {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	for name, r := range map[string]io.Reader{
		"sized": strings.NewReader(text), "unsized": io.MultiReader(strings.NewReader(text)),
	} {
		if b, err := ReadAll(ctx, r, 500000); err == nil {
			t.Errorf("%s: %d bytes", name, len(b))
		}
	}
	if b, err := ReadAll(ctx, strings.NewReader(text), math.MaxInt64); err != nil || string(b) != text {
		t.Errorf("without a limit: %d bytes, %v", len(b), err)
	}
	if _, err := ReadAll(ctx, iotest.ErrReader(io.ErrClosedPipe), 1<<20); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// failing fails after n bytes.
type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWrite(t *testing.T) {
	fill := func(dst []byte, i int) []byte { return fmt.Appendf(dst, "block %d\n", i) }
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&want, "block %d\n", i)
	}
	for _, threads := range []int{1, 2, 5, math.MaxInt} {
		var b bytes.Buffer
		share := 0.0
		if err := Write(context.Background(), &b, threads, 1000, fill, func(s float64) { share = s }); err != nil || b.String() != want.String() || share != 1 {
			t.Errorf("%d threads: %v, %v", threads, err, share)
		}
		if err := Write(context.Background(), &failing{5000}, threads, 1000, fill, nil); !errors.Is(err, io.ErrShortWrite) {
			t.Error(err)
		}
	}
	if err := Write(context.Background(), &failing{}, 2, 0, fill, nil); err != nil {
		t.Error(err)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 8e18: "6.939 EiB", 8e22: "6.939e+04 EiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}
