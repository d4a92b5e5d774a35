package expansion

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
)

// TestSmallPrecision runs the arithmetic's own source with words of few bits,
// where chance finds the coincidences of roundings and ties that the bounds have
// to withstand. u = 2^-p; errors of higher order count there, up to a factor
// 1/(1 - 4u).
func TestSmallPrecision(t *testing.T) {
	names := map[string]string{"add": "add", "mul": "mul", "sqr": "sqr", "div": "div", "recip": "recip", "sqrt": "sqrt", "addF": "addFloat", "mulF": "mulFloat"}
	source := parse(t, "eft.go", "dd.go", "td.go", "qd.go")
	for k, f := range formats {
		code := map[string]*program{}
		for op, name := range names {
			code[op] = source.compile(t, name+f.name)
		}
		for _, p := range []precision{5, 6, 8, 11} {
			t.Run(fmt.Sprintf("%s/%d", f.name, p), func(t *testing.T) {
				t.Parallel()
				seed := rand.Uint64()
				r := rand.New(rand.NewPCG(seed, 0))
				largest := map[string]float64{}
				memory := new(scratch)
				exact := func(x []float64) *big.Float {
					z := new(big.Float).SetPrec(400)
					for _, w := range x {
						z.Add(z, new(big.Float).SetFloat64(w))
					}
					return z
				}
				real := func() *big.Float { return new(big.Float).SetPrec(400) }
				one := big.NewFloat(1)
				for range *sweep {
					a := p.operand(r, f.w, 0, 0)
					b := p.operand(r, f.w, -f.w*int(p)-2, 1)
					switch r.IntN(4) {
					case 0:
						b = p.operand(r, f.w, -1, 1)
					case 1, 2:
						b = p.near(r, a)
					}
					A, B := exact(a), exact(b)
					check := func(op string, want *big.Float, args ...float64) {
						t.Helper()
						z := code[op].run(p, args)
						e := memory.relative(p, z, want, want)
						normal := true
						for i := 1; i < f.w; i++ {
							normal = normal && p.add(z[i-1], z[i]) == z[i-1] && (z[i-1] != 0 || z[i] == 0)
						}
						if e > bounds[op][k]/(1-math.Ldexp(4, -int(p))) || !normal {
							t.Fatalf("seed %d: %s(%x) = %x, want %.20g: error %g u^%d, normalised %v", seed, op, args, z, want, e, f.w, normal)
						}
						largest[op] = max(largest[op], e)
					}
					both := append(append([]float64{}, a...), b...)
					check("add", real().Add(A, B), both...)
					check("mul", real().Mul(A, B), both...)
					check("sqr", real().Mul(A, A), a...)
					check("recip", real().Quo(one, A), a...)
					if B.Sign() != 0 {
						check("div", real().Quo(A, B), both...)
					}
					if A.Sign() > 0 {
						check("sqrt", real().Sqrt(A), a...)
					}
					y := append(append([]float64{}, a...), b[0])
					check("addF", real().Add(A, exact(b[:1])), y...)
					check("mulF", real().Mul(A, exact(b[:1])), y...)
				}
				for op, e := range largest {
					t.Logf("%s: largest error %.3f u^%d of %g", op, e, f.w, bounds[op][k])
				}
			})
		}
	}
}

// TestOperationCounts compares the numbers of operations in the methods' comments
// with the code. Changes of sign do not count.
func TestOperationCounts(t *testing.T) {
	source := parse(t, "eft.go", "dd.go", "td.go", "qd.go")
	steps := map[string][]string{
		"Add": {"add"}, "Mul": {"mul"}, "Sqr": {"sqr"}, "FMA": {"mul", "add"}, "Div": {"div"}, "Recip": {"recip"},
		"Sqrt": {"sqrt"}, "Rsqrt": {"sqrt", "recip"}, "AddFloat": {"addFloat"}, "MulFloat": {"mulFloat"},
	}
	count := regexp.MustCompile(`(\d+)\s+operations`)
	for _, name := range []string{"dd.go", "td.go", "qd.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Recv == nil || steps[d.Name.Name] == nil {
				continue
			}
			format := d.Recv.List[0].Type.(*ast.Ident).Name
			n := 0
			for _, step := range steps[d.Name.Name] {
				for _, i := range source.compile(t, step+format).code {
					if i.op != 'n' && i.op != 'c' {
						n++
					}
				}
			}
			if m := count.FindStringSubmatch(d.Doc.Text()); m == nil || m[1] != strconv.Itoa(n) {
				t.Errorf("%s.%s has %d operations; its comment says %v", format, d.Name.Name, n, m)
			}
		}
	}
}

// instruction computes register len(args)+i of a program, i its index.
type instruction struct {
	op      byte // + - * / f(ma) s(qrt) n(egation) c(onstant)
	a, b, c int
	value   float64
}

// program is straight-line code: the arguments, then a register an instruction.
type program struct {
	args    int
	code    []instruction
	results []int
}

func (g *program) emit(i instruction) int {
	g.code = append(g.code, i)
	return g.args + len(g.code) - 1
}

// run computes with every operation rounded to p bits.
func (g *program) run(p precision, args []float64) []float64 {
	x := append(make([]float64, 0, g.args+len(g.code)), args...)
	for _, i := range g.code {
		var z float64
		switch i.op {
		case '+':
			z = p.add(x[i.a], x[i.b])
		case '-':
			z = p.add(x[i.a], -x[i.b])
		case '*':
			z = p.round(float64(x[i.a]*x[i.b]), 0) // exact in 53 bits
		case '/':
			z = p.round(x[i.a]/x[i.b], 0) // not close to a tie unless exact
		case 'f':
			z = p.add(float64(x[i.a]*x[i.b]), x[i.c])
		case 's':
			z = p.round(math.Sqrt(x[i.a]), 0)
		case 'n':
			z = -x[i.a]
		case 'c':
			z = i.value
		}
		x = append(x, z)
	}
	z := make([]float64, len(g.results))
	for i, k := range g.results {
		z[i] = x[k]
	}
	return z
}

// sources are the functions of source files by name.
type sources map[string]*ast.FuncDecl

func parse(t *testing.T, files ...string) sources {
	f := sources{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				f[d.Name.Name] = d
			}
		}
	}
	return f
}

func (f sources) compile(t *testing.T, name string) *program {
	g := &program{args: f[name].Type.Params.NumFields()}
	args := make([]int, g.args)
	for i := range args {
		args[i] = i
	}
	g.results = f.call(t, g, name, args)
	return g
}

// call appends the body of a function and returns the registers of its results.
func (f sources) call(t *testing.T, g *program, name string, args []int) []int {
	vars := map[string]int{}
	for _, field := range f[name].Type.Params.List {
		for _, id := range field.Names {
			vars[id.Name], args = args[0], args[1:]
		}
	}
	values := func(exprs []ast.Expr) []int {
		var v []int
		for _, e := range exprs {
			v = append(v, f.eval(t, g, vars, e)...)
		}
		return v
	}
	for _, s := range f[name].Body.List {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				return values(s.Results)
			}
			t.Fatalf("%s: bare return", name)
		case *ast.AssignStmt:
			v := values(s.Rhs)
			for i, l := range s.Lhs {
				id := l.(*ast.Ident).Name
				if s.Tok == token.ADD_ASSIGN {
					v[i] = g.emit(instruction{op: '+', a: vars[id], b: v[i]})
				}
				vars[id] = v[i]
			}
		default:
			t.Fatalf("%s: a %T is not straight-line code", name, s)
		}
	}
	t.Fatalf("%s does not return", name)
	return nil
}

func (f sources) eval(t *testing.T, g *program, vars map[string]int, e ast.Expr) []int {
	one := func(e ast.Expr) int { return f.eval(t, g, vars, e)[0] }
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.eval(t, g, vars, e.X)
	case *ast.Ident:
		v, ok := vars[e.Name]
		if !ok {
			t.Fatalf("%s is no variable", e.Name)
		}
		return []int{v}
	case *ast.BasicLit:
		if e.Value == "1" {
			return []int{g.emit(instruction{op: 'c', value: 1})}
		}
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			return []int{g.emit(instruction{op: 'n', a: one(e.X)})}
		}
	case *ast.BinaryExpr:
		return []int{g.emit(instruction{op: e.Op.String()[0], a: one(e.X), b: one(e.Y)})}
	case *ast.CallExpr:
		var args []int
		for _, a := range e.Args {
			args = append(args, one(a))
		}
		switch fun := e.Fun.(type) {
		case *ast.Ident:
			if fun.Name == "float64" {
				return args
			}
			return f.call(t, g, fun.Name, args)
		case *ast.SelectorExpr:
			switch fun.Sel.Name {
			case "FMA":
				return []int{g.emit(instruction{op: 'f', a: args[0], b: args[1], c: args[2]})}
			case "Sqrt":
				return []int{g.emit(instruction{op: 's', a: args[0]})}
			}
		}
	}
	t.Fatalf("a %T is not straight-line arithmetic", e)
	return nil
}
