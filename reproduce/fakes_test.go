package reproduce_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/reproduce"
)

// TestReproduce runs the tests with the build tag rnsfakes. They need the kernels of package rns in
// Go, which the tests of that package define with unexported identifiers. An overlay shows these
// test files, and testdata/rnsfakes.go, to the compiler as files of the package.
func TestReproduce(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	folder, err := filepath.Abs("../rns")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	inside := regexp.MustCompile(`(?m)^package rns$`)
	var overlay struct{ Replace map[string]string }
	fakes, err := filepath.Abs("testdata/rnsfakes.go")
	if err != nil {
		t.Fatal(err)
	}
	overlay.Replace = map[string]string{filepath.Join(folder, "fakes.go"): fakes}
	for _, name := range tests {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if inside.Match(text) {
			shown := "fakes_" + strings.TrimSuffix(filepath.Base(name), "_test.go") + ".go"
			overlay.Replace[filepath.Join(folder, shown)] = name
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-vet=off", "-tags", "rnsfakes", "-overlay", file, "-run", "^TestWithFakes$", "-v"}
	if testing.Short() {
		args = append(args, "-short")
	}
	out, err := exec.Command("go", append(args, ".")...).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestWithFakes")) {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestReproduceDevice checks the error for devices that do not exist.
func TestReproduceDevice(t *testing.T) {
	defer mem.Substitute()()
	for _, name := range []string{"cuda:0", "cuda:x", "auto", "cuda:0,1"} {
		for _, run := range []func(reproduce.Options) (*reproduce.Report, error){reproduce.Sum, reproduce.Gemv} {
			if _, err := run(reproduce.Options{N: 4, Device: name}); !errors.Is(err, halfulp.ErrDevice) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}
