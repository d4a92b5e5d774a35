package place

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/internal/num"
)

// ErrLibrary is wrapped by errors about places where the library of the device's maker is missing.
var ErrLibrary = errors.New("no library of the device's maker")

// Ozaki is the interface of places that package ozaki calls. The documentation of package ozaki
// defines slices, the order of operations and the bounds.
type Ozaki interface {
	// Memory returns the size of p's memory in bytes.
	Memory(p Place) uint64
	// Multiply computes x at p. If the operands live at p, C shares no entry with A and B. Of cfg
	// only Ctx, Limit and Progress are used. The error wraps ErrLibrary if x requires a library
	// that is missing, and ErrMemory if memory is short; if the context is cancelled it is the
	// context's error. After an error C and Bound are unspecified if they live at p, else
	// unchanged.
	Multiply(p Place, cfg Config, x OzakiProduct) (OzakiStats, error)
	// Native sets C = A B by the library of the device's maker, in the library's order of
	// additions, and waits for the result. All three matrices live at one place, are all of Float64
	// or all of Float32, and are stored by columns. The error wraps ErrLibrary if the library is
	// missing.
	Native(ctx context.Context, a, b, c num.Mat) error
}

// OzakiProduct is the product C = alpha A B + beta C by slices, or in double-float arithmetic. A, B
// and C all live at the place or all on the host; operands of the host are copied to the place, and
// C is copied back. Bound may live at either.
type OzakiProduct struct {
	A, B        num.Mat // of Float64 or Float32
	C           num.Mat // of Float64
	Alpha, Beta float64 // Alpha finite

	DoubleFloat bool // then Slices, Width, Block, SGEMM and Choose are ignored
	Slices      int
	Width       int // bits of a slice
	Block       int // longest float32 sum
	SGEMM       SGEMM
	// Literal, if not nil, requests the slices that package ozaki calls literal, in one block. It
	// is called with the largest finite |x| of each row of A and of each column of B. Multiply
	// returns its error.
	Literal func(a, b []float64) error
	// Choose, if not nil, returns the number of slices, which replaces Slices. Its arguments are
	// functions that return the norms of the given number of slices of entries h0 <= h < h1: a of
	// the rows of A, b of the columns of B.
	Choose func(a, b func(h0, h1, slices int) (OzakiNorms, error)) (slices int, err error)

	// Bound, if it has an array, is of Float64 and receives bounds of the errors. Bounds computes
	// the error bounds of the sums of a block of the given length from the norms of the block's
	// slices. In double-float arithmetic these are the norms of one slice of 0 bits.
	Bound  num.Mat
	Bounds func(a, b OzakiNorms, length int) OzakiBounds
}

// SGEMM selects the routine that multiplies float32 matrices at a place.
type SGEMM int

const (
	// AutoSGEMM is the library of the device's maker if present, else OwnSGEMM.
	AutoSGEMM SGEMM = iota
	// OwnSGEMM computes each entry by fused multiply-adds in order, as the CPU does.
	OwnSGEMM
	// LibrarySGEMM is the library of the device's maker; if it is missing Multiply returns an
	// error.
	LibrarySGEMM
)

// OzakiNorms are upper bounds of the 2-norms of the slices q_t and remainders r_t of vectors,
// [t-1][v].
type OzakiNorms struct{ Q, R [][]float64 }

// OzakiBounds bounds the errors of sums. The bound of entry (i, j), up to a small allowance for its
// own rounding, is
//
//	SumX[i] SumY[j] + Σ_s (X[s][i] Y[s][j] + Tau),  s with X[s][i] Y[s][j] ≠ 0.
type OzakiBounds struct {
	X, Y       [][]float64
	SumX, SumY []float64
	Tau        float64
}

// OzakiStats describes how a product was computed.
type OzakiStats struct {
	Kernel                   string
	Products, Skipped, Parts int
	// times of the splits, the products and the sums, measured by the device
	Stages [3]time.Duration
}
