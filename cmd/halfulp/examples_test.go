package main

import (
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the example files anew")

const (
	pascalOrder = 24
	piDigits    = "314159265358979323846264"
)

// exampleFiles returns the files of examples/ by name. P is the symmetric Pascal
// matrix p_ij = C(i+j, i), i, j = 0, 1, ...; its inverse has the integers
// (-1)^(i+j) sum_k C(k, i) C(k, j).
func exampleFiles() map[string]string {
	n := pascalOrder
	p, inverse := newTable(n, n), newTable(n, n)
	for i := range n {
		for j := range n {
			p[i][j].Binomial(int64(i+j), int64(i))
			for k := range n {
				inverse[i][j].Add(inverse[i][j], new(big.Int).Mul(
					new(big.Int).Binomial(int64(k), int64(i)), new(big.Int).Binomial(int64(k), int64(j))))
			}
			if (i+j)%2 == 1 {
				inverse[i][j].Neg(inverse[i][j])
			}
		}
	}
	x := newTable(n, 1)
	for i := range n {
		for k, d := range piDigits {
			x[i][0].Add(x[i][0], new(big.Int).Mul(inverse[i][k], big.NewInt(int64(d-'0'))))
		}
	}
	return map[string]string{
		"pascal.mtx": matrixMarket(p, "The symmetric Pascal matrix P of order 24: p_ij = C(i+j-2, i-1)."),
		"pascal-inverse.mtx": matrixMarket(inverse, "The inverse of the symmetric Pascal matrix of order 24. Every entry is\n"+
			"an integer below 2^53, hence exact in float64, and so is every entry of pascal.mtx."),
		"pi.mtx": matrixMarket(x, "The vector x for which P x is exactly 3, 1, 4, 1, 5, 9, ..., the first\n"+
			"24 digits of pi, with P from pascal.mtx."),
	}
}

func newTable(rows, cols int) [][]*big.Int {
	t := make([][]*big.Int, rows)
	for i := range t {
		for range cols {
			t[i] = append(t[i], new(big.Int))
		}
	}
	return t
}

func matrixMarket(m [][]*big.Int, comment string) string {
	var b strings.Builder
	b.WriteString("%%MatrixMarket matrix array integer general\n")
	for line := range strings.Lines(comment) {
		fmt.Fprintf(&b, "%% %s\n", strings.TrimSuffix(line, "\n"))
	}
	fmt.Fprintf(&b, "%d %d\n", len(m), len(m[0]))
	for j := range m[0] {
		for i := range m {
			fmt.Fprintf(&b, "%d\n", m[i][j])
		}
	}
	return b.String()
}

// TestExampleFiles compares the shipped files with their formulas; with -update it writes them.
func TestExampleFiles(t *testing.T) {
	for name, want := range exampleFiles() {
		path := filepath.Join("..", "..", "examples", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what its formula gives; go test ./cmd/halfulp -run TestExampleFiles -update writes it", path)
		}
	}
}
