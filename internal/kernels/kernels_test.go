package kernels

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/gocuda"
)

// TestEverySourceHasPTX checks that sources and entries of the archive come in pairs.
func TestEverySourceHasPTX(t *testing.T) {
	sources, err := filepath.Glob("*/*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for i := range sources {
		sources[i] = strings.TrimSuffix(filepath.ToSlash(sources[i]), ".cu")
	}
	if got := Files(); !slices.Equal(got, sources) {
		t.Errorf("PTX of %v, sources %v; go generate ./internal/kernels writes the PTX", got, sources)
	}
}

// TestPTXFresh checks that the PTX was generated from the current sources, by their hashes; headers
// that are not committed, from the sources of package expansion. To
// compare it with newly generated PTX, run _ptx/ptx.py check.
func TestPTXFresh(t *testing.T) {
	for _, folder := range folders() {
		for _, f := range folder {
			source := strings.TrimSuffix(f.name, ".ptx") + ".cu"
			if got := digest(t, source); got != f.digest {
				t.Errorf("%s is stale: it was made from %s, the sources are %s now; run go generate ./internal/kernels", f.name, f.digest, got)
			}
		}
	}
}

// TestLZMA unpacks what is no stream, and streams that end early: each is an error, or ends with an
// error of the archive's checksum.
func TestLZMA(t *testing.T) {
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range z.File {
		if e.Method != methodLZMA {
			t.Errorf("%s: method %d, want %d", e.Name, e.Method, methodLZMA)
		}
	}
	e := z.File[0]
	r, err := e.OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := unpackLZMA(packed)
	if err != nil || crc32.ChecksumIEEE(whole) != e.CRC32 {
		t.Errorf("%s: %v, %d bytes with another checksum", e.Name, err, len(whole))
	}
	for n := range 40 {
		if got, err := unpackLZMA(packed[:n]); n < 14 && err == nil || bytes.Equal(got, whole) {
			t.Errorf("the first %d bytes of %s: %d bytes, %v", n, e.Name, len(got), err)
		}
		wrong := bytes.Clone(packed)
		wrong[n] ^= 0x10
		if got, _ := unpackLZMA(wrong); n >= 9 && bytes.Equal(got, whole) {
			t.Errorf("%s with byte %d changed: the same", e.Name, n)
		}
	}
}

var include = regexp.MustCompile(`(?m)^#include "(.*)"`)

// generated are the headers that are not committed. Package expansion gives them.
var generated = map[string][]byte{}

// source returns the text of a source.
func source(t *testing.T, name string) []byte {
	if generated[name] != nil {
		return generated[name]
	}
	generate := gocuda.Files[path.Base(name)]
	if generate == nil {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	text, err := generate("../..")
	if err != nil {
		t.Fatal(err)
	}
	generated[name] = text
	return text
}

// digest is the function of that name of _ptx/ptx.py.
func digest(t *testing.T, file string) string {
	sums := map[string]string{}
	var add func(name string)
	add = func(name string) {
		if sums[name] != "" {
			return
		}
		text := source(t, name)
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		for _, m := range include.FindAllSubmatch(text, -1) {
			add(path.Join(path.Dir(name), string(m[1])))
		}
	}
	add("_ptx/ptx.py")
	add(file)
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(all, "%s  %s\n", sums[name], name)
	}
	return fmt.Sprintf("%x", all.Sum(nil))
}

// TestPTXVersion checks that no file requires a newer driver than the others, but for one that the
// host does without, and that only files for Hopper are bound to one architecture.
func TestPTXVersion(t *testing.T) {
	for _, name := range Files() {
		ptx := string(PTX(name))
		target := ".target sm_80"
		if strings.HasSuffix(name, "_sm90a") {
			target = ".target sm_90a"
		}
		version := ".version 8.0\n"
		if name == "seed/partial_sm90a" {
			version = ".version 8.1\n"
		}
		for _, want := range []string{version, target} {
			if !strings.Contains(ptx, want) {
				t.Errorf("%s.ptx lacks %q", name, want)
			}
		}
	}
}

// TestEntry checks that Entry returns PTX with the given kernel, everything that the kernel needs,
// and nothing else.
func TestEntry(t *testing.T) {
	kernel := regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`)
	for _, name := range Files() {
		text := string(PTX(name))
		list := find(name)
		kernels := kernel.FindAllStringSubmatch(text, -1)
		if len(kernels) == 0 || len(kernels) != strings.Count(text, ".entry ") || strings.Count(text, ".func ") == 0 != !slices.ContainsFunc(list, func(s section) bool { return s.kind == "func" }) {
			t.Errorf("%s.ptx: %d kernels, %d entries", name, len(kernels), strings.Count(text, ".entry "))
		}
		// A kernel ends by its brace; a function or a variable, declared, by a semicolon.
		for _, s := range list[1:] {
			text := strings.TrimSpace(s.text)
			if strings.Count(text, "{") != strings.Count(text, "}") || !strings.HasSuffix(text, "}") && (s.kind == "entry" || !strings.HasSuffix(text, ";")) {
				t.Fatalf("%s of %s.ptx is cut: it ends in %q", s.name, name, text[max(0, len(text)-60):])
			}
		}
		for _, k := range kernels {
			part := string(Entry(name, k[1]))
			if strings.Count(part, ".entry ") != 1 || !strings.Contains(part, ".entry "+k[1]+"(") || !strings.HasPrefix(part, list[0].text) {
				t.Errorf("%s of %s.ptx: %d bytes", k[1], name, len(part))
			}
			uses := map[string]int{} // how often a word occurs
			words(part, func(w string) { uses[w]++ })
			for _, s := range list[1:] {
				// Without its name s is not there.
				there := uses[s.name] > 0 && strings.Contains(part, s.text)
				switch {
				case s.kind == "entry" && s.name != k[1]:
				case !there && uses[s.name] > 0:
					t.Errorf("%s of %s.ptx lacks %s", k[1], name, s.name)
				case there && uses[s.name] < 2 && s.kind != "entry":
					t.Errorf("%s of %s.ptx has no use for %s", k[1], name, s.name)
				}
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
	PTX("exact/no such file")
}

// TestEntryUnknown checks the same for a kernel.
func TestEntryUnknown(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Entry("exact/scan", "sca")
}

// TestExpansionRounding checks that arithmetic on expansions is rounded operation by operation:
// PTX without .rn leaves it to the assembler to fuse products and sums.
func TestExpansionRounding(t *testing.T) {
	operations := regexp.MustCompile(`(?m)^\s*(?:@!?%p\d+\s+)?(add|sub|mul|mad|fma|div|sqrt|rcp)\.([a-z.]*)f64`)
	for _, name := range Files() {
		// whose functions are CUDA's
		if !strings.HasPrefix(name, "expansion/") || name == "expansion/double" {
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
