package halfulp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// Transpose selects the matrix or its transpose as an operand.
type Transpose byte

// The values of Transpose. ConjTrans equals Trans, as numbers are real.
const (
	NoTrans   Transpose = 'N'
	Trans     Transpose = 'T'
	ConjTrans Transpose = 'C'
)

// Uplo selects the triangle of a matrix that a routine reads and writes. The other triangle is
// neither read nor written.
type Uplo byte

// The values of Uplo.
const (
	Upper Uplo = 'U'
	Lower Uplo = 'L'
)

// Side selects the side of a product on which a symmetric or triangular matrix stands.
type Side byte

// The values of Side.
const (
	Left  Side = 'L'
	Right Side = 'R'
)

// Diag says whether the diagonal of a triangular matrix is stored.
type Diag byte

// The values of Diag. With Unit every diagonal entry is 1, and the stored diagonal is not read.
const (
	NonUnit Diag = 'N'
	Unit    Diag = 'U'
)

// Norm selects a norm of vectors or matrices.
type Norm byte

// The values of Norm. The norms of a vector are OneNorm, ‖x‖₁ = ∑ |x_i|, and InfNorm, ‖x‖_∞ = max
// |x_i|. The norms of a matrix are OneNorm, the largest sum of magnitudes of a column, and InfNorm,
// the largest sum of magnitudes of a row.
const (
	OneNorm Norm = '1'
	InfNorm Norm = 'I'
)

// Method names an algorithm, in [Options] and in [Stats].
type Method string

// The methods of this package. Packages expansion, ozaki and rns have further ones; Stats names
// them, and Options selects the methods of expansion. Routines of package linsolve have no method
// of their own: Options selects the method of their matrix products, and Stats says "solve".
const (
	AutoMethod Method = "auto" // the method that is estimated to take less time
	// Residue multiplies matrices modulo small moduli, on SIMD integer units or tensor cores.
	Residue Method = methodResidue
	// Direct adds up products: from their leading digits if these decide the rounding, otherwise in
	// multi-limb arithmetic into exact accumulators.
	Direct Method = methodDirect
)

// Options change how a routine runs, never a bit of its result. A nil *Options
// stands for the defaults.
type Options struct {
	// Device selects where a routine runs whose operands live on the host: "auto" (or empty), "cpu"
	// or "cuda:N", NVIDIA GPU number N. "auto" is the CPU, except for sums, Gemv and products of
	// matrices that are estimated to take less time on GPU 0, including transfers and the opening
	// of the device. "mpi:PxQ" is a grid of processes: see package distributed. Cases that devices
	// do not support run on the CPU: see the package documentation. Operands that live on a device
	// determine where the routine runs, whatever Device says.
	//
	// Several GPUs are named by numbers and ranges between commas, "cuda:0,2" or "cuda:0-3", or by
	// "cuda:all". The routines of level 3 cut the result into parts, one for each GPU, and compute
	// them at the same time. The other routines run on the first GPU. For operands that live on
	// several GPUs see Devices in the package documentation.
	Device Device
	// Threads is the largest number of threads; 0 or less means GOMAXPROCS. At most 4 GOMAXPROCS +
	// 16 threads are used.
	Threads int
	// Method selects the algorithm: [AutoMethod] (or empty), [Residue] or [Direct].
	Method Method
	// Context cancels a routine, which then returns the error of the context.
	Context context.Context
	// Progress, if not nil, is called now and then with the fraction of the work that is done,
	// which rises to 1, from one goroutine at a time. Package linsolve documents when its routines
	// report a fraction that falls, or 0 because the fraction is unknown. Routines on GPUs call
	// Progress on their own threads: it must not call routines that run there.
	Progress func(done float64)
	// MemoryLimit bounds the working memory in bytes, not counting operands and results; 0 means
	// [DefaultMemoryLimit]. Larger products run in blocks. Package linsolve chooses methods that
	// keep to the limit, or returns an error that names the bytes it needs. On a GPU MemoryLimit
	// bounds the memory of a product in addition to its operands; 0 means most of the GPU's memory.
	MemoryLimit int64
	// Check detects hardware faults. Matrix products by the method [Residue] run with one modulus
	// more than they need, the redundant modulus, and the integer of every entry is compared with
	// the product modulo the redundant modulus. If they differ the routine returns a
	// [HardwareError] and no result. The comparison finds any fault in the residues of one modulus,
	// of a factor or of the product, and any flipped bit in a sum of the reconstruction. Of random
	// cases of several faults in one entry, it misses about one in 8000 or fewer. It cannot find
	// faults in what all moduli share: the operands and their digits, and the rounding of the
	// integer to the result.
	//
	// Stats.Check reports how many entries were compared and how many were not. Package linsolve's
	// arithmetic modulo primes, which decides ties and computes determinants that no elimination
	// gives, is not checked. Gemm, Symm, Syrk, Syr2k, Trmm and the matrix products within package
	// linsolve are checked, wherever they run. The other routines, the method [Direct] and the
	// other packages return an error that wraps ErrMethod. Check changes no bit of a result.
	Check bool
	// Stats, if not nil, receives how the routine ran; after an error it covers the work done so
	// far. It is unchanged if the arguments or options keep the routine from running. Every routine
	// overwrites it: routines that run at the same time need one each, see [Options.WithStats].
	Stats *Stats
}

// WithStats returns a copy of o, which may be nil, with Stats set to st.
func (o *Options) WithStats(st *Stats) *Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Stats = st
	return &c
}

// report stores st, the statistics of a finished routine, in o.Stats if that is given. It returns
// err.
func (o *Options) report(st Stats, err error) error {
	if o != nil && o.Stats != nil {
		*o.Stats = st
	}
	return err
}

// Validate returns an error unless a routine can run with these options. Errors are an unknown
// method, a cancelled context, and a device that does not exist or that this program is not built
// for. Validate opens the device. Nil is valid.
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

// ErrMethod is wrapped by errors about methods that do not exist or do not apply.
var ErrMethod = product.ErrMethod

// ErrOptions is wrapped by errors about numbers in the options of packages expansion, ozaki and rns
// that are out of range or do not fit together.
var ErrOptions = errors.New("invalid options")

// ErrMemory is wrapped by errors about products that cannot fit the memory allowed even in the
// smallest blocks, and about matrices, vectors and exact numbers that do not fit.
var ErrMemory = product.ErrMemory

// Stats describes how a routine ran. For package linsolve, Exact counts the entries that only exact
// arithmetic decided. Underflow counts the entries that lost bits below the smallest normal number,
// as far as enclosures show it. Proof describes the evidence for the result.
type Stats struct {
	Device   string `json:"device"`             // cpu, cuda:N, cuda:N,M or mpi:PxQ
	Method   Method `json:"method"`             // algorithm that ran
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
	// comparisons of Options.Check; nil if not requested or not known
	Check *Check `json:"check,omitempty"`
	// how far the solution of a linear system can be trusted, if that was requested
	Condition *Condition `json:"condition,omitempty"`
	// for matrix products shared by processes: the device that each process multiplied on
	Processes []string `json:"processes,omitempty"`
	// evidence for a result of package linsolve
	Proof `json:"linsolve,omitzero"`
}

// Proof describes the evidence for a result of package linsolve.
type Proof struct {
	// Cond is a bound, with three digits, of the condition number ‖F‖ ‖F^-1‖ in the maximum norm. F
	// is the matrix A scaled from both sides by powers of two that bring it near 1. With one
	// right-hand side and orders around 1000 the bound may be larger by four digits. Cond is empty
	// if no approximate inverse was computed; solutions in rational numbers need none.
	Cond   string  `json:"scaled_condition_at_most,omitempty"`
	Rounds int     `json:"decompositions,omitempty"` // float64, for the inverse
	Rho    Measure `json:"rho,omitempty"`            // bound of ‖I - R A‖
	Steps  int     `json:"steps,omitempty"`          // of refinement
	// working precision of the last step, in bits
	Precision int `json:"precision,omitempty"`
	Primes    int `json:"primes,omitempty"`        // modulo which A was decomposed
	Solved    int `json:"exact_columns,omitempty"` // columns that solve the system exactly
	// zeros and ties in other columns, found by p-adic digits
	Ties int `json:"exact_entries,omitempty"`
	// p-adic digits computed for Ties and for solutions in rational numbers
	Digits    int `json:"p_adic_digits,omitempty"`
	Undecided int `json:"undecided,omitempty"` // entries that seem to be 0 or ties
}

// ErrHardware is wrapped by errors about results that contradict their redundant modulus, see
// Options.Check, and about results of package linsolve that contradict a theorem.
var ErrHardware = residue.ErrHardware

// HardwareError names the entry of a product that contradicts its redundant modulus. Row and column
// refer to the product as it ran within the routine. The error wraps [ErrHardware].
type HardwareError = residue.HardwareError

// Check reports the comparisons that Options.Check made.
type Check struct {
	Modulus  int   `json:"modulus"`  // redundant modulus; 0 if nothing was computed by residues
	Compared int64 `json:"compared"` // entries of products that were compared
	// entries computed in multi-limb arithmetic, which is not checked: the entries of the exact
	// pass, and all entries of a product to which residues do not apply
	Unchecked int64 `json:"unchecked"`
}

// Measure is a number in statistics. Its JSON form is a number, or one of the strings "inf", "-inf"
// and "nan".
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
	// Number is the condition number ‖D⁻¹ A C⁻¹‖ ‖C A⁻¹ D‖ in the Frobenius norm. The diagonal
	// entries of C are powers of two near the 2-norms of the columns of A, and the diagonal entries
	// of D are the 2-norms of the rows of A C⁻¹. Number is at most math.MaxFloat64. If Digits is 0
	// it may be too small by any factor.
	Number Measure `json:"number"`
	// Error is the largest error of an entry of X, relative to the largest entry of its column; 1
	// if nothing is known about it.
	Error Measure `json:"error"`
	// Digits is the number of decimal digits of X that Error leaves, ⌊-log10 Error⌋.
	Digits int `json:"digits"`
}

// Stage is the wall-clock time of one stage of a routine.
type Stage struct {
	Name string        `json:"name"`
	Time time.Duration `json:"ns"`
}
