package place

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
)

// Expansions is the interface of places that package expansion calls. All operands live at the
// place p and have the same format: DD, TD or QD, or for the methods of block schemes Float64. The
// result z, or c, shares no entry with operands unless the method allows it. Methods return when
// the result is complete. If Config.Ctx is cancelled they return its error, and the result is
// unspecified. Their errors wrap ErrMemory if the place's memory is short. Of Config, all methods
// use Ctx; Each, Gemm and Solve report to Progress; Gemm and Solve use Method; Solve also uses
// Threads, Memory and Limit.
type Expansions interface {
	// Widen sets z to x, of the same shape. The format of x is Float64, DD, TD or QD and has at
	// most as many words as the format of z. All entries of z must be +0 before.
	Widen(p Place, cfg Config, x, z num.Mat) error
	// Each sets z to an operation or function of operands of the same shape, entry by entry, with
	// the bits of package expansion. name is Add, Sub, Mul, Div, Sqrt, FMA, or the name of a
	// function; the prefix Published selects the operation or function of expansion.Published.
	// Operands may be the same view as z.
	Each(p Place, cfg Config, name string, operands []num.Mat, z num.Mat) error
	// Gemm sets C = alpha A B + beta C, with the order of additions of expansion.Gemm.
	Gemm(p Place, cfg Config, alpha Words, a, b num.Mat, beta Words, c num.Mat) error
	// Gemv sets y = alpha A x + beta y, with the 32 partial sums of expansion.Gemv.
	Gemv(p Place, cfg Config, alpha Words, a num.Mat, x num.Vec, beta Words, y num.Vec) error
	// Dot returns the partial sums of expansion.Dot, of 4096 products x_i y_i each: word t of sum c
	// is sums[t][c].
	Dot(p Place, cfg Config, x, y num.Vec) (sums [][]float64, err error)
	// Solve sets X to the solution of A X = B, with the bits of expansion.Solve. X may overlap A
	// and B in any way. X is unchanged if the error is Singular.
	Solve(p Place, cfg Config, e Elimination, a, b, x num.Mat) error
}

// The methods of block schemes: see package expansion.
const (
	SquareBlocks = "expansion-square"
	LinearBlocks = "expansion-linear"
)

// Words are the words of a number in the format of the operands; unused words are 0.
type Words = [4]float64

// An Elimination holds the options of Solve: see expansion.SolveOptions.
type Elimination struct {
	ZeroRule bool // rows are exchanged only where the diagonal has a zero
	Block    int  // columns of a block with exact updates; 0: native updates
}

// Singular is the error about a matrix without a pivot in column Column.
type Singular struct{ Column int }

func (e Singular) Error() string { return fmt.Sprintf("no pivot in column %d", e.Column) }
