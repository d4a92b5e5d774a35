package main

import (
	"fmt"
	"go/ast"
	gc "go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"strings"
)

// The portable Go of the package is the definition of its arithmetic. This file runs its
// straight-line functions symbolically: floating-point values are nodes of a graph,
// integers and constants are themselves, a condition on floating-point values makes both
// branches run and chooses lane by lane.

// A value is a *node, a constant (gc.Value), a *tuple of values (an array or several
// results) or nil, what no variable of the package holds.
type value any

type tuple struct {
	typ   string // name of the type, "" for results and unnamed arrays
	elems []value
}

type source struct {
	fset   *token.FileSet
	funcs  map[string]*ast.FuncDecl // "name" or "Type.name"
	values map[string]ast.Expr      // package-level constants and variables
	types  map[string]ast.Expr
	g      *graph
}

func readSource(dir string) *source {
	s := &source{fset: token.NewFileSet(), funcs: map[string]*ast.FuncDecl{}, values: map[string]ast.Expr{}, types: map[string]ast.Expr{}}
	keep := func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go") && !strings.HasSuffix(f.Name(), "_amd64.go") && !strings.HasSuffix(f.Name(), "_arm64.go")
	}
	//nolint:staticcheck // ParseDir is enough for one package without build tags that matter
	pkgs, err := parser.ParseDir(s.fset, dir, keep, 0)
	check(err)
	for _, p := range pkgs {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				s.declare(d)
			}
		}
	}
	return s
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *source) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			t := d.Recv.List[0].Type
			if p, ok := t.(*ast.StarExpr); ok {
				t = p.X
			}
			id, ok := t.(*ast.Ident)
			if !ok {
				return
			}
			name = id.Name + "." + name
		}
		s.funcs[name] = d
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.types[spec.Name.Name] = spec.Type
			case *ast.ValueSpec:
				for i, n := range spec.Names {
					if i < len(spec.Values) {
						s.values[n.Name] = spec.Values[i]
					}
				}
			}
		}
	}
}

// A frame is a call under way: its variables, by scope.
type frame struct {
	s      *source
	scopes []map[string]value
	named  []string // named results
}

func (f *frame) fail(n ast.Node, format string, args ...any) {
	panic(fmt.Sprintf("%v: %s", f.s.fset.Position(n.Pos()), fmt.Sprintf(format, args...)))
}

func copyValue(v value) value {
	if t, ok := v.(*tuple); ok {
		c := &tuple{t.typ, make([]value, len(t.elems))}
		for i, e := range t.elems {
			c.elems[i] = copyValue(e)
		}
		return c
	}
	return v
}

func (f *frame) clone() *frame {
	c := &frame{s: f.s, named: f.named}
	for _, sc := range f.scopes {
		m := map[string]value{}
		for k, v := range sc {
			m[k] = copyValue(v)
		}
		c.scopes = append(c.scopes, m)
	}
	return c
}

func (f *frame) push() { f.scopes = append(f.scopes, map[string]value{}) }
func (f *frame) pop()  { f.scopes = f.scopes[:len(f.scopes)-1] }

func (f *frame) declare(name string, v value) {
	if name != "_" {
		f.scopes[len(f.scopes)-1][name] = copyValue(v)
	}
}

func (f *frame) lookup(name string) (value, bool) {
	for i := len(f.scopes) - 1; i >= 0; i-- {
		if v, ok := f.scopes[i][name]; ok {
			return v, true
		}
	}
	return nil, false
}

// call runs a function of the source.
func (s *source) call(name string, args ...value) value {
	d := s.funcs[name]
	if d == nil {
		panic("no function " + name)
	}
	f := &frame{s: s}
	f.push()
	var params []*ast.Ident
	var types []ast.Expr
	fields := d.Type.Params.List
	if d.Recv != nil {
		fields = append(append([]*ast.Field{}, d.Recv.List...), fields...)
	}
	for _, p := range fields {
		for _, n := range p.Names {
			params = append(params, n)
			types = append(types, p.Type)
		}
	}
	if len(params) != len(args) {
		f.fail(d, "%d arguments for %s", len(args), name)
	}
	for i, p := range params {
		f.declare(p.Name, f.convert(types[i], args[i]))
	}
	if d.Type.Results != nil {
		for _, r := range d.Type.Results.List {
			for _, n := range r.Names {
				f.named = append(f.named, n.Name)
				f.declare(n.Name, f.zero(r.Type))
			}
		}
	}
	v, ok := f.block(d.Body.List)
	if !ok {
		f.fail(d, "%s does not return", name)
	}
	// A single result takes the name of its type.
	if r := d.Type.Results.List; len(r) == 1 && len(r[0].Names) <= 1 {
		v = f.convert(r[0].Type, v)
	} else if t, ok := v.(*tuple); ok {
		i := 0
		for _, field := range r {
			for range max(1, len(field.Names)) {
				t.elems[i] = f.convert(field.Type, t.elems[i])
				i++
			}
		}
	}
	return v
}

// convert gives v the type that an expression names.
func (f *frame) convert(typ ast.Expr, v value) value {
	switch t := typ.(type) {
	case *ast.Ident:
		if t.Name == "float64" {
			return f.float(typ, v)
		}
		if _, ok := f.s.types[t.Name]; ok {
			if a, ok := v.(*tuple); ok {
				return &tuple{t.Name, a.elems}
			}
		}
	case *ast.ArrayType:
		if a, ok := v.(*tuple); ok {
			return &tuple{"", a.elems}
		}
	}
	return v
}

func (f *frame) zero(typ ast.Expr) value {
	switch t := typ.(type) {
	case *ast.Ident:
		switch t.Name {
		case "float64":
			return f.s.g.number(0)
		case "int":
			return gc.MakeInt64(0)
		case "bool":
			return gc.MakeBool(false)
		}
		if under, ok := f.s.types[t.Name]; ok {
			z := f.zero(under)
			if a, ok := z.(*tuple); ok {
				a.typ = t.Name
			}
			return z
		}
	case *ast.ArrayType:
		n := f.integer(t.Len)
		a := &tuple{"", make([]value, n)}
		for i := range a.elems {
			a.elems[i] = f.zero(t.Elt)
		}
		return a
	}
	f.fail(typ, "no zero of this type")
	return nil
}

// float returns v as a node.
func (f *frame) float(at ast.Node, v value) *node {
	switch v := v.(type) {
	case *node:
		return v
	case gc.Value:
		x, _ := gc.Float64Val(gc.ToFloat(v))
		return f.s.g.number(x)
	}
	f.fail(at, "%T is not a number", v)
	return nil
}

// boolean returns v as a mask.
func (f *frame) boolean(at ast.Node, v value) *node {
	switch v := v.(type) {
	case *node:
		if v.mask() {
			return v
		}
	case gc.Value:
		return f.s.g.all(gc.BoolVal(v))
	}
	f.fail(at, "%T is not a condition", v)
	return nil
}

func (f *frame) integer(e ast.Expr) int {
	if v, ok := f.eval(e).(gc.Value); ok {
		if n, exact := gc.Int64Val(gc.ToInt(v)); exact {
			return int(n)
		}
	}
	f.fail(e, "not a constant integer")
	return 0
}

// block runs statements. It returns the results and true if all lanes have returned.
func (f *frame) block(list []ast.Stmt) (value, bool) {
	for i, st := range list {
		switch st := st.(type) {
		case *ast.ReturnStmt:
			return f.results(st), true
		case *ast.BlockStmt:
			f.push()
			v, done := f.block(st.List)
			if done {
				return v, true
			}
			f.pop()
		case *ast.IfStmt:
			if v, done := f.branch(st, list[i+1:]); done {
				return v, true
			} else if v == stop {
				return nil, false
			}
		case *ast.SwitchStmt:
			if v, done := f.branch(f.chain(st), list[i+1:]); done {
				return v, true
			} else if v == stop {
				return nil, false
			}
		case *ast.ForStmt:
			f.loop(st)
		case *ast.RangeStmt:
			f.rangeLoop(st)
		default:
			f.simple(st)
		}
	}
	return nil, false
}

var stop = &tuple{}

func returns(list []ast.Stmt) bool {
	found := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if _, ok := n.(*ast.ReturnStmt); ok {
				found = true
			}
			return true
		})
	}
	return found
}

// chain turns a switch without a tag into if statements.
func (f *frame) chain(st *ast.SwitchStmt) *ast.IfStmt {
	if st.Tag != nil {
		f.fail(st, "switch with a tag")
	}
	var first, last *ast.IfStmt
	for _, c := range st.Body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			last.Else = &ast.BlockStmt{List: c.Body}
			continue
		}
		cond := c.List[0]
		for _, e := range c.List[1:] {
			cond = &ast.BinaryExpr{X: cond, Op: token.LOR, Y: e, OpPos: e.Pos()}
		}
		s := &ast.IfStmt{If: c.Pos(), Cond: cond, Body: &ast.BlockStmt{List: c.Body}}
		if last == nil {
			first, s.Init = s, st.Init
		} else {
			last.Else = s
		}
		last = s
	}
	return first
}

// branch runs an if statement, and what follows it where only some lanes return.
func (f *frame) branch(st *ast.IfStmt, rest []ast.Stmt) (value, bool) {
	f.push()
	if st.Init != nil {
		f.simple(st.Init)
	}
	cond := f.eval(st.Cond)
	var no []ast.Stmt
	if st.Else != nil {
		no = []ast.Stmt{st.Else}
	}
	if c, ok := cond.(gc.Value); ok {
		list := no
		if gc.BoolVal(c) {
			list = st.Body.List
		}
		f.push()
		v, done := f.block(list)
		f.pop()
		f.pop()
		return v, done
	}
	m := f.boolean(st.Cond, cond)
	a, b := f.clone(), f
	a.push()
	if !returns(st.Body.List) && !returns(no) {
		a.block(st.Body.List)
		b.push()
		b.block(no)
		b.pop()
		for i, sc := range b.scopes {
			for k, v := range sc {
				sc[k] = f.merge(st, m, a.scopes[i][k], v)
			}
		}
		b.pop()
		return nil, false
	}
	va, done := a.block(append(append([]ast.Stmt{}, &ast.BlockStmt{List: st.Body.List}), rest...))
	if !done {
		f.fail(st, "branch does not return")
	}
	vb, done := b.block(append(append([]ast.Stmt{}, no...), rest...))
	if !done {
		f.fail(st, "branch does not return")
	}
	return f.merge(st, m, va, vb), true
}

// merge returns yes where m, else no.
func (f *frame) merge(at ast.Node, m *node, yes, no value) value {
	g := f.s.g
	if t, ok := no.(*tuple); ok {
		u, ok := yes.(*tuple)
		if !ok || len(u.elems) != len(t.elems) {
			f.fail(at, "branches of unlike types")
		}
		r := &tuple{t.typ, make([]value, len(t.elems))}
		for i := range t.elems {
			r.elems[i] = f.merge(at, m, u.elems[i], t.elems[i])
		}
		return r
	}
	if a, ok := yes.(gc.Value); ok {
		if b, ok := no.(gc.Value); ok && a.Kind() == b.Kind() && a.ExactString() == b.ExactString() {
			return a
		}
		if a.Kind() == gc.Bool {
			yes = f.boolean(at, a)
		}
	}
	if b, ok := no.(gc.Value); ok && b.Kind() == gc.Bool {
		no = f.boolean(at, b)
	}
	x, y := f.float(at, yes), f.float(at, no)
	if x.mask() {
		return g.op(maskOr, g.op(maskAnd, m, x), g.op(maskAnd, g.not(m), y))
	}
	return g.choose(m, x, y)
}

func (f *frame) results(st *ast.ReturnStmt) value {
	var vs []value
	if len(st.Results) == 0 {
		for _, n := range f.named {
			v, _ := f.lookup(n)
			vs = append(vs, copyValue(v))
		}
	}
	for _, e := range st.Results {
		vs = append(vs, copyValue(f.eval(e)))
	}
	if len(vs) == 1 {
		return vs[0]
	}
	return &tuple{"", vs}
}

func (f *frame) loop(st *ast.ForStmt) {
	f.push()
	if st.Init != nil {
		f.simple(st.Init)
	}
	for {
		if st.Cond != nil {
			c, ok := f.eval(st.Cond).(gc.Value)
			if !ok {
				f.fail(st, "loop without constant bounds")
			}
			if !gc.BoolVal(c) {
				break
			}
		}
		f.body(st.Body)
		if st.Post != nil {
			f.simple(st.Post)
		}
	}
	f.pop()
}

func (f *frame) body(b *ast.BlockStmt) {
	f.push()
	if _, done := f.block(b.List); done {
		f.fail(b, "return in a loop")
	}
	f.pop()
}

func (f *frame) rangeLoop(st *ast.RangeStmt) {
	v := f.eval(st.X)
	n := 0
	t, isTuple := v.(*tuple)
	if isTuple {
		n = len(t.elems)
	} else {
		n = f.integer(st.X)
	}
	for i := range n {
		f.push()
		if st.Key != nil {
			f.declare(st.Key.(*ast.Ident).Name, gc.MakeInt64(int64(i)))
		}
		if st.Value != nil {
			f.declare(st.Value.(*ast.Ident).Name, t.elems[i])
		}
		f.body(st.Body)
		f.pop()
	}
}

func (f *frame) simple(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		f.assign(st)
	case *ast.IncDecStmt:
		op := map[token.Token]token.Token{token.INC: token.ADD, token.DEC: token.SUB}[st.Tok]
		f.store(st.X, f.binary(st, op, f.eval(st.X), gc.MakeInt64(1)))
	case *ast.DeclStmt:
		for _, spec := range st.Decl.(*ast.GenDecl).Specs {
			vs, ok := spec.(*ast.ValueSpec)
			if !ok {
				f.fail(st, "declaration of a type")
			}
			for i, n := range vs.Names {
				if i < len(vs.Values) {
					v := f.eval(vs.Values[i])
					if vs.Type != nil {
						v = f.convert(vs.Type, v)
					}
					f.declare(n.Name, v)
				} else {
					f.declare(n.Name, f.zero(vs.Type))
				}
			}
		}
	default:
		f.fail(st, "statement %T", st)
	}
}

func (f *frame) assign(st *ast.AssignStmt) {
	var vs []value
	if len(st.Rhs) == 1 && len(st.Lhs) > 1 {
		t, ok := f.eval(st.Rhs[0]).(*tuple)
		if !ok || len(t.elems) != len(st.Lhs) {
			f.fail(st, "assignment of another number of values")
		}
		vs = t.elems
	} else {
		for _, e := range st.Rhs {
			vs = append(vs, copyValue(f.eval(e)))
		}
	}
	for i, l := range st.Lhs {
		switch st.Tok {
		case token.DEFINE:
			name := l.(*ast.Ident).Name
			if _, ok := f.scopes[len(f.scopes)-1][name]; ok {
				f.store(l, vs[i])
				continue
			}
			v := vs[i]
			if c, ok := v.(gc.Value); ok && c.Kind() == gc.Float {
				v = f.float(st, c)
			}
			f.declare(name, v)
		case token.ASSIGN:
			f.store(l, vs[i])
		default:
			op := map[token.Token]token.Token{token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO}[st.Tok]
			f.store(l, f.binary(st, op, f.eval(l), vs[i]))
		}
	}
}

func (f *frame) store(l ast.Expr, v value) {
	switch l := l.(type) {
	case *ast.Ident:
		if l.Name == "_" {
			return
		}
		for i := len(f.scopes) - 1; i >= 0; i-- {
			if old, ok := f.scopes[i][l.Name]; ok {
				if _, ok := old.(*node); ok && !old.(*node).mask() {
					v = f.float(l, v)
				}
				if t, ok := old.(*tuple); ok {
					v = &tuple{t.typ, copyValue(v).(*tuple).elems}
				}
				f.scopes[i][l.Name] = copyValue(v)
				return
			}
		}
	case *ast.IndexExpr:
		if t, ok := f.eval(l.X).(*tuple); ok {
			i := f.integer(l.Index)
			if _, ok := t.elems[i].(*node); ok {
				v = f.float(l, v)
			}
			t.elems[i] = copyValue(v)
			return
		}
	case *ast.ParenExpr:
		f.store(l.X, v)
		return
	}
	f.fail(l, "cannot assign to this")
}

func (f *frame) eval(e ast.Expr) value {
	g := f.s.g
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.eval(e.X)
	case *ast.BasicLit:
		return gc.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		switch e.Name {
		case "true", "false":
			return gc.MakeBool(e.Name == "true")
		}
		if v, ok := f.lookup(e.Name); ok {
			return v
		}
		if x, ok := f.s.values[e.Name]; ok {
			return (&frame{s: f.s, scopes: []map[string]value{{}}}).eval(x)
		}
		f.fail(e, "%s is not known", e.Name)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "math" {
			switch e.Sel.Name {
			case "MaxFloat64":
				return gc.MakeFloat64(math.MaxFloat64)
			case "SmallestNonzeroFloat64":
				return gc.MakeFloat64(math.SmallestNonzeroFloat64)
			}
		}
	case *ast.UnaryExpr:
		v := f.eval(e.X)
		if c, ok := v.(gc.Value); ok {
			return gc.UnaryOp(e.Op, c, 0)
		}
		switch e.Op {
		case token.SUB:
			return g.negate(f.float(e, v))
		case token.ADD:
			return v
		case token.NOT:
			return g.not(f.boolean(e, v))
		}
	case *ast.BinaryExpr:
		x := f.eval(e.X)
		if c, ok := x.(gc.Value); ok && c.Kind() == gc.Bool && gc.BoolVal(c) == (e.Op == token.LOR) {
			return c
		}
		return f.binary(e, e.Op, x, f.eval(e.Y))
	case *ast.IndexExpr:
		if t, ok := f.eval(e.X).(*tuple); ok {
			return t.elems[f.integer(e.Index)]
		}
	case *ast.CompositeLit:
		z := f.zero(e.Type).(*tuple)
		i := 0
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				i, x = f.integer(kv.Key), kv.Value
			}
			v := f.eval(x)
			if _, ok := z.elems[i].(*node); ok {
				v = f.float(x, v)
			}
			z.elems[i] = copyValue(v)
			i++
		}
		return z
	case *ast.CallExpr:
		return f.callExpr(e)
	}
	f.fail(e, "expression %T", e)
	return nil
}

func (f *frame) binary(at ast.Node, op token.Token, x, y value) value {
	g := f.s.g
	if a, ok := x.(gc.Value); ok {
		if b, ok := y.(gc.Value); ok {
			switch op {
			case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				return gc.MakeBool(gc.Compare(a, op, b))
			case token.SHL, token.SHR:
				n, _ := gc.Uint64Val(b)
				return gc.Shift(a, op, uint(n))
			case token.QUO:
				if a.Kind() == gc.Int && b.Kind() == gc.Int {
					op = token.QUO_ASSIGN // division of integers
				}
			}
			return gc.BinaryOp(a, op, b)
		}
	}
	switch op {
	case token.LAND, token.LOR:
		if _, ok := x.(gc.Value); ok {
			return y // eval has seen to the value that decides
		}
		return g.op(map[token.Token]kind{token.LAND: maskAnd, token.LOR: maskOr}[op], f.boolean(at, x), f.boolean(at, y))
	}
	a, b := f.float(at, x), f.float(at, y)
	switch op {
	case token.ADD:
		return g.add(a, b)
	case token.SUB:
		return g.sub(a, b)
	case token.MUL:
		return g.op(mul, a, b)
	case token.QUO:
		return g.op(div, a, b)
	}
	// Predicates of VCMPPD, quiet: ordered, except not equal.
	if p, ok := map[token.Token]uint64{token.EQL: 0x00, token.LSS: 0x11, token.LEQ: 0x12, token.NEQ: 0x04, token.GEQ: 0x1d, token.GTR: 0x1e}[op]; ok {
		return g.compare(p, a, b)
	}
	f.fail(at, "operator %v", op)
	return nil
}

func (f *frame) callExpr(e *ast.CallExpr) value {
	var args []value
	for _, a := range e.Args {
		v := f.eval(a)
		if t, ok := v.(*tuple); ok && t.typ == "" && len(e.Args) == 1 && isCall(a) {
			args = append(args, t.elems...) // f(g()) of several results
			continue
		}
		args = append(args, copyValue(v))
	}
	switch fun := e.Fun.(type) {
	case *ast.Ident:
		switch fun.Name {
		case "float64":
			return f.float(e, args[0])
		case "int":
			return args[0]
		case "len":
			return gc.MakeInt64(int64(len(args[0].(*tuple).elems)))
		case "max", "min":
			return f.extreme(e, fun.Name, args)
		}
		if _, ok := f.s.types[fun.Name]; ok {
			return f.convert(fun, args[0])
		}
		return f.s.call(fun.Name, args...)
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok && x.Name == "math" {
			return f.mathCall(e, fun.Sel.Name, args)
		}
		recv := f.eval(fun.X)
		if t, ok := recv.(*tuple); ok {
			return f.s.call(t.typ+"."+fun.Sel.Name, append([]value{copyValue(recv)}, args...)...)
		}
	}
	f.fail(e, "call of %T", e.Fun)
	return nil
}

func isCall(e ast.Expr) bool {
	_, ok := e.(*ast.CallExpr)
	return ok
}

func (f *frame) extreme(e *ast.CallExpr, name string, args []value) value {
	best, ok := args[0].(gc.Value)
	for _, a := range args[1:] {
		c, is := a.(gc.Value)
		if !ok || !is {
			f.fail(e, "%s of floating-point numbers", name)
		}
		if gc.Compare(c, map[string]token.Token{"max": token.GTR, "min": token.LSS}[name], best) {
			best = c
		}
	}
	return best
}

func (f *frame) mathCall(e *ast.CallExpr, name string, args []value) value {
	g := f.s.g
	if name == "Inf" {
		s, _ := gc.Int64Val(args[0].(gc.Value))
		return g.number(math.Inf(int(s)))
	}
	if name == "NaN" {
		return g.number(math.NaN())
	}
	var x []*node
	for i, a := range args {
		if c, ok := a.(gc.Value); ok && name == "IsInf" && i == 1 {
			s, _ := gc.Int64Val(c)
			switch {
			case s > 0:
				return g.compare(0x00, x[0], g.number(math.Inf(1)))
			case s < 0:
				return g.compare(0x00, x[0], g.number(math.Inf(-1)))
			}
			return g.compare(0x00, g.abs(x[0]), g.number(math.Inf(1)))
		}
		x = append(x, f.float(e, a))
	}
	switch name {
	case "FMA":
		return g.fma(x[0], x[1], x[2])
	case "Sqrt":
		return g.op(sqrt, x[0])
	case "Abs":
		return g.abs(x[0])
	case "Copysign":
		return g.op(or, g.abs(x[0]), g.signOf(x[1]))
	case "IsNaN":
		return g.compare(0x04, x[0], x[0])
	case "Signbit":
		// The sign bit alone, as a number, is -0 or +0: set under 1, it is negative.
		return g.compare(0x11, g.op(or, g.signOf(x[0]), g.number(1)), g.number(0))
	case "RoundToEven":
		return g.op(nearest, x[0])
	case "Floor":
		return g.op(floor, x[0])
	case "Trunc":
		return g.op(truncate, x[0])
	}
	f.fail(e, "math.%s", name)
	return nil
}
