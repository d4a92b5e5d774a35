// Docs writes the generated parts of the documents.
//
//	go generate ./scripts/docs
//
// writes the committed parts: the pictures, and the verdicts on the papers' claims, both from the
// records of measurements.
//
//	go run ./scripts/docs -reference DIR .
//
// writes the reference into the folder DIR: the help of the program's commands, and the
// documentation of the packages. The website has these pages.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:generate go run . ../..

func main() {
	reference := flag.String("reference", "", "write the reference into this `folder`, and nothing else")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: docs [-reference DIR] ROOT")
		os.Exit(2)
	}
	root := flag.Arg(0)
	var err error
	if *reference != "" {
		err = writeReference(root, *reference)
	} else {
		err = run(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// run writes the committed files into the tree with the given root, and deletes other pictures.
func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(root, pictures)); err != nil {
		return err
	}
	return write(root, files)
}

// writeReference writes the reference of the tree with the given root into a folder.
func writeReference(root, dir string) error {
	files, err := reference(root)
	if err != nil {
		return err
	}
	return write(dir, files)
}

// write writes files below a folder.
func write(dir string, files map[string][]byte) error {
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// pictures is the folder of generated pictures, which has no other files.
const pictures = "docs/pictures"

// part adds files by their names to a map.
type part func(root string, files map[string][]byte) error

// generate returns the committed files by name, relative to the root.
func generate(root string) (map[string][]byte, error) { return all(root, measured, drawings) }

// reference returns the pages of the reference by name, relative to their folder.
func reference(root string) (map[string][]byte, error) {
	return all(root, programReference, packageReference)
}

func all(root string, parts ...part) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, p := range parts {
		if err := p(root, files); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// measured makes the plots and the verdicts from records, by a program of the module reproduce,
// which has the plotting library.
func measured(root string, files map[string][]byte) error {
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
	made, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range made {
		name := pictures + "/" + f.Name()
		if filepath.Ext(name) == ".md" {
			name = "docs/" + f.Name()
		}
		if files[name], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
