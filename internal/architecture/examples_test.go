package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// documented are the packages of which every routine has an Example.
var documented = []string{"", "linsolve", "eigen", "gallery", "stats", "matfile", "rational"}

// noExamples are routines without an Example, with the reason.
var noExamples = map[string]string{
	"FormatOf": "its argument has a type of an internal package",
	"MatrixOf": "its argument has a type of an internal package",
	"ScalarOf": "its argument has a type of an internal package",
}

// TestExamples checks that go doc shows an Example of every routine: of exported functions, and of
// exported methods with options.
func TestExamples(t *testing.T) {
	unused := maps.Clone(noExamples)
	for _, folder := range documented {
		routines, examples := declared(t, folder)
		if len(routines) == 0 || len(examples) == 0 {
			t.Errorf("%s: %d routines, %d examples", shown(folder), len(routines), len(examples))
		}
		for _, name := range routines {
			reason, excepted := noExamples[name]
			switch {
			case examples[name] && excepted:
				t.Errorf("%s: %s has an Example, and is in noExamples: %s", shown(folder), name, reason)
			case !examples[name] && !excepted:
				t.Errorf("%s: %s has no Example%s", shown(folder), name, name)
			}
			delete(unused, name)
		}
	}
	for name := range unused {
		t.Errorf("noExamples has %s, which is no routine", name)
	}
}

// declared returns the routines of a folder, methods as Type_Method, and what its Examples show.
func declared(t *testing.T, folder string) (routines []string, examples map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	examples = map[string]bool{}
	fset := token.NewFileSet()
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case !strings.HasSuffix(name, "_test.go"):
				if routine := routineName(f); routine != "" && !slices.Contains(routines, routine) {
					routines = append(routines, routine)
				}
			case f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example"):
				examples[exampleOf(f.Name.Name)] = true
			}
		}
	}
	return routines, examples
}

// routineName returns the name of a routine in the names of its Examples, "" for other functions.
func routineName(f *ast.FuncDecl) string {
	if !f.Name.IsExported() {
		return ""
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if p, ok := receiver.(*ast.StarExpr); ok {
		receiver = p.X
	}
	id, ok := receiver.(*ast.Ident)
	if !ok || !id.IsExported() || !takesOptions(f.Type.Params) {
		return ""
	}
	return id.Name + "_" + f.Name.Name
}

// takesOptions reports whether a parameter has the type *Options or *halfulp.Options.
func takesOptions(params *ast.FieldList) bool {
	return slices.ContainsFunc(params.List, func(p *ast.Field) bool {
		pointer, ok := p.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		if s, ok := pointer.X.(*ast.SelectorExpr); ok {
			return s.Sel.Name == "Options"
		}
		id, ok := pointer.X.(*ast.Ident)
		return ok && id.Name == "Options"
	})
}

// exampleOf returns what an Example shows: its name without a suffix such as _reproducible.
func exampleOf(name string) string {
	name = strings.TrimPrefix(name, "Example")
	if i := strings.LastIndexByte(name, '_'); i >= 0 {
		if first, _ := utf8.DecodeRuneInString(name[i+1:]); unicode.IsLower(first) {
			return name[:i]
		}
	}
	return name
}
