package residue

import "github.com/halfulp/halfulp/internal/num"

// A Finisher computes entries that another engine leaves undecided.
type Finisher struct {
	p    *product
	fail [][2]int32
}

// NewFinisher returns a Finisher of alpha A B + beta Old with the arguments of Plan.
func NewFinisher(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) *Finisher {
	p := &product{cfg: cfg, a: a, b: b.T(), old: old, c: c, alpha: newScaling(alpha), beta: newScaling(beta)}
	return &Finisher{p: p}
}

// Fail leaves entry (i, j) to Exact.
func (f *Finisher) Fail(i, j int) { f.fail = append(f.fail, [2]int32{int32(i), int32(j)}) }

// Exact computes the entries left to it in exact arithmetic, and adds overflows and underflows to
// stats.
func (f *Finisher) Exact(stats *Stats) error {
	err := f.p.exactPass(f.fail)
	stats.Overflow += f.p.stats.Overflow
	stats.Underflow += f.p.stats.Underflow
	return err
}
