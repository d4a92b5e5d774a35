package product

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// A way is a method of computing products on certain hardware.
type way struct {
	name string
	// applies returns nil, or the reason why the way does not apply to the request.
	applies func(r *request) error
	// estimate returns the approximate time of run for numbers of similar size.
	estimate func(r *request) time.Duration
	run      func(r *request) (residue.Stats, error)
	// leaves reports whether another way should compute a product for which run returned err; run
	// has then written nothing to C.
	leaves func(r *request, err error) bool
}

// ways lists all ways. Their results have the same bits.
var ways = []way{
	// A matrix times vectors, which are the columns of B or the rows of A: leading digits, then
	// exact sums.
	{"columns", appliesColumns, estimateColumns, runColumns, leavesNever},
	// Entries one by one in exact accumulators.
	{"entries", appliesDirect, estimateEntries, runEntries, leavesNever},
	// Integers modulo small moduli.
	{"residue", appliesResidue, estimateResidue, runResidue, leavesResidue},
	// Integers modulo small moduli on a device.
	{"device", appliesDevice(1, 1), estimateDevice, runDevice, leavesDevice},
	// The same on several devices, by parts of the result.
	{"devices", appliesDevice(2, 1<<30), estimateDevice, runDevice, leavesDevice},
}

// Ways returns the names of all ways.
func Ways() []string {
	names := make([]string, len(ways))
	for i, w := range ways {
		names[i] = w.name
	}
	return names
}

// errOther means that a way is not applicable: another method or device was requested, or there is
// nothing to multiply.
var errOther = fmt.Errorf("gemm: %w: not for what was asked", ErrMethod)

// ErrDirect rejects the direct method on a device.
var ErrDirect = fmt.Errorf("gemm: method %q: %w: GPUs have the residue method only", Direct, ErrMethod)

// errRange means that only the direct method applies, but the residue method was requested.
var errRange = fmt.Errorf("gemm: %w: method residue does not reach this precision, spread of exponents or alpha", ErrMethod)

func leavesNever(*request, error) bool { return false }

// appliesDirect is the applies of ways of the direct method.
func appliesDirect(r *request) error {
	switch {
	case r.force != "", r.trivial() && !r.Asked:
		return nil
	case r.Asked, r.Method == Residue:
		return errOther
	}
	return nil
}

func appliesColumns(r *request) error {
	if r.trivial() {
		return errOther
	}
	return appliesDirect(r)
}

func estimateColumns(r *request) time.Duration {
	if r.Alpha.Class != num.Finite || r.Check {
		return never
	}
	return direct.EstimateGemm(r.Threads, r.rows(), r.C.Cols, r.A.Cols, r.A.Arr.Format, r.B.Arr.Format, r.C.Arr.Format, true)
}

func estimateEntries(r *request) time.Duration {
	switch {
	case r.trivial():
		return 0
	case r.Check:
		return never
	}
	return direct.EstimateEntries(r.Threads, r.rows(), r.C.Cols, r.A.Cols, r.A.Arr.Format, r.B.Arr.Format)
}

// rows returns the number of rows that, with all columns, have as many entries as are computed.
func (r *request) rows() int {
	if r.Triangle != 0 {
		return (r.C.Rows + 1) / 2
	}
	return r.C.Rows
}

func runColumns(r *request) (residue.Stats, error) {
	return r.direct("columns", func(w direct.Work, p direct.Product, count func(num.Flags)) (int64, error) {
		return direct.Gemm(w, p, r.Memory, count)
	})
}

func runEntries(r *request) (residue.Stats, error) {
	return r.direct("entries", func(w direct.Work, p direct.Product, count func(num.Flags)) (int64, error) {
		return 0, direct.Entries(w, p, count)
	})
}

// direct runs a way of the direct method.
func (r *request) direct(name string, run func(w direct.Work, p direct.Product, count func(num.Flags)) (int64, error)) (residue.Stats, error) {
	st := residue.Stats{Device: "cpu", Method: Direct, Blocks: 1}
	var over, under atomic.Int64
	start := time.Now()
	var err error
	st.Exact, err = run(r.work(), direct.Product{Alpha: r.Alpha, A: r.A, B: r.B, Beta: r.Beta, Old: r.Old, C: r.C, Triangle: r.Triangle, Steps: r.Steps},
		func(f num.Flags) {
			if f&num.Overflow != 0 {
				over.Add(1)
			}
			if f&num.Underflow != 0 {
				under.Add(1)
			}
		})
	st.Overflow, st.Underflow = over.Load(), under.Load()
	if r.Check {
		st.Check.Unchecked = r.entries()
	}
	st.Stages = []residue.Stage{{Name: name, Time: time.Since(start)}}
	return st, err
}

// entries returns the number of entries that are computed.
func (r *request) entries() int64 {
	m, n := int64(r.C.Rows), int64(r.C.Cols)
	if r.Steps != nil {
		lower := int64(0)
		for _, j := range r.Steps {
			lower += int64(j)
		}
		if r.Triangle == 'U' {
			return m*n - lower
		}
		return lower
	}
	k := min(m, n)
	switch r.Triangle {
	case 'L':
		return m*k - k*(k-1)/2
	case 'U':
		return n*k - k*(k-1)/2
	}
	return m * n
}

// work returns the options for package direct, with a progress function for its parts.
func (r *request) work() direct.Work {
	w := direct.Work{Run: r.Run}
	if r.Progress != nil {
		var mu sync.Mutex
		parts := 0
		w.Done = func(part, of int) {
			mu.Lock()
			defer mu.Unlock()
			parts += part
			r.Progress(float64(parts) / float64(of))
		}
	}
	return w
}

func appliesResidue(r *request) error {
	switch {
	case r.trivial(), r.force == "" && (r.Asked || r.Method == Direct):
		return errOther
	case !residue.Applies(r.Alpha, r.Beta, r.C.Rows, r.C.Cols, r.A.Cols):
		return errRange
	}
	return nil
}

func estimateResidue(r *request) time.Duration {
	if r.fastest() < residue.StartTime {
		return never
	}
	t, ok := residue.Estimate(r.Threads, r.C.Rows, r.C.Cols, r.A.Cols, r.A.Arr.Format, r.B.Arr.Format, r.C.Arr.Format,
		[2]bool{r.PreA != nil, r.PreB != nil})
	switch {
	case !ok && r.Check: // before the ways that check nothing
		return never - 1
	case !ok:
		return never
	}
	return t
}

func runResidue(r *request) (residue.Stats, error) {
	p, err := residue.Plan(r.engine(), r.Alpha, r.A, r.B, r.Beta, r.Old, r.C, r.PreA, r.PreB)
	if errors.Is(err, residue.ErrRange) {
		err = errRange
	}
	if err != nil {
		return residue.Stats{}, err
	}
	if len(r.rivals) > 0 && p.Time() > r.rivals[0].time {
		return residue.Stats{}, errLeave
	}
	st, err := p.Run()
	if errors.Is(err, ErrMemory) {
		err = fmt.Errorf("gemm %d x %d x %d: %w in %d bytes for method residue", r.C.Rows, r.A.Cols, r.C.Cols, ErrMemory, r.Memory)
	}
	return st, err
}

// engine returns the options for package residue.
func (r *request) engine() residue.Config {
	return residue.Config{Run: r.Run, Triangle: r.Triangle, Steps: r.Steps, Bound: r.Bound}
}

func leavesResidue(_ *request, err error) bool {
	return errors.Is(err, errLeave) || errors.Is(err, errRange) || errors.Is(err, ErrMemory)
}

// appliesDevice returns the applies of a way for least to most devices.
func appliesDevice(least, most int) func(r *request) error {
	return func(r *request) error {
		switch {
		case r.Device == nil || r.Steps != nil || r.Device.Count() < least || r.Device.Count() > most:
			return errOther
		case r.Method == Direct:
			return ErrDirect
		}
		return nil
	}
}

func estimateDevice(r *request) time.Duration {
	if r.Asked {
		return 0
	}
	t, ok := r.Device.Estimate(&r.Problem, r.fastest())
	if !ok {
		return declined
	}
	return t
}

func runDevice(r *request) (residue.Stats, error) {
	p := r.Problem
	if !r.Asked && r.Beta.Class != num.Zero && r.C.Arr == r.Old.Arr {
		p.Old = p.Old.Copy() // so that the host can begin anew
	}
	st, err := r.Device.Gemm(r.Config, &p)
	if err != nil && p.Old.Arr != r.Old.Arr {
		r.Old = p.Old
	}
	return st, err
}

func leavesDevice(r *request, err error) bool { return !r.Asked && r.Device.Leaves(err) }
