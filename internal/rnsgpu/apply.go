package rnsgpu

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/place"
)

// applications is the structure of the same name in kernels/rns/divide.cuh.
type applications struct {
	x, y, c, z operand
	rows, cols int64
}

// applied names the kernel of each operation.
var applied = map[place.RNSOperation]string{place.RNSQuotient: "rnsQuotient", place.RNSRoot: "rnsRoot", place.RNSFMA: "rnsFMA"}

// Apply implements place.RNSQueue. Its kernels are compiled at their first use.
func (q *Queue) Apply(op place.RNSOperation, rows, cols int, x, y, c, z place.RNSView) error {
	if rows*cols == 0 {
		return nil
	}
	f, err := launch.KernelsOf(q.s).Function(q.s, fmt.Sprint("rns/divide", q.padded), applied[op])
	if err != nil {
		return err
	}
	return f.Launch(q.s, q.blocks(rows*cols), cuda.Dim{X: threads}, 0, q.c, applications{
		x: native(x), y: native(y), c: native(c), z: native(z), rows: int64(rows), cols: int64(cols),
	})
}
