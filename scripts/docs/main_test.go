package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestGenerated compares the files of the documents that are generated with what they are generated
// from. Places in pictures come from floating-point arithmetic, which other processors may fuse.
func TestGenerated(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	const root = "../.."
	workspace(t)
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) && (filepath.Ext(name) != ".svg" || runtime.GOARCH == "amd64") {
			t.Errorf("%s is not what go generate ./scripts/docs writes", name)
		}
	}
	made, err := os.ReadDir(filepath.Join(root, pictures))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		if files[pictures+"/"+f.Name()] == nil {
			t.Errorf("nothing writes %s/%s", pictures, f.Name())
		}
	}
}

// workspace has go commands build in a workspace, in which programs of both modules have the same
// compiled packages, with -trimpath as well; they link without debugging data.
func workspace(t *testing.T) {
	t.Helper()
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -ldflags=-w")
	t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work"))
	if out, err := exec.Command("go", "work", "init", "../..", "../../reproduce").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestReference checks that the reference has all packages and commands, and that its links lead to
// pages and headings.
func TestReference(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	workspace(t)
	files, err := reference("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(packages)+2 {
		t.Errorf("%d pages, want one for each of %d packages, the program and the contents", len(files), len(packages))
	}
	headings := map[string]bool{}
	for name, text := range files {
		headings[name] = true
		for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllSubmatch(text, -1) {
			headings[name+"#"+strings.ReplaceAll(anchor(string(m[1])), " ", "-")] = true
		}
	}
	links := 0
	for name, text := range files {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllSubmatch(text, -1) {
			target := string(m[1])
			if strings.Contains(target, "://") {
				continue
			}
			links++
			if strings.HasPrefix(target, "#") {
				target = name + target
			}
			if !headings[target] {
				t.Errorf("%s: a link to %s", name, m[1])
			}
		}
	}
	if links < 500 {
		t.Errorf("%d links", links)
	}
}
