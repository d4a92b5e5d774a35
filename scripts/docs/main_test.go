package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestGenerated compares the files of the documents that are generated with what they are generated
// from. Places in pictures come from floating-point arithmetic, which other processors may fuse.
func TestGenerated(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	const root = "../.."
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
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			if err == nil && !d.IsDir() && files[filepath.ToSlash(name)] == nil {
				t.Errorf("nothing writes %s", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
