package architecture

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nested are the modules below the module's root, and the word by which a script of continuous
// integration names each: the script runs their tests or, for _asm, the generators in them. The
// tests of a module without such a word run here.
var nested = map[string]string{
	"bench":                  "bench",
	"bindings/c":             "bindings/c",
	"expansion/_asm":         "_asm",
	"internal/_compact":      "",
	"internal/_neon":         "",
	"internal/dgemm/_asm":    "_asm",
	"internal/direct/_asm":   "_asm",
	"internal/lanes/_asm":    "_asm",
	"internal/modgemm/_asm":  "_asm",
	"internal/rounding/_asm": "_asm",
	"internal/sgemm/_asm":    "_asm",
	"internal/superacc/_asm": "_asm",
	"internal/symeig/_asm":   "_asm",
	"internal/tiles/_asm":    "_asm",
	"ozaki/_asm":             "_asm",
	"reproduce":              "reproduce",
	"rns/_asm":               "_asm",
}

// TestNestedModules checks that continuous integration knows all modules below the root: go build
// ./... and go test ./... there leave them out.
func TestNestedModules(t *testing.T) {
	const root = "../.."
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.Name() == "go.mod" && filepath.Dir(name) != root {
			folder, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			found[filepath.ToSlash(folder)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for _, name := range []string{"scripts/check.sh", "scripts/generated.sh", ".ci/run", "Makefile"} {
		appendFiles(t, &scripts, filepath.Join(root, name))
	}
	for folder := range found {
		word, ok := nested[folder]
		switch {
		case !ok:
			t.Errorf("%s is a module that continuous integration does not know", folder)
		case !strings.Contains(scripts.String(), word):
			t.Errorf("no script of continuous integration names %s, for the module %s", word, folder)
		}
	}
	for folder := range nested {
		if !found[folder] {
			t.Errorf("%s is no module: remove it from the list", folder)
		}
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	for folder, word := range nested {
		if word != "" {
			continue
		}
		for _, verb := range []string{"vet", "test"} {
			cmd := exec.Command("go", verb, "./...")
			cmd.Dir = filepath.Join(root, folder)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: go %s: %v\n%s", folder, verb, err, text)
			}
		}
	}
}

// appendFiles appends the content of a file, or of the files in a folder, if there are any.
func appendFiles(t *testing.T, to *strings.Builder, name string) {
	t.Helper()
	err := filepath.WalkDir(name, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		to.Write(text)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}
