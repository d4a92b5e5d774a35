package matrixmarket

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

// TestReadAt compares ReadAt with Parse for valid and invalid files of several parts.
func TestReadAt(t *testing.T) {
	const rows, cols = 101, 211
	var b strings.Builder
	if err := Write(&b, gallery.Random(halfulp.MP(100), rows, cols, 0, 1), nil); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	all := strings.SplitAfter(good, "\n")
	changed := func(line int, to string) string {
		c := append([]string{}, all...)
		c[line] = to
		return strings.Join(c, "")
	}
	middle := len(all) / 2
	exact := halfulp.Exactly(halfulp.Float64)
	for _, c := range []struct {
		name, text string
		in         halfulp.InputFormat
		streamed   bool
	}{
		{"as written", good, halfulp.InputFormat{}, true},
		{"rounded", good, exact, true},
		{"no last line feed", good[:len(good)-1], halfulp.InputFormat{}, true},
		{"symmetric", strings.Replace(symmetricPart(all), "general", "symmetric", 1), halfulp.InputFormat{}, true},
		{"two on a line and a line of none in a part", changed(middle, strings.TrimSpace(all[middle])+" "+all[middle+1]+"\n"), halfulp.InputFormat{}, false},
		{"blank lines at the end", good + "\n\n", halfulp.InputFormat{}, false},
		{"comment", changed(middle, "% 1\n"+all[middle]), halfulp.InputFormat{}, false},
		{"comment after an entry", changed(middle, strings.TrimSpace(all[middle])+" % 1\n"), halfulp.InputFormat{}, true},
		{"carriage returns", strings.ReplaceAll(good, "\n", "\r\n"), halfulp.InputFormat{}, false},
		{"a carriage return", changed(middle, strings.TrimSpace(all[middle])+"\r\n"), halfulp.InputFormat{}, false},
		{"long line", changed(middle, strings.Repeat(" ", streamPart+2*streamLine)+all[middle]), halfulp.InputFormat{}, false},
		{"lost numbers", changed(middle, "1e999\n"), exact, false},
		{"unknown format", strings.Replace(good, "% halfulp", "% other", 1), halfulp.InputFormat{}, false},
		{"integers", changed(0, "%%MatrixMarket matrix array integer general\n"), halfulp.InputFormat{}, false},
		{"one too few", changed(middle, ""), halfulp.InputFormat{}, false},
		{"one too many", good + "1\n", halfulp.InputFormat{}, false},
		{"no number", changed(middle, "1.5x\n"), halfulp.InputFormat{}, false},
		{"empty", "%%MatrixMarket matrix array real general\n% halfulp format dd\n0 3\n", halfulp.InputFormat{}, true},
		{"header alone", good[:30], halfulp.InputFormat{}, false},
		{"wild sizes", "%%MatrixMarket matrix array real symmetric\n% halfulp format dd\n4000000000 4000000000\n1\n", halfulp.InputFormat{}, false},
	} {
		for _, threads := range []int{1, 3} {
			var wantStats, gotStats halfulp.InputStats
			want, wantErr := Parse([]byte(c.text), "a", &Options{In: c.in, Threads: threads, Stats: &wantStats})
			opt := &Options{In: c.in, Threads: threads, Stats: &gotStats}
			got, err := ReadAt(strings.NewReader(c.text), int64(len(c.text)), "a", opt)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !got.Same(want) || gotStats != wantStats {
				t.Errorf("%s: %v, %v, want %v, %v", c.name, err, gotStats, wantErr, wantStats)
			}
			o := opt.filled()
			if m := o.stream(strings.NewReader(c.text), int64(len(c.text)), "a"); (m != nil) != c.streamed {
				t.Errorf("%s: streamed %v", c.name, m != nil)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ReadAt(strings.NewReader(good), int64(len(good)), "a", &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := ReadAt(strings.NewReader(good), int64(len(good)), "a", &Options{MemoryLimit: 1 << 12}); err == nil {
		t.Error("no error beyond the memory limit")
	}
	if m, err := ReadAt(strings.NewReader(good), int64(len(good)), "a", &Options{MemoryLimit: 3 * rows * cols * 8}); err != nil {
		t.Error(m, err) // the text, which is longer, is not held
	}
}

// symmetricPart returns a file with as many entries as the lower triangle of a square matrix.
func symmetricPart(all []string) string {
	const n = 200
	return strings.Join(all[:2], "") + fmt.Sprintf("%d %d\n", n, n) + strings.Join(all[3:3+n*(n+1)/2], "")
}
