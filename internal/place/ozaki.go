package place

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/internal/num"
)

// ErrLibrary is wrapped by errors about places without the library of their maker.
var ErrLibrary = errors.New("no library of the device's maker")

// Ozaki is what places do for package ozaki, whose documentation defines slices, the order of
// operations and the bounds.
type Ozaki interface {
	// Memory returns how many bytes p has.
	Memory(p Place) uint64
	// Multiply computes x at p. Where they live there, C shares no entry with A and B. Of cfg, Ctx,
	// Memory and Progress count. The error wraps ErrLibrary if x asks for a library that is not
	// there, ErrMemory if memory is short, and is the context's once that is cancelled; C and
	// Bound are then unspecified where they live at p, else unchanged.
	Multiply(p Place, cfg Config, x OzakiProduct) (OzakiStats, error)
	// Native sets C = A B by the library of the device's maker, in its order of additions, and
	// waits for it. All three live at one place, are all of Float64 or all of Float32, and are no
	// views but by columns. The error wraps ErrLibrary if there is none.
	Native(ctx context.Context, a, b, c num.Mat) error
}

// OzakiProduct is C = alpha A B + beta C by slices, or in double-float arithmetic. A, B and C all
// live at a place, or all on the host, whence they travel there and C back; Bound either way.
type OzakiProduct struct {
	A, B        num.Mat // of Float64 or Float32
	C           num.Mat // of Float64
	Alpha, Beta float64 // Alpha finite

	DoubleFloat bool // Slices, Width, Block, SGEMM and Choose do not count then
	Slices      int
	Width       int // bits of a slice
	Block       int // longest float32 sum
	SGEMM       SGEMM
	// Literal, if not nil, asks for slices that package ozaki calls literal, in one block. It is
	// given the largest finite |x| of the rows of A and of the columns of B; its error is that of
	// Multiply.
	Literal func(a, b []float64) error
	// Choose, if not nil, returns the number of slices in place of Slices, given what gives the
	// norms of so many slices of the entries h0 <= h < h1 of the rows of A, and of the columns of
	// B.
	Choose func(a, b func(h0, h1, slices int) (OzakiNorms, error)) (slices int, err error)

	// Bound, if it has an array, is of Float64 and receives bounds of errors. Bounds makes those of
	// the sums of a block of that length from norms of its slices; for double-floats, of one slice
	// of no bits.
	Bound  num.Mat
	Bounds func(a, b OzakiNorms, length int) OzakiBounds
}

// SGEMM says what multiplies matrices of float32 at a place.
type SGEMM int

const (
	// AutoSGEMM is the library of the device's maker if there is one, else OwnSGEMM.
	AutoSGEMM SGEMM = iota
	// OwnSGEMM makes each entry a chain of fused multiply-adds in order, as the CPU does.
	OwnSGEMM
	// LibrarySGEMM is the library of the device's maker, or an error.
	LibrarySGEMM
)

// OzakiNorms are upper bounds of the 2-norms of the slices q_t and remainders r_t of vectors,
// [t-1][v].
type OzakiNorms struct{ Q, R [][]float64 }

// OzakiBounds are bounds of the errors of sums: entry (i, j) has, with a little more for rounding,
//
//	SumX[i] SumY[j] + Σ_s (X[s][i] Y[s][j] + Tau),  s with X[s][i] Y[s][j] ≠ 0.
type OzakiBounds struct {
	X, Y       [][]float64
	SumX, SumY []float64
	Tau        float64
}

// OzakiStats tells how a product ran.
type OzakiStats struct {
	Kernel                   string
	Products, Skipped, Parts int
	// of splits, products, sums, as the device measured them
	Stages [3]time.Duration
}
