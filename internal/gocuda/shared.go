package gocuda

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// share writes the functions of a shared method: name_inlined has the method's statements,
// name_called takes and returns values, and name, which is inlined, calls name_called. Words of a
// block are a num<W>.
func (t *translator) share(d *ast.FuncDecl, name string, sig *types.Signature, params []string, text string) {
	if sig.Results().Len() > 0 {
		t.fail(d, "results of a shared method")
	}
	var fields, passed, locals, pointers, results, values, stores []string
	listed := strings.Fields(t.Shared[name])
	for v := range sig.Params().Variables() {
		p := cName(v.Name())
		out, both := slices.Contains(listed, p), slices.Contains(listed, "&"+p)
		typ, pointer, result, value, store := t.typeName(d, v.Type()), p, p, p, ""
		if ptr, ok := v.Type().(*types.Pointer); ok {
			typ = t.typeName(d, ptr.Elem())
			pointer, value, store = "&"+p, "*"+p, "*"+p+" = called."+p
		}
		local := typ + " " + p
		if typ == "block" {
			typ, pointer, result = "num<W>", "&"+p+"Block", "wordsOf<W>(&"+p+"Block)"
			value, store = "wordsOf<W>("+p+")", "setWords<W>("+p+", called."+p+")"
			local = "block " + p + "Block"
		}
		if out || both {
			fields, results, stores = append(fields, typ+" "+p), append(results, result), append(stores, store)
		}
		if !out {
			passed, values = append(passed, typ+" "+p), append(values, value)
		}
		if out || typ == "num<W>" {
			locals = append(locals, local)
		}
		if !out && typ == "num<W>" {
			locals = append(locals, "setWords<W>(&"+p+"Block, "+p+")")
		}
		pointers = append(pointers, pointer)
	}
	if len(fields) != len(listed) {
		t.fail(d, "results %s of %s", t.Shared[name], name)
	}
	function := func(how, result, name string, params []string, body string) {
		fmt.Fprintf(&t.out, "template <int W> static __device__ %s %s %s(%s)\n{\n%s}\n\n", how, result, name, strings.Join(params, ", "), body)
	}
	lines := func(list ...string) string { return "\t" + strings.Join(list, ";\n\t") + ";\n" }
	list := func(list []string) string { return strings.Join(list, ", ") }

	function("__forceinline__", "void", name+"_inlined", params, text)
	fmt.Fprintf(&t.out, "template <int W> struct %s_results {\n%s};\n\n", name, lines(fields...))
	locals = append(locals, fmt.Sprintf("%s_inlined<W>(%s)", name, list(pointers)), fmt.Sprintf("return {%s}", list(results)))
	function("__noinline__", name+"_results<W>", name+"_called", passed, lines(locals...))
	call := fmt.Sprintf("auto called = %s_called<W>(%s)", name, list(values))
	function("__forceinline__", "void", name, params, lines(append([]string{call}, stores...)...))
}
