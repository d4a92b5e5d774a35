package matrixmarket

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
)

// wantEntries compares entries with a dense matrix: they are sorted, no place occurs twice, and all
// other entries are 0.
func wantEntries(t *testing.T, name string, a *Sparse, want *halfulp.Matrix) {
	t.Helper()
	m := halfulp.NewMatrix(want.NumberFormat(), a.Rows, a.Cols)
	for k := range a.Row {
		if k > 0 && (a.Row[k] < a.Row[k-1] || a.Row[k] == a.Row[k-1] && a.Col[k] <= a.Col[k-1]) {
			t.Errorf("%s: entry (%d, %d) after (%d, %d)", name, a.Row[k], a.Col[k], a.Row[k-1], a.Col[k-1])
		}
		m.Set(int(a.Row[k]), int(a.Col[k]), a.Values.At(k))
	}
	if !m.Same(want) || a.Values.NumberFormat() != want.NumberFormat() || len(a.Col) != a.Values.Len() {
		t.Errorf("%s: entries of\n%v, want\n%v", name, m, want)
	}
}

// TestReadSparse compares sparse with dense matrices.
func TestReadSparse(t *testing.T) {
	r := testseed.Rand(t, 7, 7)
	for _, kind := range []string{"real general", "integer symmetric", "real skew-symmetric", "pattern general", "pattern symmetric", "real general in 40 digits"} {
		kind, long := strings.CutSuffix(kind, " in 40 digits")
		for n := range 9 {
			var body strings.Builder
			entries := 0
			for range n * 4 {
				i, j := 1+r.IntN(n), 1+r.IntN(n)
				if !strings.Contains(kind, "general") && i < j {
					i, j = j, i
				}
				if strings.Contains(kind, "skew") && i == j {
					continue
				}
				entries++
				fmt.Fprintf(&body, "%d %d", i, j)
				if !strings.Contains(kind, "pattern") {
					fmt.Fprint(&body, " ", r.IntN(7)-3)
				}
				if long {
					fmt.Fprint(&body, ".1234567890123456789012345678901234567890")
				}
				fmt.Fprintln(&body)
			}
			text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n%s", kind, n, n, entries, body.String())
			for _, threads := range []int{1, 3} {
				o := &Options{Threads: threads}
				want, err := Read(strings.NewReader(text), "a", o)
				if err != nil {
					t.Fatal(err)
				}
				a, err := ReadSparse(strings.NewReader(text), "a", o)
				if err != nil {
					t.Fatal(err)
				}
				wantEntries(t, fmt.Sprint(kind, ", n = ", n), a, want)
			}
		}
	}
	for _, c := range []struct{ in, want string }{
		{coordBanner + "2 3 3\n2 3 -0\n1 1 4\n1 2 0\n", "[0 0 1] [0 1 2] 4 0 -0"},
		{arrayBanner + "2 2\n0\n3\n-0\nnan\n", "[1 1] [0 1] 3 nan"},
		{coordBanner + "2000000000 1999999999 2\n2000000000 1999999999 5\n1 7 -1\n", "[0 1999999999] [6 1999999998] -1 5"},
		{"%%MatrixMarket matrix coordinate real symmetric\n2000000000 2000000000 2\n2000000000 7 5\n2000000000 7 0.5\n", "[6 1999999999] [1999999999 6] 5.5 5.5"},
		{coordBanner + "0 3 0\n", "[] [] "},
		{coordBanner + "3 0 0\n", "[] [] "},
	} {
		a, err := ReadSparse(strings.NewReader(c.in), "a", nil)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		values := strings.Join(strings.Fields(a.Values.Text(0)), " ")
		if got := fmt.Sprint(a.Row, a.Col, " ", values); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}

// TestSparseErrors checks sizes for which no memory is allocated, and malformed entries.
func TestSparseErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"x", "a.mtx:1: no Matrix Market file"},
		{coordBanner + "9000000000000000000 1 0\n", "a.mtx:2: a 9000000000000000000 x 1 matrix is too large"},
		{coordBanner + "1 2147483648 0\n", "a.mtx:2: a 1 x 2147483648 matrix is too large"},
		{coordBanner + "2 2 2\n1 1 2\n1 3 1\n", "a.mtx:4: column index 3 out of range 1 to 2"},
		{coordBanner + "2 2 3\n1 1 2\n1 2 1\n", "a.mtx:4: the file ends after 2 of 3 entries"},
		{coordBanner + "1 1 2\n1 1 1e999999\n1 1 1\n", "a.mtx:4: entry (1, 1) is given 2 times: exponents too far apart"},
		{coordBanner + "2 2 1\n1 1 0." + strings.Repeat("3", 400000) + "\n", "a.mtx: its numbers need"},
	} {
		_, err := ReadSparse(strings.NewReader(c.in), "a.mtx", nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.in, err, c.want)
		}
	}
	text := coordBanner + "9 9 9\n"
	for k := range 9 {
		text += fmt.Sprintf("%d 1 1\n", k+1)
	}
	_, err := ReadSparse(strings.NewReader(text), "a.mtx", &Options{MemoryLimit: 130})
	if want := "a.mtx:2: a sparse matrix of 9 entries of format f64 needs 144 bytes, more than the memory limit of 130 bytes"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	stats := halfulp.InputStats{}
	o := &Options{In: halfulp.Exactly(halfulp.Float64), Stats: &stats}
	if _, err := ReadSparse(strings.NewReader(coordBanner+"2 2 2\n1 1 1\n2 2 1e999\n"), "a", o); err != nil || stats.ToInf != (halfulp.Losses{Count: 1, Line: 4}) {
		t.Errorf("losses %+v, %v", stats, err)
	}
}
