// Package place is what the routines know of places other than the host where numbers can live and
// be computed with: a GPU, several of them. Backends implement its interfaces and register
// themselves, as drivers of databases do; nothing here knows one.
//
// A matrix of a place is an ordinary num.Mat whose array has Away set. All operands of a call are
// on the host, or all are at the place: then results stay there.
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

// ErrUnsupported is wrapped by errors about what a place leaves to the host.
var ErrUnsupported = errors.New("not computed there")

// ErrMemory is wrapped by errors about a place's memory.
var ErrMemory = residue.ErrMemory

// Config says how a routine may run at a place.
type Config struct {
	par.Run        // Threads and Memory are the host's, for what the place leaves to it
	Method  string // of the products that the place leaves to the host, or of package expansion
	// Limit is how many bytes may be taken at the place beside operands; 0: most of what is there.
	Limit int64
	Pattern
	Prepared [2]Prepared // of the factors of Gemm where they are the host's, else nil
	Panels   Panels      // on their way to A of Gemm, or nil
	// Elsewhere is where several places that reach each other's memory have operands of Gemm, or
	// nil. A, B and C then tell no more than shapes and formats.
	Elsewhere *Elsewhere
}

// A Pattern is which entries of C a Gemm computes, and what is known of them and of its factors.
type Pattern struct {
	// Triangle restricts the result to one triangle, 'U' or 'L', of a C that need not be square, or
	// does not: 0.
	Triangle byte
	// Factors are triangles of A and of B, 'U', 'L', or 0 for all of them, beyond which there are
	// zeros. They count for operands that live at the place, and make wrong numbers if they are
	// wrong.
	Factors [2]byte
	// Before is how many rows of the triangle of Factors come before those of A, and columns before
	// those of B; the same number of both for a Triangle.
	Before [2]int
	// Bound is what is known of the result, if not nil: see residue.Bound. It counts for operands
	// that live at the place.
	Bound *residue.Bound
}

// A Place computes with numbers of the host, and with numbers that live there. Its routines round
// as those of packages residue and direct do, and have their bits. What only some routines need are
// parts of their own, which [Part] finds where a place offers them.
type Place interface {
	// String is the place's name, "cuda:0", or "cuda:0,2" if it is several.
	String() string
	// First is the first of several places, on which runs what they do not share.
	First() Place

	// New returns the rows x cols numbers of a matrix by columns, +0, that live there.
	New(ctx context.Context, f num.Format, rows, cols int) (*num.Array, error)
	// Set copies a matrix of the host to one that lives there, of the same shape and format.
	Set(ctx context.Context, to, from num.Mat) error
	// Get returns a copy of a matrix that lives there as a view of an array of the host.
	Get(ctx context.Context, from num.Mat) (num.Mat, error)
	// Clone returns the same view of a copy of the array of a matrix that lives there.
	Clone(ctx context.Context, m num.Mat) (num.Mat, error)
	// Copy copies a matrix to another one of its shape and format, which may overlap it. Both live
	// there.
	Copy(cfg Config, to, from num.Mat) error
	// Overlap reports whether matrices that live there have an entry in common.
	Overlap(a, b num.Mat) bool

	// Gemm sets C to alpha A B + beta Old like residue.Gemm. C shares no entry with A and B, and
	// with Old only if it is the same view. What it leaves to the host is a Declined error.
	Gemm(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) (residue.Stats, error)
	// Gemv sets z to alpha M x + beta y like direct.Gemv and returns how many entries the host's
	// exact sum decided. z has stride 1 on the host; it shares no entry with M and x, and with y
	// only if it is the same view.
	Gemv(cfg Config, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y, z num.Vec, count func(num.Flags)) (int64, error)
	// Reduce stores the rounded reduction in number 0 of z, the host's, like
	// direct.Reduction.Round, and reports whether the exact value decided it.
	Reduce(cfg Config, r direct.Reduction, x, y num.Vec, z *num.Array) (num.Flags, bool, error)
	// Norm stores the rounded Euclidean norm like direct.Norm.
	Norm(cfg Config, x num.Vec, z *num.Array) (num.Flags, bool, error)
	// Iamax returns the index of the first entry of largest magnitude like direct.LargestIndex.
	Iamax(cfg Config, x num.Vec) (int, error)
	// Moments returns exact sums like direct.Moment.Exact.
	Moments(cfg Config, x num.Vec, list ...direct.Moment) ([]*superacc.Acc, error)
	// Scal computes alpha x_i: in z for a vector of the host, else in place, z being nil.
	Scal(cfg Config, alpha num.Real, x num.Vec, z *num.Array, count func(num.Flags)) error
	// Update computes alpha x_i y_j + a_ij: in z, by columns, for operands of the host, else in A.
	// A y without an array is the vector (1), for a column A. alpha is not 0.
	Update(cfg Config, alpha num.Real, x, y num.Vec, a num.Mat, z *num.Array, count func(num.Flags)) error
}

// Prepared is what a place keeps of a matrix of the host that enters several products.
type Prepared interface {
	Free()
}

// Panels are columns of a matrix that come from several places to one while that computes with
// those which are there.
type Panels any

// Elsewhere are parts of operands of Gemm: all of A, or none, all of B, or none, and all of C.
type Elsewhere struct {
	A, B []Block
	C    []Block
}

// A Block is a part of an operand, from a row and a column on.
type Block struct {
	Row, Col int
	M        num.Mat
}

// ErrApart is that of a Gemm that wants operands in one place, and has not changed anything.
var ErrApart = errors.New("operands are apart")

// MaxPanels is from how many places they come at most.
const MaxPanels = 16

// A Device is what a backend tells of one of its devices.
type Device struct {
	Name         string // "cuda:0"
	Model        string // as the maker calls it
	Memory       uint64 // bytes
	Architecture string // compute capability 9.0, say
	Driver       string // what the driver takes: CUDA 13.0, say
}

// A Backend is a kind of places, all of one machine.
type Backend interface {
	// Devices lists the places, or says why there are none; the error wraps ErrDevice.
	Devices() ([]Device, error)
	// Open returns the place that those numbers, of which there is at least one, make together.
	// One number makes the same place every time.
	Open(numbers ...int) (Place, error)
	// IsOpen reports whether a place has been opened and kept ready.
	IsOpen(number int) bool
	// Fit reports whether routines that choose their place themselves may use a place.
	Fit(p Place) bool

	// Prepare returns what the places keep of a matrix of the host: nothing yet.
	Prepare(m num.Mat) Prepared

	// EstimateGemm returns about how long an m x k by k x n product of matrices of the host takes,
	// and false if the place leaves it to the host.
	EstimateGemm(m, n, k int, a, b, c num.Format) (time.Duration, bool)
	// EstimateTransfer returns about how long a call takes that moves so many bytes.
	EstimateTransfer(bytes int64) time.Duration
}

// ondevice is the storage of numbers that live at a place.
type ondevice interface {
	num.Storage
	Place() Place
}

// Of returns the place where the numbers of a live, nil for the host.
func Of(a *num.Array) Place {
	if a.Away == nil {
		return nil
	}
	return a.Away.(ondevice).Place()
}
