// Package gocuda translates arithmetic written in Go into CUDA C++ that gives the same bits.
//
// Functions are translated statement by statement. Each operation on numbers of type float64
// becomes an intrinsic function that rounds once, such as __dadd_rn, so that no compiler fuses or
// reorders it. A product in a sum or difference must have an explicit conversion, because Go may
// fuse it otherwise; without one the package returns an error.
//
// The supported part of Go: numbers, booleans, arrays of constant length, structures, pointers;
// definitions, assignments, if, switch, for, return; functions and methods of the package,
// package-level arrays and variables that are never assigned, and the functions in functionsOf.
package gocuda

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Config selects what to translate.
type Config struct {
	Dir   string   // of the package
	Files []string // files of the package that the functions need; others may be missing
	Roots []string // functions to translate, with all that they call; a method is named Type.Method
	// Types gives the C++ names of Go types of the package. Other names are derived.
	Types map[string]string
	// Known functions and variables are not translated. The CUDA sources have them under the C++
	// names given here.
	Known map[string]string
	// Called functions stay functions. Other functions are inlined.
	Called []string
	// Shared methods of Template become functions too, one for each number of words. They take
	// values and return values, so that these stay in registers. The results are the parameters
	// listed here, which are only read after a &. Other parameters are not changed for the caller.
	Shared map[string]string
	// Replace changes the text of files before they are parsed.
	Replace map[string]string
	// Methods of Template become function templates over its number of words, int W. The template
	// has no other state: field w is W, field n, the number of lanes, is 1, and scratch lent by
	// take is local.
	Template string
}

// Translate returns the C++ text of the functions of c. Each function comes after the functions it
// calls.
func Translate(c Config) (text []byte, err error) {
	t := newTranslator(c)
	defer recoverFailure(&err)
	t.load()
	for _, name := range c.Roots {
		t.need(t.find(name))
	}
	return t.out.Bytes(), nil
}

func newTranslator(c Config) *translator {
	return &translator{
		Config: c, fset: token.NewFileSet(), functions: map[types.Object]*ast.FuncDecl{},
		values: map[types.Object]ast.Expr{}, done: map[types.Object]bool{},
	}
}

// recoverFailure turns a failure into the error. It must be deferred.
func recoverFailure(err *error) {
	if r := recover(); r != nil {
		e, ok := r.(failure)
		if !ok {
			panic(r)
		}
		*err = e.error
	}
}

// failure is the panic value that ends a translation.
type failure struct{ error }

type translator struct {
	Config
	fset      *token.FileSet
	info      *types.Info
	pkg       *types.Package
	functions map[types.Object]*ast.FuncDecl
	values    map[types.Object]ast.Expr // of package-level variables
	done      map[types.Object]bool
	out       bytes.Buffer

	// State of the function being translated:
	body    strings.Builder
	indent  int
	results []*types.Var
	names   int  // number of names made up so far
	inner   bool // in a switch, which break would end
}

// fail ends the translation.
func (t *translator) fail(n ast.Node, format string, args ...any) {
	panic(failure{fmt.Errorf("%v: %s", t.fset.Position(n.Pos()), fmt.Sprintf(format, args...))})
}

// load parses and checks the package's files.
func (t *translator) load() {
	var files []*ast.File
	for _, name := range t.Files {
		source, err := os.ReadFile(filepath.Join(t.Dir, name))
		if err != nil {
			panic(failure{err})
		}
		text := string(source)
		for from, to := range t.Replace {
			text = strings.ReplaceAll(text, from, to)
		}
		f, err := parser.ParseFile(t.fset, filepath.Join(t.Dir, name), text, parser.SkipObjectResolution)
		if err != nil {
			panic(failure{err})
		}
		files = append(files, f)
	}
	t.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	conf := types.Config{
		Importer: onlyStandard{importer.ForCompiler(t.fset, "source", nil)},
		Error:    func(error) {}, // declarations of other files are missing
	}
	t.pkg, _ = conf.Check("p", t.fset, files, t.info)
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				t.functions[t.info.Defs[d.Name]] = d
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Values) == len(v.Names) {
						for i, name := range v.Names {
							t.values[t.info.Defs[name]] = v.Values[i]
						}
					}
				}
			}
		}
	}
}

// onlyStandard refuses packages that arithmetic does without.
type onlyStandard struct{ types.Importer }

func (o onlyStandard) Import(path string) (*types.Package, error) {
	if path != "math" && path != "math/bits" {
		return nil, fmt.Errorf("package %s is left out", path)
	}
	return o.Importer.Import(path)
}

// find returns the function or method of that name.
func (t *translator) find(name string) types.Object {
	if recv, method, ok := strings.Cut(name, "."); ok {
		if o := t.pkg.Scope().Lookup(recv); o != nil {
			if m, _, _ := types.LookupFieldOrMethod(o.Type(), true, t.pkg, method); m != nil {
				return m
			}
		}
	} else if o := t.pkg.Scope().Lookup(name); o != nil {
		return o
	}
	panic(failure{fmt.Errorf("%s: no function %s", t.Dir, name)})
}

// need translates a function or variable unless that is done. It returns its C++ name.
func (t *translator) need(o types.Object) string {
	name := o.Name()
	if f, ok := o.(*types.Func); ok {
		if r := f.Signature().Recv(); r != nil {
			base := r.Type()
			if p, ok := base.(*types.Pointer); ok {
				base = p.Elem()
			}
			name = base.(*types.Named).Obj().Name() + "_" + name
		}
	}
	if known, ok := t.Known[name]; ok {
		return known
	}
	if t.done[o] {
		return name
	}
	t.done[o] = true
	if d := t.functions[o]; d != nil {
		t.function(name, o.(*types.Func), d)
		return name
	}
	v := t.values[o]
	if v == nil {
		panic(failure{fmt.Errorf("%s: %s is not in the files", t.Dir, name)})
	}
	fmt.Fprintf(&t.out, "static __device__ const %s %s = %s;\n\n", t.typeName(v, o.Type()), name, t.constants(v))
	return name
}

// constants is the value of a package-level variable.
func (t *translator) constants(e ast.Expr) string {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return t.expr(e)
	}
	var parts []string
	for _, x := range lit.Elts {
		if _, keyed := x.(*ast.KeyValueExpr); keyed {
			t.fail(x, "keys")
		}
		parts = append(parts, t.constants(x))
	}
	if isArray(t.typeOf(e)) {
		return "{{" + strings.Join(parts, ", ") + "}}"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// templated reports whether f is a method of the template.
func (t *translator) templated(f *types.Func) bool {
	r := f.Signature().Recv()
	return r != nil && t.Template != "" && t.isTemplate(r.Type())
}

// isTemplate reports whether typ is the template, or a pointer to it.
func (t *translator) isTemplate(typ types.Type) bool {
	if p, ok := typ.(*types.Pointer); ok {
		typ = p.Elem()
	}
	n, ok := typ.(*types.Named)
	return ok && n.Obj().Name() == t.Template
}

// function translates a function after the functions that it calls.
func (t *translator) function(name string, f *types.Func, d *ast.FuncDecl) {
	body, indent, results, names, inner := t.body.String(), t.indent, t.results, t.names, t.inner
	t.inner = false
	t.body, t.indent, t.names = strings.Builder{}, 1, 0
	t.results = nil
	sig := f.Signature()
	for v := range sig.Results().Variables() {
		t.results = append(t.results, v)
		if v.Name() != "" && v.Name() != "_" && t.uses(d.Body, v) {
			t.line("%s = {};", t.declare(d, v.Type(), v.Name()))
		}
	}
	t.block(d.Body.List)
	var params []string
	if r := sig.Recv(); r != nil && !t.templated(f) {
		params = append(params, t.declare(d, r.Type(), r.Name()))
	}
	for v := range sig.Params().Variables() {
		params = append(params, t.declare(d, v.Type(), v.Name()))
	}
	text := t.body.String()
	result := t.resultType(d)
	t.body, t.indent, t.results, t.names, t.inner = strings.Builder{}, indent, results, names, inner
	t.body.WriteString(body)
	if d.Doc != nil {
		for _, line := range strings.Split(strings.TrimSpace(d.Doc.Text()), "\n") {
			fmt.Fprintf(&t.out, "// %s\n", line)
		}
	}
	if _, shared := t.Shared[name]; shared {
		t.share(d, name, sig, params, text)
		return
	}
	if t.templated(f) {
		t.out.WriteString("template <int W> ")
	}
	how := "__forceinline__"
	if slices.Contains(t.Called, name) {
		how = "__noinline__"
	}
	fmt.Fprintf(&t.out, "static __device__ %s %s %s(%s)\n{\n%s}\n\n", how, result, name, strings.Join(params, ", "), text)
}

// uses reports whether a body refers to a named result, or returns without naming any.
func (t *translator) uses(body *ast.BlockStmt, v *types.Var) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || t.info.Uses[n] == v
		case *ast.ReturnStmt:
			found = found || len(n.Results) == 0
		}
		return true
	})
	return found
}

// resultType returns the result type of the function that is being translated.
func (t *translator) resultType(n ast.Node) string {
	switch len(t.results) {
	case 0:
		return "void"
	case 1:
		return t.typeName(n, t.results[0].Type())
	}
	var parts []string
	for _, v := range t.results {
		parts = append(parts, t.typeName(n, v.Type()))
	}
	return fmt.Sprintf("results%d<%s>", len(parts), strings.Join(parts, ", "))
}

func (t *translator) line(format string, args ...any) {
	t.body.WriteString(strings.Repeat("\t", t.indent))
	fmt.Fprintf(&t.body, format, args...)
	t.body.WriteByte('\n')
}

// fresh returns a name that Go has no use for.
func (t *translator) fresh() string {
	t.names++
	return fmt.Sprintf("t%d_", t.names)
}

// declare is the declaration of a variable or parameter.
func (t *translator) declare(n ast.Node, typ types.Type, name string) string {
	return t.typeName(n, typ) + " " + cName(name)
}

// cName is a name that C++ has no use for.
func cName(name string) string {
	switch name {
	case "long", "short", "auto", "double", "float", "int", "char", "signed", "unsigned", "register", "this", "new", "delete", "default", "near", "far":
		return name + "_"
	}
	return name
}

// typeName is the C++ name of a type.
func (t *translator) typeName(n ast.Node, typ types.Type) string {
	switch u := types.Unalias(typ).(type) {
	case *types.Named:
		if name, ok := t.Types[u.Obj().Name()]; ok {
			return name
		}
		if a, ok := u.Underlying().(*types.Array); ok {
			return t.typeName(n, a)
		}
	case *types.Pointer:
		return t.typeName(n, u.Elem()) + " *"
	case *types.Array:
		return fmt.Sprintf("array<%s, %d>", t.typeName(n, u.Elem()), u.Len())
	case *types.Basic:
		if name, ok := basicTypes[u.Kind()]; ok {
			return name
		}
	}
	t.fail(n, "type %v", typ)
	return ""
}

var basicTypes = map[types.BasicKind]string{
	types.Float64: "double", types.UntypedFloat: "double", types.Bool: "bool", types.UntypedBool: "bool",
	types.Int: "int", types.UntypedInt: "int", types.Int32: "int", types.Uint32: "u32", types.Int64: "i64", types.Uint64: "u64", types.Uint: "u32",
}

func (t *translator) typeOf(e ast.Expr) types.Type {
	typ := t.info.TypeOf(e)
	if typ == nil {
		t.fail(e, "type unknown")
	}
	return typ
}

func isArray(typ types.Type) bool {
	_, ok := typ.Underlying().(*types.Array)
	return ok
}

func isPointer(typ types.Type) bool {
	_, ok := typ.Underlying().(*types.Pointer)
	return ok
}

func isFloat(typ types.Type) bool {
	b, ok := typ.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// literal is a constant.
func literal(v constant.Value, typ types.Type) string {
	b, _ := typ.Underlying().(*types.Basic)
	switch {
	case v.Kind() == constant.Bool:
		return v.ExactString()
	case b != nil && b.Info()&types.IsFloat != 0:
		f, _ := constant.Float64Val(v)
		if f == float64(int64(f)) && f < 1e6 && f > -1e6 {
			return fmt.Sprintf("%.1f", f)
		}
		return fmt.Sprintf("%x", f)
	case b != nil && b.Kind() == types.Uint64:
		return v.ExactString() + "ull"
	case b != nil && b.Kind() == types.Int64:
		return v.ExactString() + "ll"
	}
	return v.ExactString()
}
