package gocuda

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// Count returns the number of operations on numbers of type float64 in the functions c.Roots. Sums
// and differences, products, quotients, roots and fused multiply-adds count as one operation each.
// Of several branches, the branch with the most operations counts. Comparisons, changes of sign and
// expressions that compilers fold count nothing. Loops must have constant bounds. A call of a
// function that is a key of instead counts as one call of the function named there.
func Count(c Config, instead map[string]string) (counts map[string]int, err error) {
	t := newTranslator(c)
	defer recoverFailure(&err)
	t.load()
	k := counter{t, instead, map[types.Object]int{}}
	counts = map[string]int{}
	for _, name := range c.Roots {
		counts[name] = k.function(t.find(name))
	}
	return counts, nil
}

type counter struct {
	*translator
	instead map[string]string
	known   map[types.Object]int
}

func (k counter) function(o types.Object) int {
	if other, ok := k.instead[o.Name()]; ok {
		o = k.find(other)
	}
	if n, ok := k.known[o]; ok {
		return n
	}
	d := k.functions[o]
	if d == nil {
		panic(failure{fmt.Errorf("%s: %s is not in the files", k.Dir, o.Name())})
	}
	n := k.node(d.Body)
	k.known[o] = n
	return n
}

// node counts the operations of a statement or expression.
func (k counter) node(n ast.Node) (count int) {
	all := func(list ...ast.Expr) (sum int) {
		for _, e := range list {
			sum += k.node(e)
		}
		return sum
	}
	switch n := n.(type) {
	case nil, *ast.Ident, *ast.BasicLit, *ast.DeclStmt, *ast.BranchStmt:
	case *ast.BlockStmt:
		for _, s := range n.List {
			count += k.node(s)
		}
	case *ast.AssignStmt:
		count = all(n.Rhs...) + all(n.Lhs...)
		if n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
			count += k.operation(n.Tok+(token.ADD-token.ADD_ASSIGN), n.Lhs[0])
		}
	case *ast.IncDecStmt:
		count = k.operation(token.ADD, n.X)
	case *ast.ReturnStmt:
		count = all(n.Results...)
	case *ast.ExprStmt:
		count = k.node(n.X)
	case *ast.IfStmt:
		count = k.optional(n.Init) + k.node(n.Cond) + max(k.node(n.Body), k.optional(n.Else))
	case *ast.SwitchStmt:
		most := 0
		for _, s := range n.Body.List {
			body := 0
			for _, s := range s.(*ast.CaseClause).Body {
				body += k.node(s)
			}
			most = max(most, body)
			count += all(s.(*ast.CaseClause).List...)
		}
		count += k.optional(n.Init) + most
		if n.Tag != nil {
			count += k.node(n.Tag)
		}
	case *ast.RangeStmt:
		v := k.info.Types[n.X].Value
		if v == nil {
			k.fail(n, "range over what is no constant")
		}
		times, _ := constant.Int64Val(v)
		count = int(times) * k.node(n.Body)
	case ast.Expr:
		if k.info.Types[n].Value == nil {
			count = k.expression(n)
		}
	default:
		k.fail(n, "statement %T", n)
	}
	return count
}

// optional is a statement that may be absent.
func (k counter) optional(s ast.Stmt) int {
	if s == nil {
		return 0
	}
	return k.node(s)
}

// operation counts op on operands of the type of x.
func (k counter) operation(op token.Token, x ast.Expr) int {
	if _, ok := rounded[op]; ok && isFloat(k.typeOf(x)) {
		return 1
	}
	return 0
}

func (k counter) expression(e ast.Expr) (count int) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return k.node(e.X)
	case *ast.UnaryExpr:
		return k.node(e.X)
	case *ast.StarExpr:
		return k.node(e.X)
	case *ast.SelectorExpr:
		return k.node(e.X)
	case *ast.IndexExpr:
		return k.node(e.X) + k.node(e.Index)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			count += k.node(x)
		}
		return count
	case *ast.BinaryExpr:
		return k.node(e.X) + k.node(e.Y) + k.operation(e.Op, e.X)
	case *ast.CallExpr:
		for _, a := range e.Args {
			count += k.node(a)
		}
		if k.info.Types[e.Fun].IsType() {
			return count
		}
		switch f := ast.Unparen(e.Fun).(type) {
		case *ast.Ident:
			if o, ok := k.info.Uses[f].(*types.Func); ok {
				return count + k.function(o)
			}
			return count // of the language
		case *ast.SelectorExpr:
			if s := k.info.Selections[f]; s != nil {
				return count + k.node(f.X) + k.function(s.Obj())
			}
			if f.Sel.Name == "FMA" || f.Sel.Name == "Sqrt" {
				count++
			}
			return count
		}
	}
	k.fail(e, "expression %T", e)
	return 0
}

// countedFiles are the files of package expansion that define the functions counted by Counts.
var countedFiles = []string{"eft.go", "dd.go", "qd.go", "block.go", "ops.go", "evaluator.go", "tables.go", "published.go", "published_functions.go"}

// Counts returns qdcounts.go of module reproduce. It holds the numbers of operations of the
// published algorithms and of ours.
func Counts(root string) ([]byte, error) {
	c := Config{Dir: filepath.Join(root, "expansion"), Files: countedFiles}
	c.Roots = []string{"split", "fastTwoSum", "twoSum", "threeSum", "twoProd", "sixThreeSum", "nineTwoSum", "publishedRenorm"}
	for _, f := range []string{"DD", "QD"} {
		for _, name := range []string{"Add", "Mul", "MulFloat", "Div", "Sqrt", "Exp", "Log", "Circle"} {
			c.Roots = append(c.Roots, "published"+name+f)
		}
		c.Roots = append(c.Roots, "add"+f, "mul"+f, "div"+f, "sqrt"+f)
	}
	fused, err := Count(c, nil)
	if err != nil {
		return nil, err
	}
	split, err := Count(c, map[string]string{"twoProd": "splitTwoProd"})
	if err != nil {
		return nil, err
	}
	slices.Sort(c.Roots)
	var b strings.Builder
	b.WriteString(`// Code generated by internal/gocuda from package expansion. DO NOT EDIT.

package reproduce

// qdCounts are the operations on float64 of functions of package expansion: as they are, with a fused
// multiply-add as one operation, and with Two-Prod by Split.
var qdCounts = map[string]struct{ fused, split int }{
`)
	for _, name := range c.Roots {
		fmt.Fprintf(&b, "\t%q: {%d, %d},\n", name, fused[name], split[name])
	}
	b.WriteString("}\n")
	return format.Source([]byte(b.String()))
}
