package architecture

import (
	"go/ast"
	"go/token"
	"testing"
)

// TestHostIsAPlace finds comparisons of the place of a run with nil: rooms ask call.Home for the
// property that they need, or leave the operation to it.
func TestHostIsAPlace(t *testing.T) {
	for _, s := range sources(t) {
		if !under(s.folder, "linsolve", "internal/proof") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if c, ok := n.(*ast.BinaryExpr); ok && (c.Op == token.EQL || c.Op == token.NEQ) {
				at, field := c.X.(*ast.SelectorExpr)
				none, name := c.Y.(*ast.Ident)
				if field && name && at.Sel.Name == "At" && none.Name == "nil" {
					t.Errorf("%s: field At is compared with nil", s.folder)
				}
			}
			return true
		})
	}
}
