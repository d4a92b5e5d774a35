package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// source is a file of the module that is neither a test nor generated.
type source struct {
	folder string // from the module's root on, "" for itself
	lines  int
	file   *ast.File
}

// sources returns the files for all machines, without the files of nested modules.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 {
		t.Fatalf("%d files", len(all))
	}
	return all
}

// parsed reads the files of sources, once for all tests.
var parsed = sync.OnceValues(func() (all []source, err error) {
	const root = "../.."
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != root {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if err == nil || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ast.IsGenerated(f) {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		all = append(all, source{strings.TrimPrefix(path.Clean(filepath.ToSlash(folder)), "."), bytes.Count(text, []byte("\n")), f})
		return nil
	})
	return all, err
})

// maxLines is the largest number of lines of a package of linsolve or internal/, without tests and
// generated files.
const maxLines = 6000

// knownLines are the packages that have more.
var knownLines = map[string]int{}

// TestLines checks the sizes of packages.
func TestLines(t *testing.T) {
	size := map[string]int{}
	for _, s := range sources(t) {
		if under(s.folder, "internal", "linsolve") {
			size[s.folder] += s.lines
		}
	}
	checkSizes(t, "lines", size, maxLines, knownLines)
}

// maxParameters is the largest number of parameters of a function.
const maxParameters = 8

// blas are the packages whose exported functions have the parameters of BLAS.
var blas = []string{"", "rns", "expansion", "ozaki"}

// knownParameters lists the packages with functions of more parameters, and the number of such
// functions. A function with a version for several machines counts once for each file.
var knownParameters = map[string]int{
	"":                         3,
	"cmd/halfulp":              3,
	"expansion":                1,
	"internal/cublas":          2,
	"internal/dgemm":           1,
	"internal/direct":          9,
	"internal/lanes":           1,
	"internal/proof/call":      1,
	"internal/superacc":        7,
	"internal/gpu/backend":     1,
	"internal/gpu/gputest":     3,
	"internal/gpu/rows":        3,
	"internal/gpu/several":     1,
	"internal/modgemm":         9,
	"internal/ozgpu":           2,
	"internal/residue":         10,
	"internal/rounding":        8,
	"internal/sgemm":           1,
	"linsolve/internal/digits": 1,
	"ozaki":                    1,
	"rns":                      1,
}

// TestParameters counts functions with too many parameters.
func TestParameters(t *testing.T) {
	count := map[string]int{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Type.Params.NumFields() <= maxParameters || f.Name.IsExported() && slices.Contains(blas, s.folder) {
				continue
			}
			count[s.folder]++
			if _, known := knownParameters[s.folder]; !known {
				t.Logf("%s: %s has %d parameters", shown(s.folder), f.Name.Name, f.Type.Params.NumFields())
			}
		}
	}
	checkSizes(t, "functions of more than 8 parameters", count, 0, knownParameters)
}
