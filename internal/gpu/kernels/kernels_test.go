package kernels

import (
	"path/filepath"
	"regexp"
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

// TestEntry checks that what Entry returns has one kernel, and beside it what it has with all others.
func TestEntry(t *testing.T) {
	label := regexp.MustCompile(`(?m)^\s*// \.globl.*$`) // stands before the next kernel
	for _, name := range Files() {
		text := string(PTX(name))
		entries := regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`).FindAllStringSubmatch(text, -1)
		if len(entries) == 0 || len(entries) != strings.Count(text, ".entry ") {
			t.Errorf("%s.ptx: %d kernels, %d entries", name, len(entries), strings.Count(text, ".entry "))
			continue
		}
		var shared string
		for i, e := range entries {
			part := string(Entry(name, e[1]))
			before, own, found := strings.Cut(part, "\n.visible .entry "+e[1]+"(")
			body, after, more := strings.Cut(own, "\n.func ")
			if more {
				after = ".func " + after
			}
			if !found || strings.Count(part, ".entry ") != 1 || !strings.Contains(text, body) {
				t.Errorf("%s of %s.ptx: %d bytes", e[1], name, len(part))
				continue
			}
			beside := strings.TrimSpace(label.ReplaceAllString(before+"\n"+after, ""))
			if i == 0 {
				shared = beside
			} else if strings.Join(strings.Fields(beside), " ") != strings.Join(strings.Fields(shared), " ") {
				t.Errorf("%s.ptx: %s does not have what %s has beside it", name, e[1], entries[0][1])
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

// TestEntryUnknown checks the same for a kernel.
func TestEntryUnknown(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Entry("scan", "sca")
}

// TestExpansionRounding checks that arithmetic on expansions is rounded operation by operation: PTX
// without .rn leaves it to the assembler to fuse products and sums.
func TestExpansionRounding(t *testing.T) {
	operations := regexp.MustCompile(`(?m)^\s*(?:@!?%p\d+\s+)?(add|sub|mul|mad|fma|div|sqrt|rcp)\.([a-z.]*)f64`)
	for _, name := range Files() {
		if !strings.HasPrefix(name, "expansion") {
			continue
		}
		found := operations.FindAllStringSubmatch(string(PTX(name)), -1)
		if len(found) < 100 {
			t.Errorf("%s.ptx has %d operations", name, len(found))
		}
		for _, f := range found {
			if f[2] != "rn." {
				t.Errorf("%s.ptx: %s", name, strings.TrimSpace(f[0]))
			}
		}
	}
}
