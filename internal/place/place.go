// Package place defines the interfaces of places other than the host where numbers can live and be
// computed with: one GPU, several GPUs, or a grid of processes. Backends implement the interfaces
// and register themselves, as database drivers do; this package knows no backend.
//
// A matrix of a place is an ordinary num.Mat whose array has Away set. The operands of a call are
// all on the host or all at one place, and in the latter case the results stay at the place.
package place

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/superacc"
)

// ErrDevice is wrapped by errors about places that do not exist.
var ErrDevice = errors.New("no such device")

// ErrUnsupported is wrapped by errors about computations that a place leaves to the host.
var ErrUnsupported = errors.New("not computed there")

// ErrMemory is wrapped by errors about a place's memory.
var ErrMemory = residue.ErrMemory

// Config has the options of a routine at a place.
type Config struct {
	par.Run        // Threads and Memory apply to the work that the place leaves to the host
	Method  string // of products left to the host, or a method of package expansion
	// Limit is the number of bytes that the call may allocate at the place, in addition to its
	// operands; 0: most of the memory there.
	Limit int64
	Pattern
	Prepared [2]Prepared // belongs to A and B of Gemm if these live on the host, else nil
	Panels   Panels      // columns that are still being copied to A of Gemm, or nil
	// Elsewhere lists the parts of the operands of Gemm when they are distributed over several
	// places that can access each other's memory; else nil. Of A, B and C only shapes and formats
	// are then used.
	Elsewhere *Elsewhere
}

// A Pattern describes which entries of C a Gemm computes, and what is known about C, A and B.
type Pattern struct {
	// Triangle restricts the result to one triangle of C, 'U' or 'L'; 0: all of C. C need not be
	// square.
	Triangle byte
	// Factors are the triangles of A and of B, 'U' or 'L', outside of which all entries are zero;
	// 0: no triangle. They are used for operands that live at the place. Results are wrong if
	// Factors are.
	Factors [2]byte
	// Before says where A and B begin in the triangles that Factors describe: Before[0] rows
	// precede A, and Before[1] columns precede B. With a Triangle the two numbers are equal.
	Before [2]int
	// Bound, if not nil, is what is known about the result: see residue.Bound. It is used for
	// operands that live at the place.
	Bound *residue.Bound
}

// A Place computes with numbers of the host and with numbers that live at the place. Its routines
// round like the routines of packages residue and direct, and return the same bits. Operations that
// only some routines need are separate interfaces, called parts; [Part] finds them if a place
// implements them.
type Place interface {
	// String is the place's name: "cuda:0", or "cuda:0,2" for several GPUs.
	String() string
	// First returns the first of several places, which runs the work that is not distributed.
	First() Place

	// New returns an array of rows x cols numbers at the place, all +0, for a matrix stored by
	// columns.
	New(ctx context.Context, f num.Format, rows, cols int) (*num.Array, error)
	// Set copies a matrix of the host to a matrix of the same shape and format at the place.
	Set(ctx context.Context, to, from num.Mat) error
	// Get copies a matrix of the place to a new array of the host and returns a view of it.
	Get(ctx context.Context, from num.Mat) (num.Mat, error)
	// Clone copies the array of a matrix of the place and returns the same view of the copy.
	Clone(ctx context.Context, m num.Mat) (num.Mat, error)
	// Copy copies a matrix to another matrix of the same shape and format. Both live at the place;
	// they may overlap.
	Copy(cfg Config, to, from num.Mat) error
	// Overlap reports whether two matrices of the place have an entry in common.
	Overlap(a, b num.Mat) bool

	// Gemm sets C to alpha A B + beta Old like residue.Gemm. C shares no entry with A and B, and
	// with Old only if both are the same view. If the place leaves blocks of C to the host, Gemm
	// returns a Declined error that lists them.
	Gemm(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error)
	// Gemv sets z to alpha M x + beta y like direct.Gemv and returns the number of entries that the
	// host's exact sum decided. A z on the host has stride 1. z shares no entry with M and x, and
	// with y only if both are the same view.
	Gemv(cfg Config, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y, z num.Vec, count func(num.Flags)) (int64, error)
	// Reduce stores the rounded reduction in number 0 of z, an array of the host, like
	// direct.Reduction.Round, and reports whether the exact value was needed to round it.
	Reduce(cfg Config, r direct.Reduction, x, y num.Vec, z *num.Array) (num.Flags, bool, error)
	// Norm stores the rounded Euclidean norm like direct.Norm.
	Norm(cfg Config, x num.Vec, z *num.Array) (num.Flags, bool, error)
	// Iamax returns the index of the first entry of largest magnitude like direct.LargestIndex.
	Iamax(cfg Config, x num.Vec) (int, error)
	// Moments returns exact sums like direct.Moment.Exact.
	Moments(cfg Config, x num.Vec, list ...direct.Moment) ([]*superacc.Acc, error)
	// Scal computes alpha x_i. For a vector of the host it stores the results in z; else z is nil
	// and x is overwritten.
	Scal(cfg Config, alpha num.Real, x num.Vec, z *num.Array, count func(num.Flags)) error
	// Update computes alpha x_i y_j + a_ij. For operands of the host it stores the results in z, by
	// columns; else it overwrites A. A y without an array stands for the vector (1), and A is then
	// a column. alpha is not 0.
	Update(cfg Config, alpha num.Real, x, y num.Vec, a num.Mat, z *num.Array, count func(num.Flags)) error
}

// Prepared is data that a place computes from a matrix of the host and keeps for several products.
type Prepared interface {
	Free()
}

// Panels are columns of a matrix that are copied from several places to one, while this one already
// computes with the columns that have arrived.
type Panels any

// Elsewhere lists parts of the operands of Gemm: all parts of A or none, all parts of B or none,
// and all parts of C.
type Elsewhere struct {
	A, B []Block
	C    []Block
}

// A Block is a part M of an operand that begins at a row and a column of it.
type Block struct {
	Row, Col int
	M        num.Mat
}

// ErrApart is the error of a Gemm that requires its operands in one place. The Gemm has changed
// nothing.
var ErrApart = errors.New("operands are apart")

// MaxPanels is the largest number of places from which Panels come.
const MaxPanels = 16

// A Device describes one of a backend's devices.
type Device struct {
	Name         string // "cuda:0"
	Model        string // as the maker calls it
	Memory       uint64 // bytes
	Architecture string // for example "compute capability 9.0"
	Driver       string // what the driver supports, for example "CUDA 13.0"
}

// A Backend provides the places of one kind.
type Backend interface {
	// Devices lists the devices. If there are none it returns the reason, an error that wraps
	// ErrDevice.
	Devices() ([]Device, error)
	// Open returns the place that consists of the devices with these numbers, at least one. For a
	// single number it returns the same place at every call.
	Open(numbers ...int) (Place, error)
	// IsOpen reports whether the place of a device has been opened and is kept ready.
	IsOpen(number int) bool
	// Fit reports whether p may be used by routines that choose their place themselves.
	Fit(p Place) bool

	// Prepare returns an empty store for the data that the places keep about a matrix of the host.
	Prepare(m num.Mat) Prepared

	// EstimateGemm estimates the time of an m x k by k x n product of matrices of the host. It
	// returns false if the place leaves the product to the host.
	EstimateGemm(m, n, k int, a, b, c num.Format) (time.Duration, bool)
	// EstimateTransfer estimates the time of a call that transfers this number of bytes.
	EstimateTransfer(bytes int64) time.Duration
}

// ondevice is the storage of an array that lives at a place.
type ondevice interface {
	num.Storage
	Place() Place
}

// Of returns the place where the numbers of the array a live; nil: the host.
func Of(a *num.Array) Place {
	if a.Away == nil {
		return nil
	}
	return a.Away.(ondevice).Place()
}
