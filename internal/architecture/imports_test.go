package architecture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rooms are the packages of proved linear algebra, in the order in which they may import each
// other: a room imports rooms of earlier rows, and of its own row if the row says so.
var rooms = []struct {
	names  []string
	within bool
}{
	{[]string{"internal/proof/interval", "internal/proof/scale", "internal/proof/bound"}, true},
	{[]string{"internal/proof/minors", "internal/proof/residual"}, false},
	{[]string{"internal/proof/budget"}, false},
	{[]string{"internal/proof/call"}, false},
	// It makes runs for tests, and checks enclosures; only tests import it.
	{[]string{"internal/proof/prooftest"}, false},
	{[]string{"internal/proof/fixed"}, false},
	{[]string{"internal/proof/modular"}, false},
	{[]string{"internal/proof/ziv"}, false},
	{[]string{"internal/proof/seed"}, false},
	{[]string{"internal/proof/refine"}, false},
	// Blocks are inverted by steps of Newton's method.
	{[]string{"internal/proof/newton"}, false},
	// Ways import no other way.
	{[]string{"linsolve/internal/digits", "linsolve/internal/blocks"}, false},
	{[]string{"linsolve/internal/solve"}, false},
	{[]string{"linsolve/internal/factors"}, false},
	{[]string{"linsolve/internal/det"}, false},
	{[]string{"linsolve/internal/lsq"}, false},
	{[]string{"linsolve/internal/function"}, false},
	{[]string{"eigen/internal/sym", "eigen/internal/roots"}, false},
}

// rowOf returns the row of a room, not ok for other packages.
func rowOf(path string) (row int, ok bool) {
	for row, r := range rooms {
		if slices.Contains(r.names, path) {
			return row, true
		}
	}
	return 0, false
}

// isRoom reports whether a package stands where rooms do.
func isRoom(path string) bool {
	return under(path, "internal/proof", "linsolve/internal", "eigen/internal")
}

// readers read and write files. Of this module they import each other and readerNeeds alone.
var (
	readers     = []string{"matfile", "internal/files", "internal/textio", "internal/decimal"}
	readerNeeds = []string{"", "internal/num", "internal/par", "internal/hugepage"}
)

// knownImports break a rule. The list may only become shorter.
var knownImports = []string{
	"internal/gpu (test) -> the root package",
	"internal/gpu/several (test) -> the root package",
	"internal/proof/scale (test) -> the root package",
	// A grid of processes reads and writes files in parts.
	"matfile/gridfiles -> internal/grid",
	"matfile/gridfiles -> mpi",
}

// TestImports checks who imports whom.
func TestImports(t *testing.T) {
	all := packages(t)
	above := aboveRoot(all)
	found := map[string]bool{}
	for path, p := range all {
		for _, to := range p.Imports {
			if forbidden(path, to, above) {
				found[fmt.Sprintf("%s -> %s", shown(path), shown(to))] = true
			}
			if to == "internal/proof/prooftest" {
				t.Errorf("%s imports %s, and is no test", shown(path), to)
			}
		}
		tests := p.TestImports
		if !isRoom(path) { // external tests of rooms take matrices of the root package
			tests = slices.Concat(tests, p.XTestImports)
		}
		for _, to := range tests {
			if under(path, "internal") && to == "" {
				found[fmt.Sprintf("%s (test) -> %s", shown(path), shown(to))] = true
			}
		}
	}
	checkNames(t, found, knownImports)
	for path := range all {
		if _, ok := rowOf(path); isRoom(path) && !ok {
			t.Errorf("%s: the table of rooms does not say what it may import", path)
		}
	}
}

// aboveRoot returns the root package and the packages outside internal/ that depend on it.
func aboveRoot(all map[string]*goPackage) map[string]bool {
	above := map[string]bool{}
	var depends func(path string) bool
	seen := map[string]bool{}
	depends = func(path string) bool {
		if path == "" {
			return true
		}
		if known, ok := seen[path]; ok {
			return known
		}
		seen[path] = false
		if p := all[path]; p != nil {
			seen[path] = slices.ContainsFunc(p.Imports, depends)
		}
		return seen[path]
	}
	for path := range all {
		if !under(path, "internal") && depends(path) {
			above[path] = true
		}
	}
	return above
}

// forbidden reports whether a package may not import another one of the module. above has the
// packages above the root package, and itself.
func forbidden(from, to string, above map[string]bool) bool {
	switch {
	case under(from, "internal") && above[to],
		isRoom(from) && (to == "" || to == "linsolve"):
		return true
	case under(from, "internal/proof/interval", "internal/proof/scale", "internal/proof/bound", "internal/proof/modular", "internal/proof/ziv") &&
		under(to, "internal/place", "internal/direct", "internal/lanes", "internal/tiles", "internal/dgemm"):
		return true
	case under(from, "internal/gpu") && under(to, "internal/product"):
		return true
	case under(from, readers...) && !under(to, readers...) && !slices.Contains(readerNeeds, to):
		return true
	}
	row, ok := rowOf(from)
	other, room := rowOf(to)
	return ok && room && (other > row || other == row && !rooms[row].within)
}

// TestForbidden checks the rules by imports that are none of this module.
func TestForbidden(t *testing.T) {
	above := map[string]bool{"": true, "linsolve": true, "matfile": true, "rns": true}
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"internal/par", "", true},
		{"internal/par", "rns", true},
		{"internal/par", "mpi", false},
		{"cmd/halfulp", "", false},
		{"internal/proof/call", "linsolve", true},
		{"linsolve/internal/digits", "", true},
		{"linsolve/internal/digits", "internal/proof/ziv", false},
		{"linsolve/internal/digits", "linsolve/internal/blocks", true},
		{"internal/proof/ziv", "linsolve/internal/digits", true},
		{"internal/proof/ziv", "internal/place", true},
		{"internal/proof/bound", "internal/directed", false},
		{"internal/proof/modular", "internal/direct/lanes", true},
		{"internal/proof/bound", "internal/proof/scale", false},
		{"internal/proof/bound", "internal/proof/call", true},
		{"internal/gpu/rows", "internal/product", true},
		{"internal/gpu/rows", "internal/gpu/product", false},
		{"matfile/internal/npy", "internal/residue", true},
		{"matfile/internal/npy", "internal/num", false},
		{"matfile/internal/npy", "matfile/internal/matrixmarket", false},
		{"internal/textio", "internal/product", true},
		{"linsolve", "linsolve/internal/digits", false},
	} {
		if got := forbidden(c.from, c.to, above); got != c.want {
			t.Errorf("%s -> %s: forbidden %t, want %t", c.from, shown(c.to), got, c.want)
		}
	}
}

// TestOtherModules checks that packages for other modules depend on few modules. Only programs may
// depend on modules that plot, read command lines or run tests.
func TestOtherModules(t *testing.T) {
	modules := []string{"github.com/ebitengine/purego", "golang.org/x/sys", "gonum.org/v1/gonum"}
	for path, p := range packages(t) {
		if under(path, "internal", "cmd", "scripts", "examples") {
			continue
		}
		for _, to := range p.Deps {
			// Packages of the standard library have no dot in their first element.
			first, _, _ := strings.Cut(to, "/")
			if strings.Contains(first, ".") && !under(to, module) && !under(to, modules...) {
				t.Errorf("%s depends on %s", shown(path), to)
			}
		}
	}
}
