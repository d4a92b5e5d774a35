package halfulp

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
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
	// Device says where a routine runs whose operands live on the host: "auto" (or empty), "cpu" or
	// "cuda:N", NVIDIA GPU number N. "auto" is the CPU, but for sums, Gemv and products of matrices
	// that are estimated to take less time on GPU 0, transfers and its opening included. What
	// devices do not have the CPU runs in their place: see the package documentation. Operands that
	// live on a device say themselves where a routine runs.
	//
	// Several GPUs are numbers and ranges between commas, "cuda:0,2" or "cuda:0-3", or "cuda:all".
	// The routines of level 3 cut the result into parts, which they compute side by side; the other
	// routines run on the first. Operands that live on several GPUs are another matter: see Places
	// in the package documentation.
	Device Device
	// Threads is the largest number of threads; 0 or less means GOMAXPROCS. More
	// than 4 GOMAXPROCS + 16 are never used.
	Threads int
	// Method is the algorithm: "auto" (or empty), "residue" (products modulo
	// small moduli on SIMD integer units) or "direct" (sums of products from
	// their leading digits, and multi-limb arithmetic into exact accumulators).
	Method string
	// Context cancels a routine; its error is the context's.
	Context context.Context
	// Progress, if not nil, is called now and then with the share of the work
	// done, which rises up to 1, from one goroutine at a time; package linsolve
	// says when it falls there, or is 0 because it is not known. On GPUs it is
	// called on their threads: it must not call routines that run there.
	Progress func(done float64)
	// MemoryLimit bounds the working memory in bytes, beside operands and results; 0 means
	// [DefaultMemoryLimit]. Larger products run in blocks, and package linsolve chooses methods
	// that keep to it, or fails with an error that names the bytes it needs. On a GPU it bounds
	// what a product takes there beside its operands; 0 means most of what is there.
	MemoryLimit int64
	// Check watches the hardware: products of matrices run by the method "residue" with one modulus
	// more than they need, the redundant one, and the integer of every entry is compared with the
	// product modulo that. A difference is a [HardwareError], and there is no result then. Any
	// fault in the residues of one modulus, of a factor or of the product, is found, and any
	// flipped bit in a sum of the reconstruction; of several faults in one entry that are random
	// all but one in some 8000 or more. Nothing finds faults in what all moduli share: the operands
	// and their digits, and the rounding of the integer to the result. Stats.Check says what was
	// compared and what not: the arithmetic modulo primes of package linsolve, which decides ties
	// and gives determinants that no elimination does, is not. Gemm, Symm, Syrk, Syr2k, Trmm and
	// package linsolve, as far as that consists of products of matrices, are checked, wherever they
	// run; the other routines, the method "direct" and the other packages refuse it with an error
	// that wraps ErrMethod. No bit of a result changes.
	Check bool
	// Stats, if not nil, receives how the routine ran, after an error as far as it went. It is left
	// as it was by a routine that its arguments or options keep from running. Every routine
	// overwrites it: routines that run at the same time need one each, see [Options.WithStats].
	Stats *Stats
}

// WithStats returns a copy of o, which may be nil, whose Stats are st.
func (o *Options) WithStats(st *Stats) *Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Stats = st
	return &c
}

// report stores the statistics of a routine that has ended where o asks for them, and returns err.
func (o *Options) report(st Stats, err error) error {
	if o != nil && o.Stats != nil {
		*o.Stats = st
	}
	return err
}

// Validate returns an error unless a routine can run with these options: for a device that does not
// exist or that this program is not built for, which is opened, an unknown method, or a context
// that is cancelled. Nil is valid.
func (o *Options) Validate() error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	var at place.Place
	if s.Device.IsPlace() {
		if at, err = s.Device.Open(); err != nil {
			return err
		}
	}
	return place.Ended(s.Ctx, at)
}

// ErrMethod is wrapped by errors about methods that do not exist or do not
// apply.
var ErrMethod = product.ErrMethod

// ErrMemory is wrapped by errors about products that cannot fit the memory
// allowed even in the smallest blocks.
var ErrMemory = product.ErrMemory

// Stats says how a routine ran. A routine of package linsolve counts in Exact the entries that only
// exact arithmetic decided, and in Underflow those that lost bits below the smallest normal number,
// as far as enclosures tell; it says in Proof what its result rests on.
type Stats struct {
	Device   string `json:"device"`             // cpu, cuda:N, cuda:N,M or mpi:PxQ
	Method   string `json:"method"`             // algorithm that ran
	Kernel   string `json:"kernel,omitempty"`   // small-integer kernel
	Threads  int    `json:"threads"`            // threads used at most
	Moduli   int    `json:"moduli,omitempty"`   // moduli of the residue base
	Products int64  `json:"products,omitempty"` // small-integer matrix products done
	WidthA   int    `json:"width_a,omitempty"`  // bits of the left operand's integers
	WidthB   int    `json:"width_b,omitempty"`  // bits of the right operand's integers
	Blocks   int    `json:"blocks,omitempty"`   // blocks that the result was cut into
	Exact    int64  `json:"exact_pass"`         // entries that needed the exact second pass
	Overflow int64  `json:"overflow"`           // finite results that became infinite
	// results that lost bits below the smallest normal number
	Underflow int64   `json:"underflow"`
	Stages    []Stage `json:"stages,omitempty"` // time a stage, added up over several GPUs
	// what Options.Check compared; nil where it was not asked for or is not known
	Check *Check `json:"check,omitempty"`
	// how far the solution of a linear system can be trusted, where that was asked for
	Condition *Condition `json:"condition,omitempty"`
	// for products of matrices that processes share, where each of them multiplied
	Processes []string `json:"processes,omitempty"`
	// what proved a result of package linsolve
	Proof `json:"linsolve,omitzero"`
}

// Proof is what a result of package linsolve rests on.
type Proof struct {
	// Cond is a bound of the condition number ‖F‖ ‖F^-1‖ in the maximum norm, three digits, for the
	// matrix F that powers of two before and behind A bring near 1. With one right-hand side and
	// orders around 1000 it may be larger by four digits. It is empty where no approximate inverse
	// was made, as solutions in rational numbers need none.
	Cond   string  `json:"scaled_condition_at_most,omitempty"`
	Rounds int     `json:"decompositions,omitempty"` // float64, for the inverse
	Rho    Measure `json:"rho,omitempty"`            // bound of ‖I - R A‖
	Steps  int     `json:"steps,omitempty"`          // of refinement
	// bits that were worked with last
	Precision int `json:"precision,omitempty"`
	Primes    int `json:"primes,omitempty"`        // modulo which A was decomposed
	Solved    int `json:"exact_columns,omitempty"` // columns that solve the system exactly
	// zeros and ties in others, by p-adic digits
	Ties int `json:"exact_entries,omitempty"`
	// p-adic digits of these, and of solutions in rational numbers
	Digits    int `json:"p_adic_digits,omitempty"`
	Undecided int `json:"undecided,omitempty"` // entries of Expm that seem to be 0 or ties
}

// ErrHardware is wrapped by errors about results that contradict their redundant modulus, see
// Options.Check, and about those of package linsolve that contradict a theorem.
var ErrHardware = residue.ErrHardware

// HardwareError names the entry of a product, as it ran within a routine, that contradicts its
// redundant modulus. It wraps [ErrHardware].
type HardwareError = residue.HardwareError

// Check says what Options.Check compared.
type Check struct {
	Modulus  int   `json:"modulus"`  // redundant modulus; 0 if nothing was computed by residues
	Compared int64 `json:"compared"` // entries of products that were compared
	// entries whose values come from multi-limb arithmetic, which nothing checks: those of the
	// exact pass, and all of a product to which residues do not apply
	Unchecked int64 `json:"unchecked"`
}

// Measure is a number in statistics. JSON has it as a number, or as one of the strings "inf",
// "-inf" and "nan".
type Measure float64

// MarshalJSON implements json.Marshaler.
func (m Measure) MarshalJSON() ([]byte, error) {
	if x := float64(m); math.IsInf(x, 0) || x != x {
		return json.Marshal(Float(x).String())
	}
	return json.Marshal(float64(m))
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Measure) UnmarshalJSON(data []byte) error {
	text, err := jsonText(data)
	if err != nil || text == nil {
		return err
	}
	x, err := ParseScalar(Float64, string(text))
	if err != nil {
		return err
	}
	*m = Measure(x.Float64())
	return nil
}

// Condition is an estimate of how far the solution X of a linear system A X = B can be trusted: see
// SolveOptions.Estimate of package expansion.
type Condition struct {
	// Number is the condition number ‖D⁻¹ A C⁻¹‖ ‖C A⁻¹ D‖ in the Frobenius norm: C are powers of
	// two about the 2-norms of the columns of A, and D the 2-norms of the rows of A C⁻¹. It is at
	// most math.MaxFloat64. Where Digits is 0 it may be too small by any factor.
	Number Measure `json:"number"`
	// Error is the largest error of an entry of X, relative to the largest entry of its column;
	// 1 if nothing is known of it.
	Error Measure `json:"error"`
	// Digits is how many decimal digits of X that leaves, ⌊-log10 Error⌋.
	Digits int `json:"digits"`
}

// Stage is the wall-clock time of one stage of a routine.
type Stage struct {
	Name string        `json:"name"`
	Time time.Duration `json:"ns"`
}
