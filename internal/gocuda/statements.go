package gocuda

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (t *translator) block(list []ast.Stmt) {
	for _, s := range list {
		t.statement(s)
	}
}

// nested is a block one level deeper.
func (t *translator) nested(list []ast.Stmt) {
	t.indent++
	t.block(list)
	t.indent--
}

func (t *translator) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		t.assign(s)
	case *ast.DeclStmt:
		t.variables(s)
	case *ast.ExprStmt:
		t.action(s)
	case *ast.IncDecStmt:
		t.line("%s%v;", t.expr(s.X), s.Tok)
	case *ast.BlockStmt:
		t.line("{")
		t.nested(s.List)
		t.line("}")
	case *ast.IfStmt:
		t.conditional(s)
	case *ast.SwitchStmt:
		t.choice(s)
	case *ast.ForStmt:
		t.loop(s)
	case *ast.RangeStmt:
		t.each(s)
	case *ast.ReturnStmt:
		t.result(s)
	case *ast.BranchStmt:
		if s.Label != nil || s.Tok != token.CONTINUE && (s.Tok != token.BREAK || t.inner) {
			t.fail(s, "%v", s.Tok)
		}
		t.line("%v;", s.Tok)
	case *ast.EmptyStmt:
	default:
		t.fail(s, "statement %T", s)
	}
}

// action is a call: copy and clear of slices x[:n] are loops.
func (t *translator) action(s *ast.ExprStmt) {
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		t.fail(s, "statement")
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if _, ok := t.info.Uses[f].(*types.Builtin); ok {
			name = f.Name
		}
	case *ast.SelectorExpr:
		if x := t.info.Selections[f]; x != nil && t.Template != "" && t.isTemplate(x.Recv()) && f.Sel.Name == "give" {
			return
		}
	}
	switch name {
	case "copy":
		to, n := t.slice(call.Args[0])
		from, _ := t.slice(call.Args[1])
		i := t.fresh()
		t.line("for (int %s = 0; %s < %s; %s++)", i, i, n, i)
		t.line("\t%s[%s] = %s[%s];", to, i, from, i)
	case "clear":
		to, n := t.slice(call.Args[0])
		i := t.fresh()
		t.line("for (int %s = 0; %s < %s; %s++)", i, i, n, i)
		t.line("\t%s[%s] = 0;", to, i)
	default:
		t.line("%s;", t.expr(s.X))
	}
}

// slice returns the array of a slice x[:n], and n.
func (t *translator) slice(e ast.Expr) (x, n string) {
	s, ok := e.(*ast.SliceExpr)
	if !ok || s.Low != nil || s.High == nil || s.Slice3 {
		t.fail(e, "a slice other than x[:n]")
	}
	return t.array(s.X), t.expr(s.High)
}

// array translates an array e, or a pointer e to an array.
func (t *translator) array(e ast.Expr) string {
	if isPointer(t.typeOf(e)) {
		return "(*" + t.expr(e) + ")"
	}
	return t.expr(e)
}

// variables declares var x T, zeros.
func (t *translator) variables(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok == token.TYPE {
		t.fail(s, "declaration")
	}
	if d.Tok == token.CONST {
		return // their values stand where they are used
	}
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		for i, name := range v.Names {
			value := "{}"
			if len(v.Values) > 0 {
				value = t.expr(v.Values[i])
			}
			t.line("%s = %s;", t.declare(name, t.info.Defs[name].Type(), name.Name), value)
		}
	}
}

func (t *translator) assign(s *ast.AssignStmt) {
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		op := s.Tok + (token.ADD - token.ADD_ASSIGN)
		t.line("%s = %s;", t.expr(s.Lhs[0]), t.binary(s, op, t.typeOf(s.Lhs[0]), s.Lhs[0], s.Rhs[0]))
		return
	}
	if len(s.Lhs) == 1 {
		if !t.special(s.Lhs[0], s.Rhs[0]) {
			t.set(s.Lhs[0], t.expr(s.Rhs[0]))
		}
		return
	}
	var values []string
	if len(s.Rhs) == 1 { // results of a call
		for range s.Lhs {
			values = append(values, t.fresh())
		}
		t.line("auto [%s] = %s;", strings.Join(values, ", "), t.expr(s.Rhs[0]))
	} else {
		for _, r := range s.Rhs {
			values = append(values, t.fresh())
			t.line("auto %s = %s;", values[len(values)-1], t.expr(r))
		}
	}
	for i, l := range s.Lhs {
		t.set(l, values[i])
	}
}

// special translates assignments to the template's state: the number of lanes, and scratch.
func (t *translator) special(l, r ast.Expr) bool {
	if x, ok := l.(*ast.SelectorExpr); ok && t.Template != "" && t.isTemplate(t.typeOf(x.X)) && x.Sel.Name == "n" {
		return true
	}
	if x, ok := r.(*ast.SelectorExpr); ok && t.Template != "" && t.isTemplate(t.typeOf(x.X)) && x.Sel.Name == "n" {
		return true // kept for later
	}
	call, ok := r.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "take" || t.Template == "" || !t.isTemplate(t.typeOf(f.X)) {
		return false
	}
	t.line("block %s[%s];", cName(l.(*ast.Ident).Name), t.expr(call.Args[0]))
	return true
}

// set gives a variable, new or not, its value.
func (t *translator) set(l ast.Expr, value string) {
	if id, ok := l.(*ast.Ident); ok {
		if id.Name == "_" {
			return
		}
		if o := t.info.Defs[id]; o != nil {
			if _, ok := o.Type().(*types.Signature); ok || isPointer(o.Type()) {
				t.line("auto %s = %s;", cName(id.Name), value)
				return
			}
			t.line("%s = %s;", t.declare(id, o.Type(), id.Name), value)
			return
		}
	}
	t.line("%s = %s;", t.expr(l), value)
}

func (t *translator) conditional(s *ast.IfStmt) {
	if s.Init != nil {
		t.line("{")
		t.indent++
		t.statement(s.Init)
		defer func() {
			t.indent--
			t.line("}")
		}()
	}
	t.line("if (%s) {", t.expr(s.Cond))
	t.nested(s.Body.List)
	if s.Else != nil {
		t.line("} else {")
		t.nested([]ast.Stmt{s.Else})
	}
	t.line("}")
}

// choice translates a switch, in which the first case that holds is taken.
func (t *translator) choice(s *ast.SwitchStmt) {
	outer := t.inner
	defer func() { t.inner = outer }()
	t.line("{")
	t.indent++
	if s.Init != nil {
		t.statement(s.Init)
	}
	t.inner = true
	tag := ""
	if s.Tag != nil {
		tag = t.fresh()
		t.line("auto %s = %s;", tag, t.expr(s.Tag))
	}
	word := ""
	var last *ast.CaseClause
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			last = c
			continue
		}
		var tests []string
		for _, e := range c.List {
			if tag == "" {
				tests = append(tests, t.expr(e))
			} else {
				tests = append(tests, fmt.Sprintf("%s == %s", tag, t.expr(e)))
			}
		}
		t.line("%sif (%s) {", word, strings.Join(tests, " || "))
		t.nested(c.Body)
		word = "} else "
	}
	switch {
	case word == "":
		t.fail(s, "switch without cases")
	case last != nil:
		t.line("} else {")
		t.nested(last.Body)
	}
	t.line("}")
	t.indent--
	t.line("}")
}

func (t *translator) loop(s *ast.ForStmt) {
	t.line("{")
	t.indent++
	if s.Init != nil {
		t.statement(s.Init)
	}
	cond := "true"
	if s.Cond != nil {
		cond = t.expr(s.Cond)
	}
	post := ""
	switch p := s.Post.(type) {
	case nil:
	case *ast.IncDecStmt:
		post = fmt.Sprintf("%s%v", t.expr(p.X), p.Tok)
	case *ast.AssignStmt:
		if p.Tok == token.ASSIGN || isFloat(t.typeOf(p.Lhs[0])) {
			t.fail(p, "step of a loop")
		}
		post = fmt.Sprintf("%s %v %s", t.expr(p.Lhs[0]), p.Tok, t.expr(p.Rhs[0]))
	default:
		t.fail(p, "step of a loop")
	}
	t.line("for (; %s; %s) {", cond, post)
	t.loopBody(s.Body.List)
	t.line("}")
	t.indent--
	t.line("}")
}

// loopBody is the body of a loop, which break ends.
func (t *translator) loopBody(list []ast.Stmt) {
	outer := t.inner
	t.inner = false
	t.nested(list)
	t.inner = outer
}

// each translates for i, x := range n, n a number, an array or a slice a[:n].
func (t *translator) each(s *ast.RangeStmt) {
	if s.Tok == token.ASSIGN {
		t.fail(s, "range without a new variable")
	}
	var list, limit string
	if _, ok := s.X.(*ast.SliceExpr); ok {
		list, limit = t.slice(s.X)
	} else if b, ok := t.typeOf(s.X).Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
		limit = t.expr(s.X)
	} else {
		typ := t.typeOf(s.X).Underlying()
		if p, ok := typ.(*types.Pointer); ok {
			typ = p.Elem().Underlying()
		}
		a, ok := typ.(*types.Array)
		if !ok {
			t.fail(s, "range over %v", typ)
		}
		list, limit = t.array(s.X), fmt.Sprint(a.Len())
	}
	i := t.fresh()
	if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" {
		i = cName(id.Name)
	}
	value, ok := s.Value.(*ast.Ident)
	ok = ok && value.Name != "_"
	t.line("{")
	t.indent++
	all := t.fresh()
	if ok {
		t.line("auto &%s = %s;", all, list)
	}
	t.line("for (int %s = 0; %s < %s; %s++) {", i, i, limit, i)
	if ok {
		t.line("\tauto %s = %s[%s];", cName(value.Name), all, i)
	}
	t.loopBody(s.Body.List)
	t.line("}")
	t.indent--
	t.line("}")
}

func (t *translator) result(s *ast.ReturnStmt) {
	var values []string
	for _, e := range s.Results {
		values = append(values, t.expr(e))
	}
	if len(values) == 0 {
		for _, v := range t.results {
			values = append(values, cName(v.Name()))
		}
	}
	switch {
	case len(values) == 0:
		t.line("return;")
	case len(values) == len(t.results) && len(values) > 1:
		t.line("return {%s};", strings.Join(values, ", "))
	default: // also all results of a call
		t.line("return %s;", values[0])
	}
}
