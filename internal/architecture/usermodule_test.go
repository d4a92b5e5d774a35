package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const userProgram = `package main

import (
	"fmt"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/matfile"
)

func main() {
	a, err := matfile.Read("a.csv", nil)
	fmt.Println(a, err, halfulp.Float64)
	_ = linsolve.Solve
}
`

// TestUserModule makes a module of a user that imports halfulp, linsolve, matfile and cuda, and
// tidies it without a network. Besides halfulp its go.mod and go.sum may list only the modules that
// these packages need.
func TestUserModule(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(own), "\ngo ")
	version, _, _ = strings.Cut(version, "\n")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/user\n\ngo "+version+"\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+strconv.Quote(root)+"\n")
	write("main.go", userProgram)
	in := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, text)
		}
		return string(text)
	}
	in("mod", "tidy")
	in("list", "-deps", ".") // fails if an import has no module; compiles nothing
	want := []string{"github.com/ebitengine/purego", "golang.org/x/sys", "gonum.org/v1/gonum"}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := modulesIn(string(text)); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q:\n%s", name, got, want, text)
		}
	}
}

// modulesIn returns the modules of lines "MODULE vVERSION ...", except halfulp.
func modulesIn(text string) (list []string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(words) > 1 && strings.HasPrefix(words[1], "v") && words[0] != module {
			list = append(list, words[0])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
