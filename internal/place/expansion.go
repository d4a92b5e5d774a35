package place

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/num"
)

// Expansions is what places do for package expansion. All operands live at the place p, in one of
// the formats DD, TD and QD, all in the same one. The result z, or c, shares no entry with operands
// but where the method says so. Methods return when the result is there, or with Config.Ctx's error
// once that is cancelled, the result then being unspecified. Of Config, Ctx, Progress, by Gemm and
// Solve Method, with Float64 for those of block schemes, and by Solve Threads and Memory count.
type Expansions interface {
	// Widen sets z to x, of the same shape, whose format is Float64, DD, TD or QD with no more
	// words than z's, and z is +0 throughout before.
	Widen(p Place, cfg Config, x, z num.Mat) error
	// Each sets z to an operation or function of operands of the same shape, entry by entry, with
	// the bits of package expansion. name is Add, Sub, Mul, Div, Sqrt, FMA, or that of a function;
	// after Published it is that of expansion.Published.
	// Operands may be the same view as z.
	Each(p Place, cfg Config, name string, operands []num.Mat, z num.Mat) error
	// Gemm sets C = alpha A B + beta C, by the additions of expansion.Gemm.
	Gemm(p Place, cfg Config, alpha Words, a, b num.Mat, beta Words, c num.Mat) error
	// Gemv sets y = alpha A x + beta y, with the 32 partial sums of expansion.Gemv.
	Gemv(p Place, cfg Config, alpha Words, a num.Mat, x num.Vec, beta Words, y num.Vec) error
	// Dot returns sums of 4096 products x_i y_i each, as expansion.Dot has them: word t of sum c is
	// sums[t][c].
	Dot(p Place, cfg Config, x, y num.Vec) (sums [][]float64, err error)
	// Solve sets X to the solution of A X = B, with the bits of expansion.Solve. X may overlap A
	// and B in any way; it is unchanged if the error is Singular.
	Solve(p Place, cfg Config, e Elimination, a, b, x num.Mat) error
}

// The methods of block schemes: see package expansion.
const (
	SquareBlocks = "expansion-square"
	LinearBlocks = "expansion-linear"
)

// Words are those of a number in the format of the operands, the others being 0.
type Words = [4]float64

// An Elimination is how Solve eliminates: see expansion.SolveOptions.
type Elimination struct {
	ZeroRule bool // rows are exchanged only where the diagonal has a zero
	Block    int  // columns of a block with exact updates; 0: native ones
}

// Singular is the error about a matrix without a pivot in column Column.
type Singular struct{ Column int }

func (e Singular) Error() string { return fmt.Sprintf("no pivot in column %d", e.Column) }
