package place

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// Settings are the options of routines, with defaults filled in.
type Settings struct {
	par.Run
	Device Name // device for routines whose operands live on the host
	Method string
	Limit  int64 // bytes that the user has set as limit; 0: none
}

// Unchecked returns an error if Check is set; name is a routine without products of matrices.
func (s Settings) Unchecked(name string) error {
	if s.Check {
		return fmt.Errorf("%s: option Check: %w: this routine has no products of matrices by residues, which are what is checked", name, product.ErrMethod)
	}
	return nil
}

// Config returns the configuration of routines with these settings at a place.
func (s Settings) Config() Config {
	return Config{Run: s.Run, Method: s.Method, Limit: s.Limit}
}

// host returns the configuration of products with these settings on the host.
func (s Settings) host() product.Config {
	return product.Config{Run: s.Run, Method: s.Method}
}

// A Gemm is the product C = Alpha A B + Beta Old, each entry rounded once. All matrices live in one
// place, which may be the host. C may share storage with the others.
type Gemm struct {
	product.Problem          // without PreA and PreB
	Kept            [2]*Kept // data kept for products with A and with B, or nil
	// Factors are the triangles of A and B outside of which all entries are zero, 'L' or 'U'; 0: no
	// triangle. A place may skip the zeros.
	Factors [2]byte
}

// Gemm computes a product where its operands live. If they live on the host it uses the requested
// device.
func (s Settings) Gemm(g *Gemm) (residue.Stats, error) {
	p, err := Common("gemm", g.A.Arr, g.B.Arr, g.Old.Arr, g.C.Arr)
	if err != nil {
		return residue.Stats{}, err
	}
	if p != nil {
		return s.GemmAt(p, g)
	}
	c := g.C
	if c.Arr.Overlaps(g.A.Arr) || c.Arr.Overlaps(g.B.Arr) || g.Old != c && c.Arr.Overlaps(g.Old.Arr) {
		h := *g
		h.C = c.Copy()
		g = &h
	}
	st, err := s.Multiply(g)
	if err == nil && g.C.Arr != c.Arr {
		c.CopyFrom(g.C)
	}
	return st, err
}

// GemmAt computes a product at the place p, where all its operands live.
func (s Settings) GemmAt(p Place, g *Gemm) (residue.Stats, error) {
	if s.Method == product.Direct {
		return residue.Stats{}, product.ErrDirect
	}
	a, b, old := g.A, g.B, g.Old
	operands := []*num.Mat{&a, &b}
	if old != g.C {
		operands = append(operands, &old)
	}
	free, err := Apart(s.Ctx, p, g.C, operands...)
	if err != nil {
		return residue.Stats{}, fmt.Errorf("gemm: %w", err)
	}
	defer free()
	s.Progress = par.Rising(s.Progress) // the host's blocks count when it has computed them
	cfg := s.Config()
	cfg.Pattern = Pattern{Triangle: g.Triangle, Factors: g.Factors, Bound: g.Bound}
	st, err := p.Gemm(cfg, g.Alpha, a, b, g.Beta, old, g.C)
	if left := (*Declined)(nil); errors.As(err, &left) {
		whole := product.Problem{Alpha: g.Alpha, A: a, B: b, Beta: g.Beta, Old: old, C: g.C, Triangle: g.Triangle}
		st, err = left.finishAt(p, s.host(), &whole, st)
	}
	return st, GemmError(g.C.Rows, g.A.Cols, g.C.Cols, err)
}

// Multiply computes a product of matrices of the host on the requested device. C shares no storage
// with A and B, and with Old only if both are the same view.
func (s Settings) Multiply(g *Gemm) (residue.Stats, error) {
	cfg := s.host()
	on := &Product{Config: s.Config()}
	on.Config.Triangle, on.Config.Prepared = g.Triangle, [2]Prepared{g.Kept[0].there(), g.Kept[1].there()}
	switch {
	case s.Device.Kind == Auto:
		cfg.Device = on
	case s.Device.IsPlace():
		var err error
		if on.At, err = s.Device.Open(); err != nil {
			return residue.Stats{}, fmt.Errorf("gemm: %w", err)
		}
		cfg.Device, cfg.Asked = on, true
	}
	p := g.Problem
	p.PreA, p.PreB = g.Kept[0].onHost(), g.Kept[1].onHost()
	return product.Run(cfg, p)
}
