package gocuda

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// rounded are the intrinsic functions of the operations.
var rounded = map[token.Token]string{token.ADD: "__dadd_rn", token.SUB: "__dsub_rn", token.MUL: "__dmul_rn", token.QUO: "__ddiv_rn"}

// functionsOf are the functions of other packages; each %s is an argument.
var functionsOf = map[string]string{
	"math.FMA": "__fma_rn(%s, %s, %s)", "math.Sqrt": "__dsqrt_rn(%s)", "math.Abs": "fabs(%s)",
	"math.Copysign": "copysign(%s, %s)", "math.IsNaN": "isNaN(%s)", "math.IsInf": "isInf(%s, %s)",
	"math.Signbit": "(__double_as_longlong(%s) < 0)", "math.NaN": "notANumber()", "math.Inf": "infinity(%s)",
	"math.Float64bits": "(u64)__double_as_longlong(%s)", "math.Float64frombits": "__longlong_as_double((i64)(%s))",
	"math.Mod": "fmod(%s, %s)", "math.RoundToEven": "rint(%s)", "math.Floor": "floor(%s)", "math.Ceil": "ceil(%s)", "math.Trunc": "trunc(%s)",
	"bits.LeadingZeros64": "__clzll((i64)(%s))", "bits.Len64": "(64 - __clzll((i64)(%s)))", "bits.TrailingZeros64": "trailingZeros(%s)",
	"bits.Mul64": "multiply(%s, %s)", "bits.Add64": "addCarry(%s, %s, %s)", "bits.Sub64": "subBorrow(%s, %s, %s)",
}

func (t *translator) expr(e ast.Expr) string {
	if tv, ok := t.info.Types[e]; ok && tv.Value != nil {
		return literal(tv.Value, tv.Type)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return "(" + t.expr(e.X) + ")"
	case *ast.Ident:
		return t.identifier(e)
	case *ast.BinaryExpr:
		return t.binary(e, e.Op, t.typeOf(e.X), e.X, e.Y)
	case *ast.UnaryExpr:
		op := e.Op.String()
		if e.Op == token.XOR {
			op = "~"
		}
		return op + "(" + t.expr(e.X) + ")"
	case *ast.StarExpr:
		return "(*" + t.expr(e.X) + ")"
	case *ast.CallExpr:
		return t.call(e)
	case *ast.IndexExpr:
		x := t.expr(e.X)
		if isPointer(t.typeOf(e.X)) {
			x = "(*" + x + ")"
		}
		return x + "[" + t.expr(e.Index) + "]"
	case *ast.SelectorExpr:
		if s := t.info.Selections[e]; s == nil || s.Kind() != types.FieldVal {
			t.fail(e, "%s", e.Sel.Name)
		}
		if t.Template != "" && t.isTemplate(t.typeOf(e.X)) {
			switch e.Sel.Name {
			case "w":
				return "W"
			case "n":
				return "1"
			}
			t.fail(e, "field %s", e.Sel.Name)
		}
		if isPointer(t.typeOf(e.X)) {
			return t.expr(e.X) + "->" + e.Sel.Name
		}
		return t.expr(e.X) + "." + e.Sel.Name
	case *ast.CompositeLit:
		return t.composite(e)
	case *ast.FuncLit:
		return t.closure(e)
	}
	t.fail(e, "expression %T", e)
	return ""
}

func (t *translator) identifier(e *ast.Ident) string {
	o := t.info.Uses[e]
	if o != nil && o.Parent() == t.pkg.Scope() {
		return t.need(o)
	}
	return cName(e.Name)
}

// closure is a function within a function.
func (t *translator) closure(e *ast.FuncLit) string {
	body, indent, results, inner := t.body.String(), t.indent, t.results, t.inner
	t.body, t.results, t.inner = strings.Builder{}, nil, false
	sig := t.typeOf(e).(*types.Signature)
	var params []string
	for v := range sig.Params().Variables() {
		params = append(params, t.declare(e, v.Type(), v.Name()))
	}
	for v := range sig.Results().Variables() {
		t.results = append(t.results, v)
	}
	t.nested(e.Body.List)
	text := fmt.Sprintf("[&](%s) -> %s {\n%s%s}", strings.Join(params, ", "), t.resultType(e), t.body.String(), strings.Repeat("\t", indent))
	t.body, t.indent, t.results, t.inner = strings.Builder{}, indent, results, inner
	t.body.WriteString(body)
	return text
}

// binary is an operation; numbers of type float64 are rounded by an intrinsic function.
func (t *translator) binary(n ast.Node, op token.Token, typ types.Type, x, y ast.Expr) string {
	if isFloat(typ) {
		if f, ok := rounded[op]; ok {
			if op == token.ADD || op == token.SUB {
				t.unfused(x)
				t.unfused(y)
			}
			return fmt.Sprintf("%s(%s, %s)", f, t.expr(x), t.expr(y))
		}
	} else if op == token.SHL || op == token.SHR {
		if t.info.Types[y].Value == nil { // may be as long as the word
			name := map[token.Token]string{token.SHL: "shiftLeft", token.SHR: "shiftRight"}[op]
			return fmt.Sprintf("%s(%s, %s)", name, t.expr(x), t.expr(y))
		}
		return fmt.Sprintf("(%s %v %s)", t.expr(x), op, t.expr(y))
	} else if op == token.AND_NOT {
		return fmt.Sprintf("(%s & ~%s)", t.expr(x), t.expr(y))
	}
	if isArray(typ) {
		t.fail(n, "%v of arrays", op)
	}
	return fmt.Sprintf("(%s %v %s)", t.expr(x), op, t.expr(y))
}

// unfused refuses a product as a term of a sum.
func (t *translator) unfused(e ast.Expr) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		t.unfused(x.X)
	case *ast.UnaryExpr:
		t.unfused(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.MUL && t.info.Types[e].Value == nil {
			t.fail(e, "a product that Go may fuse into a sum: write float64(x*y)")
		}
	}
}

func (t *translator) composite(e *ast.CompositeLit) string {
	typ := t.typeOf(e)
	var parts []string
	for i, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			if key := t.info.Types[kv.Key].Value; key == nil || key.ExactString() != fmt.Sprint(i) {
				t.fail(x, "keys out of order")
			}
			x = kv.Value
		}
		parts = append(parts, t.expr(x))
	}
	return t.typeName(e, typ) + "{" + strings.Join(parts, ", ") + "}"
}

func (t *translator) call(e *ast.CallExpr) string {
	if t.info.Types[e.Fun].IsType() {
		return t.conversion(e)
	}
	var args []string
	for _, a := range e.Args {
		args = append(args, t.expr(a))
	}
	switch f := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		switch o := t.info.Uses[f].(type) {
		case *types.Builtin:
			if f.Name == "len" {
				return fmt.Sprintf("(int)(sizeof(%s) / sizeof(%s[0]))", args[0], args[0])
			}
			if (f.Name == "max") && len(args) == 2 && isFloat(t.typeOf(e)) {
				return fmt.Sprintf("maximum(%s, %s)", args[0], args[1])
			}
			if (f.Name == "min" || f.Name == "max") && len(args) == 2 && !isFloat(t.typeOf(e)) {
				return fmt.Sprintf("%s(%s, %s)", f.Name, args[0], args[1])
			}
		case *types.Func:
			return t.need(o) + "(" + strings.Join(args, ", ") + ")"
		case *types.Var:
			return cName(f.Name) + "(" + strings.Join(args, ", ") + ")"
		}
	case *ast.SelectorExpr:
		if s := t.info.Selections[f]; s != nil && s.Kind() == types.MethodVal {
			if m := s.Obj().(*types.Func); t.templated(m) {
				if f.Sel.Name == "series" { // its coefficients are a class of C++
					args[2] = strings.TrimPrefix(args[2], "&")
					return fmt.Sprintf("%s<W, %s<W>>(%s, %s)", t.need(m), strings.Trim(args[2], "()"), args[0], args[1])
				}
				return t.need(m) + "<W>(" + strings.Join(args, ", ") + ")"
			}
			recv := t.expr(f.X)
			want := s.Obj().(*types.Func).Signature().Recv().Type()
			switch {
			case isPointer(want) && !isPointer(t.typeOf(f.X)):
				recv = "&" + recv
			case !isPointer(want) && isPointer(t.typeOf(f.X)):
				recv = "*" + recv
			}
			return t.need(s.Obj()) + "(" + strings.Join(append([]string{recv}, args...), ", ") + ")"
		}
		if id, ok := f.X.(*ast.Ident); ok {
			if format, ok := functionsOf[id.Name+"."+f.Sel.Name]; ok {
				values := make([]any, len(args))
				for i, a := range args {
					values[i] = a
				}
				return fmt.Sprintf(format, values...)
			}
		}
	}
	t.fail(e, "call")
	return ""
}

func (t *translator) conversion(e *ast.CallExpr) string {
	to, from := t.typeOf(e), t.typeOf(e.Args[0])
	x := t.expr(e.Args[0])
	if isFloat(to) && isFloat(from) || isArray(to) {
		return x
	}
	return fmt.Sprintf("(%s)(%s)", t.typeName(e, to), x)
}
