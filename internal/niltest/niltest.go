// Package niltest calls the exported functions and methods of a package with nil operands, for
// tests. Each call must return, or panic with a text that begins with the name of a package; it
// must not dereference a nil pointer.
package niltest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Operands maps types to functions that make arguments of these types that are not nil. Arguments
// of other types are 1 for signed integers, 2 for unsigned integers except bytes, and else zero
// values.
type Operands map[reflect.Type]func() reflect.Value

// Of returns the type of a value and a function that makes such values.
func Of[T any](operand func() T) (reflect.Type, func() reflect.Value) {
	return reflect.TypeFor[T](), func() reflect.Value { return reflect.ValueOf(operand()) }
}

// Functions calls each function of a table with each operand nil in turn, and with all of them nil.
// The table must have all exported functions of the package in the current folder that have a
// parameter of pointer type, except the functions in except.
func (o Operands) Functions(t *testing.T, table map[string]any, except ...string) {
	t.Helper()
	for _, name := range exported(t) {
		if _, ok := table[name]; !ok && !slices.Contains(except, name) {
			t.Errorf("the table does not have the function %s", name)
		}
	}
	for name, f := range table {
		o.call(t, name, reflect.ValueOf(f))
	}
}

// Methods calls each method of a value, for example a pointer, with operands like Functions, and
// then each method of the nil pointer of its type with operands that are not nil. It omits methods
// of the type that the pointer points to for the nil pointer, since these cannot be called with
// nil, and omits Format, which only package fmt calls.
func (o Operands) Methods(t *testing.T, value any) {
	t.Helper()
	v := reflect.ValueOf(value)
	for i := range v.NumMethod() {
		if v.Type().Method(i).Name == "Format" {
			continue
		}
		name := v.Type().String() + "." + v.Type().Method(i).Name
		o.call(t, name, v.Method(i))
		if v.Kind() == reflect.Pointer {
			if _, ok := v.Type().Elem().MethodByName(v.Type().Method(i).Name); !ok {
				null := reflect.Zero(v.Type()).Method(i)
				invoke(t, name+" of nil", null, o.arguments(null.Type()))
			}
		}
	}
}

// call calls f with each operand nil in turn, and with all of them nil.
func (o Operands) call(t *testing.T, name string, f reflect.Value) {
	t.Helper()
	none := o.arguments(f.Type())
	invoke(t, name, f, o.arguments(f.Type()))
	for i := range f.Type().NumIn() {
		if _, ok := o[f.Type().In(i)]; ok {
			args := o.arguments(f.Type())
			args[i] = reflect.Zero(f.Type().In(i))
			none[i] = args[i]
			invoke(t, name, f, args)
		}
	}
	invoke(t, name, f, none)
}

// arguments returns arguments for f, which are not nil if o has their type.
func (o Operands) arguments(f reflect.Type) (args []reflect.Value) {
	for i := range f.NumIn() {
		in := f.In(i)
		v := reflect.New(in).Elem()
		if operand, ok := o[in]; ok {
			v.Set(operand())
		} else if v.CanInt() {
			v.SetInt(1)
		} else if v.CanUint() && in.Kind() != reflect.Uint8 {
			v.SetUint(2)
		}
		args = append(args, v)
	}
	return args
}

// invoke calls f and reports a panic whose value is not a text that begins with the name of a
// package.
func invoke(t *testing.T, name string, f reflect.Value, args []reflect.Value) {
	t.Helper()
	defer func() {
		t.Helper()
		p := recover()
		if p == nil {
			return
		}
		text, ok := p.(string)
		if _, bad := p.(runtime.Error); bad || !ok || !strings.Contains(text, ": ") || strings.ContainsAny(text[:strings.Index(text, ": ")], " %") {
			t.Errorf("%s%v panics with %v", name, args, p)
		}
	}()
	if f.Type().IsVariadic() {
		f.CallSlice(args)
		return
	}
	f.Call(args)
}

// exported returns the names of the package's exported functions with a parameter of pointer type.
func exported(t *testing.T) (names []string) {
	t.Helper()
	all, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() && hasPointer(f.Type.Params) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

func hasPointer(params *ast.FieldList) bool {
	return slices.ContainsFunc(params.List, func(p *ast.Field) bool {
		_, ok := p.Type.(*ast.StarExpr)
		return ok
	})
}
