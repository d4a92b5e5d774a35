package ozaki

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// MaxSlices is the largest number of slices.
const MaxSlices = 64

// DefaultBlock is the default length of the longest float32 sum.
const DefaultBlock = 4096

// MaxBlock is the largest length of a float32 sum: it leaves at least one bit a slice.
const MaxBlock = 1 << 22

// Options say how [Gemm] and [GemmDoubleFloat] run. Nil stands for the zero Options.
type Options struct {
	// Options has Device, Threads, Context, Progress and MemoryLimit of package halfulp. They
	// change no bit of a result, except Device where cuBLAS multiplies. Here Device "auto" is the
	// CPU, and several GPUs are an error. Method is empty or "auto": each routine is one method.
	// MemoryLimit bounds the memory of slices and sums, as far as the smallest blocks of rows and
	// columns allow; 0 stands for 1 GiB, on a GPU for most of its memory.
	halfulp.Options
	// Slices is K, the number of float32 matrices that an operand is split into, from 1 (SGEMM of
	// scaled operands) to MaxSlices. 0 stands for the smallest number that meets Tolerance.
	Slices int
	// Split selects how operands are split into slices: Scaled, or Literal as in the paper.
	Split Split
	// Tolerance is the required bound where Slices is 0: the error of entry (i, j) is at most
	// Tolerance (|α| ‖row i of op(A)‖₂ ‖column j of op(B)‖₂ + |β c_ij|), underflow of the result
	// aside. It should be at least 2^-51: since results are rounded to float64, a smaller one is
	// not met.
	Tolerance float64
	// Block is the length of the longest float32 sum, at most MaxBlock; 0 stands for DefaultBlock.
	// Longer products are cut into blocks, which are added in float64. Shorter blocks give wider
	// slices, hence smaller errors, and cost more additions.
	Block int
	// Bound, if not nil, receives an upper bound on the error of each entry: 0 for an infinity or
	// NaN that comes from infinities or NaN in A and B, +Inf for one that comes from C or from
	// overflow. It is a Float64 matrix of the shape of C that shares no storage with the others,
	// and lives where C does or on the host.
	Bound *halfulp.Matrix
	// Stats, if not nil, receives the statistics of the product, including those about slices.
	// Stats of the halfulp.Options, if not nil, receives the same without those about slices.
	Stats *Stats
	// SGEMM selects the product of float32 matrices on a GPU: "cublas"; "own", which gives the bits
	// of the CPU; or "auto" (or empty), which is cuBLAS where it is available.
	SGEMM string
}

// ErrTolerance is wrapped by the error for a Tolerance that MaxSlices slices do not meet.
var ErrTolerance = errors.New("tolerance not met")

// Validate returns an error unless products can run with these options, like Validate of
// halfulp.Options: [halfulp.ErrOptions] for numbers out of range, halfulp.ErrMethod for an unknown
// Method or SGEMM, halfulp.ErrDevice for a Device that does not exist, or the error of a cancelled
// context. It opens the device. It does not check whether cuBLAS is available, nor the requirement
// of Gemm that Slices or Tolerance is set. Nil is valid.
func (o *Options) Validate() error {
	r, err := newRun(o, true)
	if err == nil {
		_, err = r.device()
	}
	if err == nil {
		err = r.ctx.Err()
	}
	return err
}

// Stats describes how a product ran. Device and Threads say where. Method is "ozaki",
// "ozaki-literal" or "double-float". Kernel is the product of float32 matrices that was used,
// Products the number of such products, and Blocks the number of parts of the result. Stages are
// "split", "products" and "sum". The other fields of halfulp.Stats stay 0.
type Stats struct {
	halfulp.Stats
	Slices  int `json:"slices,omitempty"`  // K
	Bits    int `json:"bits,omitempty"`    // α, bits a slice
	Block   int `json:"block,omitempty"`   // longest float32 sum
	Skipped int `json:"skipped,omitempty"` // products with slices of zeros, left out
}

// run is a running product.
type run struct {
	Options
	double   bool // in double-float arithmetic
	ctx      context.Context
	threads  int
	sgemm    place.SGEMM
	where    place.Name // of Options.Device
	stats    Stats
	at       place.Place // where it runs; nil for the CPU
	resident bool        // its operands live there

	alpha, beta      float64
	left, right, out num.Mat // op(A), op(B), C
	bounds           num.Mat // of Options.Bound; without an array if there is none

	// On the CPU:
	kernel             *sgemm.Kernel
	a, b               vectors
	c                  array
	bound              *array // of Options.Bound
	maxA, maxB         []float64
	expA, expB         []int
	specialA, specialB [][]int

	width            int     // bits of a slice
	tau              float64 // bound on the loss by underflow of literal slices
	mu               *sync.Mutex
	done, work, told float64 // entries, and the share of them, for Progress
}

// The stages of a product.
const (
	splitting = iota
	multiplying
	summing
)

// newRun checks opt, of the device its name, and fills in the defaults.
func newRun(opt *Options, double bool) (*run, error) {
	r := &run{double: double, ctx: context.Background(), mu: new(sync.Mutex)}
	if opt != nil {
		r.Options = *opt
	}
	switch {
	case r.Slices < 0 || r.Slices > MaxSlices:
		return nil, fmt.Errorf("%w: %d slices, want up to %d", halfulp.ErrOptions, r.Slices, MaxSlices)
	case r.Block < 0 || r.Block > MaxBlock:
		return nil, fmt.Errorf("%w: sums of %d products, want up to %d", halfulp.ErrOptions, r.Block, MaxBlock)
	case r.Split != Scaled && r.Split != Literal:
		return nil, fmt.Errorf("%w: there is no split %d", halfulp.ErrOptions, r.Split)
	case !double && r.Split == Literal && (r.Slices == 0 || r.Block != 0):
		return nil, fmt.Errorf("%w: the literal split takes a number of slices, and no Block", halfulp.ErrOptions)
	case !double && r.Slices == 0 && !(r.Tolerance > 0):
		return nil, fmt.Errorf("%w: neither Slices nor a positive Tolerance", halfulp.ErrOptions)
	case r.Check:
		return nil, fmt.Errorf("option Check: %w: package ozaki has no residues to check", halfulp.ErrMethod)
	case r.Method != "" && r.Method != place.Auto:
		return nil, fmt.Errorf("method %q: %w: package ozaki has a routine for each method (want auto)", r.Method, halfulp.ErrMethod)
	}
	switch r.SGEMM {
	case "", "auto":
	case "own":
		r.sgemm = place.OwnSGEMM
	case "cublas":
		r.sgemm = place.LibrarySGEMM
	default:
		return nil, fmt.Errorf("SGEMM %q: %w (want auto, cublas or own)", r.SGEMM, halfulp.ErrMethod)
	}
	var err error
	if r.where, err = place.ParseName(string(r.Device)); err != nil {
		return nil, err
	}
	switch {
	case !double && r.Split == Literal:
		r.Block = MaxBlock
	case r.Block == 0:
		r.Block = DefaultBlock
	}
	if r.Context != nil {
		r.ctx = r.Context
	}
	r.threads = runtime.GOMAXPROCS(0)
	if r.Threads > 0 {
		r.threads = min(r.Threads, 4*r.threads+16)
	}
	r.stats.Device, r.stats.Method, r.stats.Threads = place.Host, "ozaki", r.threads
	switch {
	case double:
		r.stats.Method = "double-float"
	case r.Split == Literal:
		r.stats.Method = "ozaki-literal"
	}
	r.stats.Stages = []halfulp.Stage{{Name: "split"}, {Name: "products"}, {Name: "sum"}}
	return r, nil
}

// multiplies reports whether there is something to multiply.
func (r *run) multiplies() bool { return r.alpha != 0 && r.left.Cols > 0 }

// needsSlices reports whether the number of slices has to be chosen.
func (r *run) needsSlices() bool { return !r.double && r.Slices == 0 && r.multiplies() }

// advance reports that a block of k is done for so many entries of C.
func (r *run) advance(entries int) {
	if r.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += float64(entries)
	r.tell(r.done / r.work)
}

// tell reports the share of the work that is done.
func (r *run) tell(done float64) {
	if r.Progress != nil && done > r.told {
		r.told = done
		r.Progress(done)
	}
}

// stage adds the time since start to a stage and returns the current time.
func (r *run) stage(i int, start time.Time) time.Time {
	now := time.Now()
	r.stats.Stages[i].Time += now.Sub(start)
	return now
}
