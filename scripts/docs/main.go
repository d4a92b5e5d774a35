// Docs writes what the documents have from elsewhere: the reference, of the program's help and the
// packages' documentation, and the pictures, of the records of measurements among others.
//
//	go generate ./scripts/docs
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:generate go run . ../..

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docs ROOT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// run writes all files into the tree with the given root, and deletes others in their folders.
func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := os.RemoveAll(filepath.Join(root, folder)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(root, folder), 0o777); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// folders hold generated files alone.
var folders = []string{"docs/pictures", "docs/reference"}

// generate returns the files by name.
func generate(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, part := range []func(string, map[string][]byte) error{plots, drawings, programReference, packageReference} {
		if err := part(root, files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// plots draws the records of measurements, by a program of the module reproduce, which has the
// plotting library.
func plots(root string, files map[string][]byte) error {
	dir, err := os.MkdirTemp("", "halfulp-docs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	draw := exec.Command("go", "run", "./cmd/pictures", "..", dir)
	draw.Dir = filepath.Join(root, "reproduce")
	if out, err := draw.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	drawn, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	for _, name := range drawn {
		if files["docs/pictures/"+filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	return nil
}
