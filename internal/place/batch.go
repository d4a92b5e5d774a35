package place

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// A Batch is many products C_i = Alpha A_i B_i of one shape, in the same formats and with the same
// strides. All matrices live at one place, or all on the host. No C_i shares storage with an
// operand or a result of another product, nor, at a place, with its own operands.
type Batch struct {
	Alpha   num.Real
	A, B, C []num.Mat
}

// Batcher is the part of a place that computes many small products together.
type Batcher interface {
	// GemmBatch computes products with the bits of Gemm and returns the indices of those that it
	// leaves to the caller, rising. Their results are unspecified if they live at the place, and
	// unchanged on the host. The statistics are those of the others.
	GemmBatch(cfg Config, b *Batch) (left []int, st residue.Stats, err error)
}
