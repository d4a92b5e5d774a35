package textio

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	words := []string{"solve", "sum", "asum", "gemm", "gemv", "nullspace", "mp:300", "f64", "determinant", "det"}
	for _, x := range []struct {
		word string
		want []string
	}{
		{"slove", []string{"solve"}}, // two letters swapped
		{"sovle", []string{"solve"}},
		{"SOLVE", []string{"solve"}},
		{"solv", []string{"solve"}},
		{"gem", []string{"gemm", "gemv"}},
		{"sums", []string{"sum"}},
		{"asumm", []string{"asum"}},
		{"null", []string{"nullspace"}}, // the beginning of a word
		{"determinent", []string{"determinant"}},
		{"mp300", []string{"mp:300"}},
		{"mp-300", []string{"mp:300"}},
		{"f65", []string{"f64"}},
		{"fourier", nil},
		{"s", nil},
		{"", nil},
		{"xy", nil},
	} {
		if got := Nearest(x.word, words); !slices.Equal(got, x.want) {
			t.Errorf("%q: %q, want %q", x.word, got, x.want)
		}
	}
	if got := DidYouMean("gem", words); got != ": did you mean gemm or gemv?" {
		t.Error(got)
	}
	if got := DidYouMean("fourier", words); got != "" {
		t.Error(got)
	}
}
