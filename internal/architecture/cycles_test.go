package architecture

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// maxCycle is the largest number of files of a package that may form a cycle, in which each file
// refers to declarations of the next, including fields and methods.
const maxCycle = 8

// knownCycles lists the packages with a larger cycle, and its number of files.
var knownCycles = map[string]int{
	"cmd/halfulp":          12,
	"conformance":          9,
	"eigen/internal/sym":   11,
	"expansion":            9,
	"internal/cuda":        9,
	"internal/direct":      15,
	"internal/gpu/gputest": 17,
	"internal/gpu/product": 26,
	"internal/gpu/several": 15,
	"internal/residue":     17,
	"rational":             16,
	"rns":                  9,
}

// TestCycles checks the cycles of files of all packages, tests left out.
func TestCycles(t *testing.T) {
	packages(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("other machines have other files")
	}
	// Export data of everything that is imported, from the build cache.
	all, err := listed("-export", "-deps", "-json=ImportPath,Dir,Export,Standard,GoFiles", "./...")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	size := map[string]int{}
	for path, p := range all {
		if path != module && !strings.HasPrefix(path, module+"/") || len(p.GoFiles) <= maxCycle {
			continue
		}
		refers, err := references(fset, imports, p)
		if err != nil {
			t.Fatal(err)
		}
		cycle := largestCycle(refers)
		size[shortPath(path)] = len(cycle)
		if _, known := knownCycles[shortPath(path)]; len(cycle) > maxCycle && !known {
			t.Logf("%s: %v", shown(shortPath(path)), cycle)
		}
	}
	if len(size) < 20 {
		t.Fatalf("%d packages", len(size))
	}
	checkSizes(t, "files in a cycle", size, maxCycle, knownCycles)
}

// references returns for each file of a package the other files whose declarations it uses.
func references(fset *token.FileSet, imports types.Importer, p *goPackage) (map[string][]string, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return fileReferences(fset, imports, p.ImportPath, files)
}

func fileReferences(fset *token.FileSet, imports types.Importer, path string, files []*ast.File) (map[string][]string, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, err := (&types.Config{Importer: imports, Sizes: types.SizesFor("gc", "amd64")}).Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	fileOf := func(pos token.Pos) string { return filepath.Base(fset.Position(pos).Filename) }
	refers := map[string]map[string]bool{}
	for _, f := range files {
		refers[fileOf(f.Pos())] = map[string]bool{}
	}
	for id, o := range info.Uses {
		if o.Pkg() != checked {
			continue
		}
		global := o.Parent() == checked.Scope()
		switch o := o.(type) {
		case *types.Func:
			global = true // a method, if not a function
		case *types.Var:
			global = global || o.IsField()
		}
		if from, to := fileOf(id.Pos()), fileOf(o.Pos()); global && from != to {
			refers[from][to] = true
		}
	}
	sorted := map[string][]string{}
	for from, to := range refers {
		sorted[from] = slices.Sorted(maps.Keys(to))
	}
	return sorted, nil
}

// largestCycle returns the largest strongly connected component of a graph, by Tarjan's algorithm.
func largestCycle(edges map[string][]string) (largest []string) {
	index, low := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(v string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		at := len(stack)
		stack = append(stack, v)
		for _, w := range edges[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] == index[v] {
			if component := slices.Sorted(slices.Values(stack[at:])); len(component) > len(largest) {
				largest = component
			}
			stack = stack[:at]
		}
	}
	for _, v := range slices.Sorted(maps.Keys(edges)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return largest
}

// TestReferences checks references and cycles of a small package.
func TestReferences(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, text := range map[string]string{
		"a.go": "package p\ntype a struct{ x int }\nfunc (a) f() { g() }",
		"b.go": "package p\nfunc g() { h(0) }",
		"c.go": "package p\nfunc h(x int) { var y struct{ z int }; _ = y.z + x; (a{}).f() }",
		"d.go": "package p\nfunc i(v a) int { return v.x }",
		"e.go": "package p\nfunc j() { j() }",
	} {
		f, err := parser.ParseFile(fset, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	refers, err := fileReferences(fset, nil, "p", files)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"a.go": {"b.go"}, "b.go": {"c.go"}, "c.go": {"a.go"}, "d.go": {"a.go"}, "e.go": nil}
	if !maps.EqualFunc(refers, want, slices.Equal) {
		t.Errorf("references %v, want %v", refers, want)
	}
	if got := largestCycle(refers); !slices.Equal(got, []string{"a.go", "b.go", "c.go"}) {
		t.Errorf("cycle %v", got)
	}
}
