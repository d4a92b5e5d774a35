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

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// smallOperations are the operations of TestSmallPrecision: the functions that
// compute them, the words they take of a and b, and the exact result for A and B,
// nil where there is none.
var smallOperations = []struct {
	name, function string
	args           func(a, b []float64) []float64
	exact          func(z, A, B *big.Float) *big.Float
}{
	{"add", "add", both, (*big.Float).Add},
	{"mul", "mul", both, (*big.Float).Mul},
	{"sqr", "sqr", first, func(z, A, _ *big.Float) *big.Float { return z.Mul(A, A) }},
	{"div", "div", both, func(z, A, B *big.Float) *big.Float {
		if B.Sign() == 0 {
			return nil
		}
		return z.Quo(A, B)
	}},
	{"recip", "recip", first, func(z, A, _ *big.Float) *big.Float { return z.Quo(big.NewFloat(1), A) }},
	{"sqrt", "sqrt", first, func(z, A, _ *big.Float) *big.Float {
		if A.Sign() < 0 {
			return nil
		}
		return z.Sqrt(A)
	}},
	{"addF", "addFloat", withLeading, (*big.Float).Add},
	{"mulF", "mulFloat", withLeading, (*big.Float).Mul},
}

func both(a, b []float64) []float64        { return append(append([]float64{}, a...), b...) }
func first(a, _ []float64) []float64       { return a }
func withLeading(a, b []float64) []float64 { return append(append([]float64{}, a...), b[0]) }

// TestSmallPrecision runs the arithmetic's own source with words of few bits,
// where the coincidences of roundings and ties that the bounds have to withstand
// can be found: by chance, and by climbing on from the largest error. u = 2^-p;
// errors of higher order count there, up to a factor 1/(1 - 4u).
func TestSmallPrecision(t *testing.T) {
	testlength.SkipSlow(t, "interpreted arithmetic")
	source := parse(t, "eft.go", "dd.go", "td.go", "qd.go")
	for k, f := range formats {
		for _, p := range []precision{5, 6, 9, 11} {
			t.Run(fmt.Sprintf("%s/%d", f.name, p), func(t *testing.T) {
				t.Parallel()
				seed := testseed.Of(t)
				r := rand.New(rand.NewPCG(seed, 0))
				memory := new(scratch)
				for _, op := range smallOperations {
					code := source.compile(t, op.function+f.name)
					bound := bounds[op.name][k] / (1 - math.Ldexp(4, -int(p)))
					// measure returns the error, -1 if there is no result.
					measure := func(a, b []float64) float64 {
						args := op.args(a, b)
						B := exact(b)
						if len(args) == f.w+1 {
							B = exact(b[:1])
						}
						want := op.exact(new(big.Float).SetPrec(400), exact(a), B)
						if want == nil {
							return -1
						}
						z := code.run(p, args)
						e := memory.relative(p, z, want, want)
						if e > bound || !p.normalised(z) {
							t.Fatalf("seed %d: %s(%x) = %x, want %.20g: error %g u^%d, normalised %v", seed, op.name, args, z, want, e, f.w, p.normalised(z))
						}
						return e
					}
					var worstA, worstB []float64
					largest := -1.0
					for range sweeps() {
						a := p.operand(r, f.w, 0, 0)
						b := p.operand(r, f.w, -f.w*int(p)-2, 1)
						switch r.IntN(4) {
						case 0:
							b = p.operand(r, f.w, -1, 1)
						case 1, 2:
							b = p.near(r, a)
						}
						if e := measure(a, b); e > largest {
							largest, worstA, worstB = e, a, b
						}
					}
					for range sweeps() {
						a, b := p.change(r, worstA), p.change(r, worstB)
						if a[0] == 0 || !p.normalised(a) || !p.normalised(b) {
							continue
						}
						if e := measure(a, b); e >= largest {
							largest, worstA, worstB = e, a, b
						}
					}
					t.Logf("%s: largest error %.3f u^%d of %g", op.name, largest, f.w, bounds[op.name][k])
				}
			})
		}
	}
}

// normalised reports whether x[i] = RN(x[i] + x[i+1]) for all i, in p bits.
func (p precision) normalised(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if p.add(x[i-1], x[i]) != x[i-1] || x[i-1] == 0 && x[i] != 0 {
			return false
		}
	}
	return true
}

// change returns x with some words changed a little.
func (p precision) change(r *rand.Rand, x []float64) []float64 {
	x = append([]float64{}, x...)
	for range r.IntN(3) {
		i := r.IntN(len(x))
		if x[i] == 0 {
			continue
		}
		_, e := math.Frexp(x[i])
		switch r.IntN(5) {
		case 0:
			x[i] = p.word(r, e-1, e-1)
		case 1:
			x[i] = -x[i]
		case 2:
			x[i] = math.Ldexp(x[i], r.IntN(3)-1)
		case 3: // some units of the last bit
			x[i] = p.add(x[i], math.Ldexp(float64(r.IntN(5)-2), e-int(p)))
		case 4: // another bit
			x[i] = p.add(x[i], math.Ldexp(1, e-1-r.IntN(int(p))))
		}
	}
	return x
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
