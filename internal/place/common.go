package place

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
)

// Freed is the value that routines panic with if an operand was freed.
const Freed = "halfulp: use of a matrix or vector after Free"

// Common returns the place where all operands of a routine live, nil for the host. The error wraps
// ErrPlace if they live on different devices. Common panics if one of the operands was freed.
func Common(routine string, operands ...*num.Array) (p Place, err error) {
	for _, a := range operands {
		if a.Away != nil && a.Away.Freed() {
			panic(Freed)
		}
	}
	for i, a := range operands {
		q := Of(a)
		if i == 0 {
			p = q
		}
		if p, err = Same(routine, p, q); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Apart replaces operands that live at p and overlap the output z by copies, which free releases.
func Apart(ctx context.Context, p Place, z num.Mat, operands ...*num.Mat) (free func(), err error) {
	var copies []num.Mat
	free = func() {
		for _, m := range copies {
			m.Arr.Away.Free()
		}
	}
	for _, m := range operands {
		if !p.Overlap(z, *m) {
			continue
		}
		if *m, err = p.Clone(ctx, *m); err != nil {
			free()
			return nil, err
		}
		copies = append(copies, *m)
	}
	return free, nil
}
