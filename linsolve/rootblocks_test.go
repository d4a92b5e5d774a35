package linsolve

import (
	"errors"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestNoRootByBlocks uses matrices that narrowly fail to be positive definite, which no float64
// seed detects.
func TestNoRootByBlocks(t *testing.T) {
	r := testseed.Rand(t, 1, 0)
	const n, last = factors.RootLeaf + 8, factors.RootLeaf + 7
	singular := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
	for j := range n {
		singular.SetFloat64(last, j, singular.Float64(0, j))
	}
	c := lintest.Gram(singular.T().Clone()) // A A^T: its last two leading minors are positive and 0
	if _, err := Cholesky(c, halfulp.Float64, nil); !errors.As(err, new(*NotPositiveDefiniteError)) {
		t.Errorf("singular: %v", err)
	}
	x := c.Big(last, last)
	c = c.Convert(halfulp.MP(400))
	c.SetBig(last, last, x.SetPrec(400).Sub(x, bound.Exp2(-200)))
	_, err := Cholesky(c, halfulp.Float64, nil)
	if e := new(NotPositiveDefiniteError); !errors.As(err, &e) || e.Order != n || e.Sign != -1 {
		t.Errorf("indefinite: %v", err)
	}
	c.SetBig(last, last, x.Add(x, bound.Exp2(-199)))
	if _, err := Cholesky(c, halfulp.Float64, nil); err != nil {
		t.Errorf("definite by 2^-200: %v", err)
	}
}
