package linsolve

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/residual"
)

// SolveBatch returns the solutions X_i of A_i X_i = B_i in format f, with the bits that [Solve]
// gives one by one:
//
//	for i := range a {
//		x[i], err = linsolve.Solve(a[i], b[i], f, opt)
//	}
//
// The systems may have different shapes and formats, and may share matrices. SolveBatch panics,
// before anything is computed, if the slices have different lengths or if shapes do not fit.
//
// If systems fail, for example because their matrices are singular, the others are solved: the
// solutions of those that fail are nil, and the error is a *halfulp.BatchError with their indices,
// which wraps their errors. If the context is cancelled, there are no solutions, and the error
// wraps the error of the context.
//
//	x, err := linsolve.SolveBatch(a, b, halfulp.Float64, nil)
//	if failed := (*halfulp.BatchError)(nil); errors.As(err, &failed) {
//		for k, i := range failed.Indices {
//			log.Print(i, errors.Is(failed.Errors[k], linsolve.ErrSingular))
//		}
//	}
//
// Small systems on the host are distributed over the threads, one system a thread. Each thread may
// use its share of Options.MemoryLimit; systems that need more are solved one after the other.
// Large systems use all threads one after the other.
//
// On a GPU, systems of at most 64 unknowns are solved side by side by a few launches of one kernel,
// if neither Options.Stats nor Options.Check is set, and formats are MP, Float64 or Float32; their
// solutions on the host may share memory, which is freed with the last of them. Systems that the
// kernel does not decide, and all others, are solved one after the other.
//
// Options.Stats receives sums over all systems, and the largest Rounds, Rho and Precision.
func SolveBatch(a, b []*halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) ([]*halfulp.Matrix, error) {
	const name = "SolveBatch"
	if len(a) != len(b) {
		panic(errShape)
	}
	for i := range a {
		if a[i].Rows() != a[i].Cols() || b[i].Rows() != a[i].Rows() {
			panic(errShape)
		}
	}
	var o halfulp.Options
	if opt != nil {
		o = *opt
	}
	if err := o.Validate(); err != nil {
		return nil, wrapped(name, err)
	}
	set, err := o.Settings()
	if err != nil {
		return nil, wrapped(name, err)
	}
	s := solveBatch{a: a, b: b, f: f, one: Solve, brief: o.Stats == nil, direct: o.Stats == nil && !set.Check && !call.Forced(set.Ctx, call.SystemWays...), x: make([]*halfulp.Matrix, len(a)), errs: make([]error, len(a)), progress: par.Rising(o.Progress)}
	o.Progress, o.Stats = nil, nil
	var alone, rest []int // systems for one thread each, and for all threads
	for i := range a {
		if !set.Device.IsPlace() && s.alone(i) {
			alone = append(alone, i)
		} else {
			rest = append(rest, i)
		}
	}
	rest = append(rest, s.sideBySide(set.Ctx, alone, &o, set.Threads, set.Memory)...)
	if s.direct {
		if rest, err = s.atPlaces(set, rest); err != nil {
			s.free()
			return nil, wrapped(name, err)
		}
	}
	for _, i := range rest {
		if set.Ctx.Err() != nil {
			break
		}
		st := s.solve(i, &o)
		s.over(&st, 1)
	}
	if opt != nil && opt.Stats != nil {
		s.stats.Threads = set.Threads
		*opt.Stats = s.stats
	}
	if err := set.Ctx.Err(); err != nil {
		s.free()
		return nil, wrapped(name, err)
	}
	return s.x, s.failed(name)
}

// free frees the solutions, some of which may live on devices.
func (s *solveBatch) free() {
	for _, x := range s.x {
		if x != nil {
			x.Free()
		}
	}
}

// solveBatch is a running SolveBatch.
type solveBatch struct {
	a, b, x  []*halfulp.Matrix
	f        halfulp.Format
	one      func(a, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error)
	errs     []error
	brief    bool // no statistics are requested
	direct   bool // systems are solved by residuals in integers where that suffices
	mu       sync.Mutex
	stats    halfulp.Stats
	done     int // systems that are done
	progress func(done float64)
}

// batchWork bounds the product of n²(n + k) and the number of words of an entry of a system that
// one thread solves alone: some 50 ms.
const batchWork = 1 << 25

// alone reports whether one thread should solve system i.
func (s *solveBatch) alone(i int) bool {
	n, k := float64(s.a[i].Rows()), float64(s.b[i].Cols())
	words := float64(1 + max(s.f.Bits(), s.a[i].View().Format().Bits())/64)
	return n*n*(n+k)*words <= batchWork && s.a[i].View().OnHost() && s.b[i].View().OnHost()
}

// solve solves system i, without Stats in the options, and returns its statistics if they are
// requested.
func (s *solveBatch) solve(i int, opt *halfulp.Options) (st halfulp.Stats) {
	if !s.brief {
		opt = opt.WithStats(&st)
	}
	s.x[i], s.errs[i] = s.one(s.a[i], s.b[i], s.f, opt)
	return st
}

// over ends systems with these statistics.
func (s *solveBatch) over(st *halfulp.Stats, systems int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.Device != "" { // something was computed
		addStats(&s.stats, st)
	}
	if s.done += systems; s.progress != nil {
		s.progress(float64(s.done) / float64(len(s.a)))
	}
}

// batchPart is the number of systems that a thread takes at a time.
const batchPart = 16

// A batchWorker is the memory of one thread.
type batchWorker struct {
	room residual.Room
	slab num.Slab
}

// byResiduals solves system i by residuals in integers, unless another way is faster, or the memory
// in bytes is too small. It returns false if the system is not solved.
func (s *solveBatch) byResiduals(w *batchWorker, i int, memory int64) bool {
	a, b, f := s.a[i].View(), s.b[i].View(), s.f.View()
	if !residual.Faster(a, b, f) || residual.Bytes(a.Rows, b.Cols, f.Bits()) > memory {
		return false
	}
	z := num.Mat{Arr: w.slab.New(f, b.Rows*b.Cols), RS: 1, CS: b.Rows, Rows: b.Rows, Cols: b.Cols}
	if !w.room.Solve(a, b, z) {
		return false
	}
	s.x[i] = halfulp.MatrixOf(z)
	return true
}

// sideBySide solves the listed systems, each on one of the given number of threads, which share the
// memory in bytes. It returns the systems that need more memory than a thread's share.
func (s *solveBatch) sideBySide(ctx context.Context, list []int, opt *halfulp.Options, threads int, memory int64) (again []int) {
	threads = max(1, min(threads, len(list)))
	one := *opt
	one.Threads = 1
	one.Device = "cpu"
	if threads > 1 {
		one.MemoryLimit = max(1, memory/int64(threads))
	}
	workers := make([]batchWorker, threads)
	part := max(1, min(batchPart, len(list)/(4*threads)))
	// The caller looks at the context.
	_ = par.For(ctx, threads, (len(list)+part-1)/part, func(w, t int) {
		done := 0
		for _, i := range list[t*part : min((t+1)*part, len(list))] {
			if ctx.Err() != nil {
				break
			}
			if s.direct && s.byResiduals(&workers[w], i, memory/int64(threads)) {
				done++
				continue
			}
			st := s.solve(i, &one)
			if threads > 1 && errors.Is(s.errs[i], halfulp.ErrMemory) {
				s.mu.Lock()
				again = append(again, i)
				s.mu.Unlock()
				continue // not over: its statistics count once
			}
			s.over(&st, 1)
		}
		if done > 0 {
			s.over(&halfulp.Stats{}, done)
		}
	})
	slices.Sort(again)
	return again
}

// batchStored is the number of solutions of a device that a thread stores at a time.
const batchStored = 256

// atPlaces solves the listed systems that live on devices, or for which a device is requested, each
// device's together. It returns the systems that are not solved.
func (s *solveBatch) atPlaces(set place.Settings, list []int) (rest []int, err error) {
	var requested place.Place
	if set.Device.IsPlace() {
		if requested, err = set.Device.Open(); err != nil {
			return nil, err
		}
		requested = requested.First() // of several GPUs
	}
	// Systems of a place, on the host or there.
	type home struct {
		at   place.Place
		host bool
	}
	var homes []home
	var of [][]int
	for _, i := range list {
		at, err := place.Common("", s.a[i].View().Arr, s.b[i].View().Arr)
		if err != nil {
			rest = append(rest, i) // fails
			continue
		}
		h := home{at: at}
		if at == nil {
			h = home{requested, true}
		}
		k := slices.Index(homes, h)
		if k < 0 {
			k = len(homes)
			homes, of = append(homes, h), append(of, make([]int, 0, len(list)))
		}
		of[k] = append(of[k], i)
	}
	for k, list := range of {
		at, ok := place.Part[place.SystemBatches](homes[k].at)
		if !ok {
			rest = append(rest, list...)
			continue
		}
		a, b := make([]num.Mat, len(list)), make([]num.Mat, len(list))
		for k, i := range list {
			a[k], b[k] = s.a[i].View(), s.b[i].View()
		}
		x, err := at.SolveBatch(set.Config(), a, b, s.f.View())
		if err != nil && !errors.Is(err, halfulp.ErrMemory) {
			return nil, err
		}
		if err != nil {
			rest = append(rest, list...)
			continue
		}
		parts := (len(list) + batchStored - 1) / batchStored
		_ = par.For(context.Background(), set.Threads, parts, func(_, t int) { // never cancelled
			for k := t * batchStored; k < min((t+1)*batchStored, len(list)); k++ {
				if x[k].Arr != nil {
					s.x[list[k]] = halfulp.MatrixOf(x[k])
				}
			}
		})
		done := 0
		for k, i := range list {
			if x[k].Arr == nil {
				rest = append(rest, i)
			} else {
				done++
			}
		}
		if done > 0 {
			s.over(&halfulp.Stats{}, done)
		}
	}
	slices.Sort(rest)
	return rest, nil
}

// failed returns the error of the systems that failed, or nil.
func (s *solveBatch) failed(name string) error {
	e := &halfulp.BatchError{Routine: name}
	for i, err := range s.errs {
		if err != nil {
			e.Indices, e.Errors = append(e.Indices, i), append(e.Errors, err)
		}
	}
	if len(e.Indices) == 0 {
		return nil
	}
	return e
}

// addStats adds the statistics of a system to the sums.
func addStats(sum, st *halfulp.Stats) {
	sum.Device, sum.Method = st.Device, st.Method
	sum.Exact += st.Exact
	sum.Overflow += st.Overflow
	sum.Underflow += st.Underflow
	if st.Check != nil {
		if sum.Check == nil {
			sum.Check = new(halfulp.Check)
		}
		sum.Check.Modulus = st.Check.Modulus
		sum.Check.Compared += st.Check.Compared
		sum.Check.Unchecked += st.Check.Unchecked
	}
	for _, g := range st.Stages {
		k := slices.IndexFunc(sum.Stages, func(h halfulp.Stage) bool { return h.Name == g.Name })
		if k < 0 {
			sum.Stages = append(sum.Stages, g)
			continue
		}
		sum.Stages[k].Time += g.Time
	}
	p, q := &sum.Proof, &st.Proof
	p.Rounds = max(p.Rounds, q.Rounds)
	p.Rho = max(p.Rho, q.Rho)
	p.Precision = max(p.Precision, q.Precision)
	p.Steps += q.Steps
	p.Primes += q.Primes
	p.Solved += q.Solved
	p.Ties += q.Ties
	p.Digits += q.Digits
	p.Undecided += q.Undecided
}
