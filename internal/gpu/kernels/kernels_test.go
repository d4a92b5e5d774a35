package kernels

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEverySourceHasPTX checks that sources and generated files come in pairs. That
// they belong together is checked by _ptx/ptx.py check.
func TestEverySourceHasPTX(t *testing.T) {
	sources, err := filepath.Glob("*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for i := range sources {
		sources[i] = strings.TrimSuffix(sources[i], ".cu")
	}
	if got := Files(); !slices.Equal(got, sources) {
		t.Errorf("PTX of %v, sources %v; go generate writes the PTX", got, sources)
	}
}

// TestPTXVersion checks that no file asks for a newer driver than the others do, and
// that only those for Hopper are bound to one architecture.
func TestPTXVersion(t *testing.T) {
	for _, name := range Files() {
		ptx := string(PTX(name))
		target := ".target sm_80"
		if strings.HasSuffix(name, "_sm90a") {
			target = ".target sm_90a"
		}
		for _, want := range []string{".version 8.0\n", target} {
			if !strings.Contains(ptx, want) {
				t.Errorf("%s.ptx lacks %q", name, want)
			}
		}
	}
}

// TestPTXUnknown checks that a name without a file is a mistake of the program.
func TestPTXUnknown(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	PTX("no such file")
}
