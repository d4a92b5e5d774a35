package main

import (
	"strings"
	"testing"
)

func TestRNSTuning(t *testing.T) {
	var b strings.Builder
	if err := writeRNSTuning(&b, []rnsTuning{{106, 8, 64, 1024, 32}}); err != nil {
		t.Fatal(err)
	}
	want := `  bits  moduli  sum: blocks x threads  gemv: threads
   106       8              64 x 1024             32
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
