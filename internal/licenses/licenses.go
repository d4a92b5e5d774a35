// Package licenses collects the licences of the modules that a program contains.
package licenses

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Targets are the systems and processors that programs are released for, as GOOS/GOARCH.
var Targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// Module is a module that a program contains.
type Module struct {
	Path, Version string
	Dir           string
	Main          bool
}

// Modules returns the modules that the package at path contains on one of the targets, by their
// paths. path is relative to the folder dir.
func Modules(dir, path string, targets []string) ([]Module, error) {
	all := map[string]Module{}
	for _, target := range targets {
		goos, goarch, _ := strings.Cut(target, "/")
		cmd := exec.Command("go", "list", "-deps", "-json=Module", path)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		var failure strings.Builder
		cmd.Stderr = &failure
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w: %s", target, err, failure.String())
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *Module }
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if m := p.Module; m != nil { // packages of the standard library have none
				all[m.Path] = *m
			}
		}
	}
	list := make([]Module, 0, len(all))
	for _, m := range all {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// Head begins the part of the text that has the licence of a module, or of Go.
const Head = "======== "

// Title is the line that begins the licences of a module.
func (m Module) Title() string { return strings.TrimSpace(Head + m.Path + " " + m.Version) }

// Text returns the licences of the modules that the package at path contains on one of the targets,
// and of Go's library and runtime. The licence of the program's own module comes first.
func Text(dir, path string, targets []string) ([]byte, error) {
	modules, err := Modules(dir, path, targets)
	if err != nil {
		return nil, err
	}
	// The program's own module first, then Go, then the others.
	main := slices.IndexFunc(modules, func(m Module) bool { return m.Main })
	if main < 0 {
		return nil, fmt.Errorf("%s is not a package of the module in %s", path, dir)
	}
	parts := append([]Module{modules[main], {Path: goTitle, Dir: goRoot(modules)}}, slices.Delete(slices.Clone(modules), main, main+1)...)
	var text bytes.Buffer
	seen := map[string]string{}
	for _, m := range parts {
		fmt.Fprintf(&text, "%s\n\n", m.Title())
		if err := appendLicenses(&text, seen, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
	}
	return append(bytes.TrimRight(text.Bytes(), "\n"), '\n'), nil
}

// goTitle is the title of Go's licence.
const goTitle = "Go: its library and runtime"

// goRoot returns a folder with Go's licence: Go's own or, where a package of the system put the
// licence elsewhere, the folder of golang.org/x/sys, which has the same licence.
func goRoot(modules []Module) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	root := strings.TrimSpace(string(out))
	if _, e := os.Stat(filepath.Join(root, "LICENSE")); err == nil && e == nil {
		return root
	}
	for _, m := range modules {
		if m.Path == "golang.org/x/sys" {
			return m.Dir
		}
	}
	return root
}

// appendLicenses appends the files in the folder of a module that have the terms of a licence, and
// the files in a folder of licences in it. seen has the texts so far, and where each is: a text is
// not repeated.
func appendLicenses(to *bytes.Buffer, seen map[string]string, m Module) error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if !isLicense(e.Name()) {
			continue
		}
		files := []string{e.Name()}
		if e.IsDir() {
			inner, err := os.ReadDir(filepath.Join(m.Dir, e.Name()))
			if err != nil {
				return err
			}
			files = nil
			for _, f := range inner {
				files = append(files, filepath.Join(e.Name(), f.Name()))
			}
		}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(m.Dir, name))
			if err != nil {
				return err
			}
			found = true
			name = filepath.ToSlash(name)
			words := string(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
			if where := seen[words]; where != "" {
				fmt.Fprintf(to, "---- %s: the same text as %s\n\n", name, where)
				continue
			}
			seen[words] = name + " of " + m.Path
			fmt.Fprintf(to, "---- %s\n\n%s\n\n", name, words)
		}
	}
	if !found {
		return errors.New("the module has no licence")
	}
	return nil
}

// isLicense reports whether a file or folder has terms of a licence by its name.
func isLicense(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS", "THIRD_PARTY_LICENSES"}, func(s string) bool {
		return strings.HasPrefix(name, s)
	})
}
