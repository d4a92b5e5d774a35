package ozaki

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// MaxSlices is the largest number of slices.
const MaxSlices = 64

// DefaultBlock is the largest length of a float32 sum where Options name none.
const DefaultBlock = 4096

// MaxBlock is the largest length of a float32 sum: at least one bit a slice is left.
const MaxBlock = 1 << 22

// Options say how [Gemm] runs. Nil stands for the zero Options.
type Options struct {
	// Slices is K, the number of float32 matrices that an operand is split into, from 1
	// (SGEMM of scaled operands) to MaxSlices. 0 stands for the smallest that meets
	// Tolerance.
	Slices int
	// Tolerance is the wished bound where Slices is 0: the error of entry (i, j) is at most
	// Tolerance (|α| ‖row i of op(A)‖₂ ‖column j of op(B)‖₂ + |β c_ij|), underflow of the result
	// aside. It is at least 2^-51, for results are rounded to float64.
	Tolerance float64
	// Block is the length of the longest float32 sum, at most MaxBlock; 0 stands for
	// DefaultBlock. Longer products are cut in blocks, added in float64. Shorter blocks give
	// wider slices, hence smaller errors, and cost more additions.
	Block int
	// Bound, if not nil, receives an upper bound of the error of each entry: 0 for an infinity or
	// NaN that comes from those of A and B, +Inf for one that comes from C or from overflow. It
	// is a Float64 matrix of the shape of C that shares no storage with the others.
	Bound *halfulp.Matrix
	// Device is "cpu" (or empty) or "cuda:N", NVIDIA GPU number N.
	Device string
	// SGEMM says what multiplies float32 matrices on a GPU: "cublas", "own", whose products have
	// the bits of the CPU's, or "auto" (or empty), cuBLAS where there is one.
	SGEMM string
	// Threads is the largest number of threads; 0 or less means GOMAXPROCS. More than
	// 4 GOMAXPROCS + 16 are never used. It never changes a result.
	Threads int
	// MemoryLimit bounds the memory of slices in bytes, as far as the smallest blocks of rows
	// and columns allow; 0 stands for 1 GiB, on a GPU for most of what is there. It never
	// changes a result.
	MemoryLimit int64
	// Context cancels a product; the error is the context's, and C is then unspecified.
	Context context.Context
	// Progress, if not nil, is called with the share of the work done, from one goroutine at a
	// time, on the CPU.
	Progress func(done float64)
}

// ErrTolerance is wrapped by the error for a Tolerance that MaxSlices do not meet.
var ErrTolerance = errors.New("tolerance not met")

// Stats tells how a product ran.
type Stats struct {
	Device   string          `json:"device"`             // cpu or cuda:N
	Slices   int             `json:"slices,omitempty"`   // K
	Bits     int             `json:"bits,omitempty"`     // α, bits a slice
	Block    int             `json:"block,omitempty"`    // longest float32 sum
	Products int             `json:"products,omitempty"` // float32 matrix products done
	Skipped  int             `json:"skipped,omitempty"`  // products with slices of zeros, left out
	Parts    int             `json:"parts"`              // parts that the result was cut into
	Kernel   string          `json:"kernel,omitempty"`   // float32 kernel
	Threads  int             `json:"threads"`            // threads used at most
	Stages   []halfulp.Stage `json:"stages,omitempty"`   // splitting, products, sums
}

// run is one product under way.
type run struct {
	Options
	ctx                context.Context
	threads            int
	stats              Stats
	gpu                *cuda.Device // nil for the CPU
	kernel             *sgemm.Kernel
	alpha, beta        float64
	a, b               vectors
	c                  array
	bound              *array // of Options.Bound
	expA, expB         []int
	specialA, specialB [][]int
	width              int // bits of a slice
	mu                 *sync.Mutex
	done, work         float64 // entries, for Progress
}

// The stages of a product.
const (
	splitting = iota
	multiplying
	summing
)

// newRun checks o and fills in the defaults.
func newRun(o *Options) *run {
	r := &run{ctx: context.Background(), mu: new(sync.Mutex)}
	if o != nil {
		r.Options = *o
	}
	if r.Slices < 0 || r.Slices > MaxSlices {
		panic(errSlices)
	}
	if r.Block < 0 || r.Block > MaxBlock {
		panic(errBlock)
	}
	if r.Block == 0 {
		r.Block = DefaultBlock
	}
	if r.Context != nil {
		r.ctx = r.Context
	}
	r.threads = runtime.GOMAXPROCS(0)
	if r.Threads > 0 {
		r.threads = min(r.Threads, 4*r.threads+16)
	}
	r.stats.Device, r.stats.Threads = "cpu", r.threads
	r.stats.Stages = []halfulp.Stage{{Name: "split"}, {Name: "products"}, {Name: "sum"}}
	return r
}

// advance tells of entries of C that a block of k is done for.
func (r *run) advance(entries int) {
	if r.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += float64(entries)
	r.Progress(r.done / r.work)
}

// stage adds the time since start to a stage and returns now.
func (r *run) stage(i int, start time.Time) time.Time {
	now := time.Now()
	r.stats.Stages[i].Time += now.Sub(start)
	return now
}
