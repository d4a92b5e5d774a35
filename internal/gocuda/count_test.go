package gocuda

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCountsFresh checks that module reproduce has the counts of the Go sources.
func TestCountsFresh(t *testing.T) {
	want, err := Counts("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../reproduce/qdcounts.go")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("qdcounts.go is not what package expansion gives; go generate ./internal/kernels: %v", err)
	}
}

// TestCount counts operations of functions of all kinds. It compares the counts of package
// expansion with its documentation and the paper.
func TestCount(t *testing.T) {
	const source = `package p

import "math"

func sum(a, b float64) float64 { return a + -b }

func product(a, b float64) (z float64, n int) {
	const c = 3.0 * 2
	z = float64(a*b) - c
	n++
	return z, n + 2
}

func f(x float64) float64 {
	y, n := product(x, sum(x, 1))
	if y > 0 {
		y += sum(y, y) / 2
	} else if y == 0 {
		y = math.FMA(x, y, math.Sqrt(-x))
	}
	for range 3 {
		y *= float64(n)
	}
	switch {
	case y < x-1:
		return y
	default:
		return y - x
	}
}

func loop(n int) float64 {
	s := 0.0
	for range n {
		s += 1
	}
	return s
}
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	c := Config{Dir: dir, Files: []string{"p.go"}, Roots: []string{"f"}}
	for _, test := range []struct {
		instead map[string]string
		want    int // product and sum; a branch; the loop; the switch
	}{
		{nil, 3 + 3 + 3 + 2},
		{map[string]string{"sum": "product"}, 4 + 4 + 3 + 2},
	} {
		if got, err := Count(c, test.instead); err != nil || got["f"] != test.want {
			t.Errorf("%v: %v, want %d: %v", test.instead, got, test.want, err)
		}
	}
	if _, err := Count(c, map[string]string{"sum": "loop"}); err == nil || !strings.Contains(err.Error(), "no constant") {
		t.Errorf("a loop without a known end: %v", err)
	}
	counts := Config{Dir: "../../expansion", Files: countedFiles}
	counts.Roots = []string{"split", "fastTwoSum", "twoSum", "threeSum", "twoProd", "addDD", "mulDD", "divDD", "addQD", "mulQD", "divQD", "publishedAddDD", "publishedMulDD"}
	got, err := Count(counts, map[string]string{"twoProd": "splitTwoProd"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{
		"split": 4, "fastTwoSum": 3, "twoSum": 6, "threeSum": 18, "twoProd": 17, "addDD": 20, "addQD": 124, "publishedAddDD": 11, "publishedMulDD": 24,
	} {
		if got[name] != want {
			t.Errorf("%s has %d operations, want %d", name, got[name], want)
		}
	}
	if got, err = Count(counts, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"mulDD": 9, "divDD": 8, "mulQD": 124, "divQD": 118} {
		if got[name] != want {
			t.Errorf("%s has %d operations, want %d", name, got[name], want)
		}
	}
}
