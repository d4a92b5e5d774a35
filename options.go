package halfulp

import (
	"context"
	"errors"
	"time"

	"github.com/halfulp/halfulp/cuda"
)

// Transpose says whether a routine reads a matrix or its transpose.
type Transpose byte

// The values of Transpose. ConjTrans equals Trans, numbers being real.
const (
	NoTrans   Transpose = 'N'
	Trans     Transpose = 'T'
	ConjTrans Transpose = 'C'
)

// Uplo says which triangle of a matrix a routine reads and writes. The other one is neither
// read nor written.
type Uplo byte

// The values of Uplo.
const (
	Upper Uplo = 'U'
	Lower Uplo = 'L'
)

// Side says on which side of a product a symmetric or triangular matrix stands.
type Side byte

// The values of Side.
const (
	Left  Side = 'L'
	Right Side = 'R'
)

// Diag says whether the diagonal of a triangular matrix is stored.
type Diag byte

// The values of Diag. With Unit the diagonal is all ones, and what is stored there is not read.
const (
	NonUnit Diag = 'N'
	Unit    Diag = 'U'
)

// Options change how a routine runs, never a bit of its result. A nil *Options
// stands for the defaults.
type Options struct {
	// Device is "auto" (or empty), "cpu" or "cuda:N", NVIDIA GPU number N. "auto" is
	// the CPU, but for sums, Gemv and products of matrices that are estimated to take
	// less time on GPU 0, transfers and its opening included. GPUs run all routines but
	// Copy, Swap, Trsv and those of rotations, which the CPU runs in their place.
	//
	// Several GPUs are numbers and ranges between commas, "cuda:0,2" or "cuda:0-3",
	// or "cuda:all". The routines of level 3 cut the result into parts, which they
	// compute side by side; the other routines run on the first.
	Device string
	// Threads is the largest number of threads; 0 or less means GOMAXPROCS. More
	// than 4 GOMAXPROCS + 16 are never used.
	Threads int
	// Method is the algorithm: "auto" (or empty), "residue" (products modulo
	// small moduli on SIMD integer units) or "direct" (multi-limb arithmetic
	// into exact accumulators).
	Method string
	// Context cancels a routine; its error is the context's.
	Context context.Context
	// Progress, if not nil, is called now and then with the share of the work
	// done, which rises up to 1, from one goroutine at a time. On GPUs it is called
	// on their threads: it must not call routines that run there.
	Progress func(done float64)
	// MemoryLimit bounds the working memory in bytes; 0 means half of the
	// machine's. Larger products run in blocks. On a GPU it bounds what a product
	// takes there beside its operands; 0 means most of what is there.
	MemoryLimit int64
}

// ErrDevice is wrapped by errors about devices that do not exist.
var ErrDevice = cuda.ErrNoDevice

// ErrMethod is wrapped by errors about methods that do not exist or do not
// apply.
var ErrMethod = errors.New("no such method")

// ErrMemory is wrapped by errors about products that cannot fit the memory
// allowed even in the smallest blocks.
var ErrMemory = errors.New("not enough memory")

// Stats tells how a routine ran.
type Stats struct {
	Device    string  `json:"device"`             // cpu, cuda:N or cuda:N,M
	Method    string  `json:"method"`             // algorithm that ran
	Kernel    string  `json:"kernel,omitempty"`   // small-integer kernel
	Threads   int     `json:"threads"`            // threads used at most
	Moduli    int     `json:"moduli,omitempty"`   // moduli of the residue base
	Products  int64   `json:"products,omitempty"` // small-integer matrix products done
	WidthA    int     `json:"width_a,omitempty"`  // bits of the left operand's integers
	WidthB    int     `json:"width_b,omitempty"`  // bits of the right operand's integers
	Blocks    int     `json:"blocks,omitempty"`   // blocks that the result was cut into
	Exact     int64   `json:"exact_pass"`         // entries that needed the exact second pass
	Overflow  int64   `json:"overflow"`           // finite results that became infinite
	Underflow int64   `json:"underflow"`          // results that lost bits below the smallest normal number
	Stages    []Stage `json:"stages,omitempty"`   // time a stage, added up over several GPUs
}

// Stage is the wall-clock time of one stage of a routine.
type Stage struct {
	Name string        `json:"name"`
	Time time.Duration `json:"ns"`
}
