// Package architecture tests which package may import which, and how large packages, cycles of
// files and lists of parameters may be. Lists of known exceptions may only become shorter, and
// their numbers only smaller: a test fails if an entry is no longer needed, or if a number is more
// than a tenth too large.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/halfulp/halfulp"

// goPackage is a package as go list describes it. Packages of the module have paths from its root
// on, "" for the root package.
type goPackage struct {
	ImportPath, Dir, Export string
	Standard                bool
	GoFiles                 []string
	Imports                 []string
	TestImports             []string
	XTestImports            []string
	Deps                    []string // whole paths
}

// listed returns the packages that go list describes, by path.
func listed(args ...string) (map[string]*goPackage, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = "../.."
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	all := map[string]*goPackage{}
	for d := json.NewDecoder(out); ; {
		p := new(goPackage)
		if err = d.Decode(p); err != nil {
			break
		}
		all[p.ImportPath] = p
	}
	if e := cmd.Wait(); e != nil {
		return nil, errors.New(failure.String())
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return all, nil
}

var modulePackages = sync.OnceValues(func() (map[string]*goPackage, error) {
	all, err := listed("-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")
	short := map[string]*goPackage{}
	for path, p := range all {
		for _, list := range []*[]string{&p.Imports, &p.TestImports, &p.XTestImports} {
			*list = own(*list)
		}
		short[shortPath(path)] = p
	}
	return short, err
})

// own returns the packages of the module in a list of imports.
func own(imports []string) (list []string) {
	for _, path := range imports {
		if path == module || strings.HasPrefix(path, module+"/") {
			list = append(list, shortPath(path))
		}
	}
	return list
}

func shortPath(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

// packages returns the packages of the module, by path.
func packages(t *testing.T) map[string]*goPackage {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	all, err := modulePackages()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 || all[""] == nil {
		t.Fatalf("go list has %d packages", len(all))
	}
	return all
}

// under reports whether a package is one of the folders, or below one.
func under(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// checkNames compares the violations of a rule with the known ones.
func checkNames(t *testing.T, found map[string]bool, known []string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(known, name) {
			t.Errorf("%s: this is forbidden", name)
		}
	}
	for _, name := range known {
		if !found[name] {
			t.Errorf("%s: this is so no more: remove it from the list", name)
		}
	}
}

// checkSizes compares sizes with a bound, or where they are known to be over it with known ones.
func checkSizes(t *testing.T, what string, size map[string]int, bound int, known map[string]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(size)) {
		n, most := size[name], max(bound, known[name])
		if n > most {
			t.Errorf("%s: %d %s, at most %d are allowed", shown(name), n, what, most)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		switch n, most := size[name], known[name]; {
		case n <= bound:
			t.Errorf("%s: %d %s: remove it from the list", shown(name), n, what)
		case n < most-most/10:
			t.Errorf("%s: %d %s: the list has %d", shown(name), n, what, most)
		}
	}
}

// shown is how messages call a package.
func shown(path string) string {
	if path == "" {
		return "the root package"
	}
	return path
}
