package main

import (
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/licenses"
)

// TestLicenses checks that the licences are those of all modules that the program contains, on all
// systems that it is released for.
func TestLicenses(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	text, err := licenses.Text(".", ".", licenses.Targets)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != licenseText {
		t.Error("licenses.txt is not what go generate ./cmd/halfulp writes")
	}
	titles := slices.Collect(strings.Lines(licenseText))
	for _, want := range []string{"github.com/ebitengine/purego", "golang.org/x/sys", "gonum.org/v1/gonum"} {
		if !slices.ContainsFunc(titles, func(l string) bool { return strings.HasPrefix(l, licenses.Head+want+" v") }) {
			t.Errorf("licenses.txt lacks %s", want)
		}
	}
	// What this test contains, the program contains too, but for modules that only tests need.
	b, ok := debug.ReadBuildInfo()
	if !ok || len(b.Deps) < 3 {
		t.Fatal("no list of modules")
	}
	for _, m := range b.Deps {
		title := licenses.Module{Path: m.Path, Version: m.Version}.Title() + "\n"
		if !slices.Contains(titles, title) && !slices.Contains(testModules, m.Path) {
			t.Errorf("licenses.txt lacks %s", m.Path)
		}
	}
}

// testModules are modules that tests of the program need and the program does not.
var testModules = []string{"github.com/rogpeppe/go-internal", "golang.org/x/tools"}
