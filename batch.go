package halfulp

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// BatchError reports the problems of a batch that failed. The other problems were solved. It wraps
// the errors of all failed problems.
type BatchError struct {
	Routine string
	Indices []int   // of the failed problems, rising
	Errors  []error // why they failed, in the same order
}

func (e *BatchError) Error() string {
	text := fmt.Sprintf("%s: problem %d: %v", e.Routine, e.Indices[0], e.Errors[0])
	if n := len(e.Indices) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// Unwrap returns the errors of the failed problems.
func (e *BatchError) Unwrap() []error { return e.Errors }

// GemmBatch computes C_i = α op(A_i) op(B_i) + β C_i for every i, with the bits that [Gemm] gives
// one by one:
//
//	for i := range c {
//		err := halfulp.Gemm(tA, tB, alpha, a[i], b[i], beta, c[i], opt)
//	}
//
// The problems may have different shapes and formats, and may share factors. It panics, before
// anything is computed, if the slices have different lengths or if shapes do not fit. A matrix C_i
// may share storage with operands of its own problem. If it shares storage with operands of other
// problems, the problems are solved in order, as by the loop.
//
// Small products on the host are distributed over the threads, one product a thread, planned once
// for all products of the same shapes and formats, in memory that each thread allocates once. Large
// products use all threads one after the other. Each thread may use its share of
// Options.MemoryLimit; products that need more are computed one after the other. On a device, or
// for Options.Device other than "auto" and "cpu", the products run there one after the other.
//
// If problems fail, the others are computed, and the error is a *[BatchError]. If the context is
// cancelled, the error wraps the error of the context. Options.Stats receives the sums over all
// problems. The rest is as for Gemm.
func GemmBatch(tA, tB Transpose, alpha Scalar, a, b []*Matrix, beta Scalar, c []*Matrix, opt *Options) error {
	if len(a) != len(c) || len(b) != len(c) {
		panic(errShape)
	}
	g := gemmBatch{tA: tA, tB: tB, alpha: alpha.value(), beta: beta.value(), a: a, b: b, c: c, opt: opt}
	for i := range c {
		if _, _, _, fit := g.shape(i); !fit {
			panic(errShape)
		}
	}
	defer runtime.KeepAlive(a) // keeps prepared data
	defer runtime.KeepAlive(b)
	return g.run()
}

// gemmBatch is a running GemmBatch.
type gemmBatch struct {
	tA, tB      Transpose
	alpha, beta num.Real
	a, b, c     []*Matrix
	opt         *Options
	settings    place.Settings
	mu          sync.Mutex
	stats       residue.Stats
	failed      []failedProblem
	done        int // problems that are done
	progress    func(done float64)
}

// problem returns problem i.
func (g *gemmBatch) problem(i int) (p place.Gemm) {
	p.A, p.Kept[0] = g.a[i].op(g.tA)
	p.B, p.Kept[1] = g.b[i].op(g.tB)
	p.C = g.c[i].mat()
	p.Alpha, p.Beta, p.Old = g.alpha, g.beta, p.C
	return p
}

// shape returns the rows and columns of C_i and the columns of op(A_i), and whether shapes fit.
func (g *gemmBatch) shape(i int) (m, n, k int, fit bool) {
	size := func(x *Matrix, t Transpose) (rows, cols int) {
		rows, cols = x.Rows(), x.Cols()
		switch t {
		case NoTrans:
			return rows, cols
		case Trans, ConjTrans:
			return cols, rows
		}
		panic(errTranspose)
	}
	ra, ca := size(g.a[i], g.tA)
	rb, cb := size(g.b[i], g.tB)
	m, n = size(g.c[i], NoTrans)
	return m, n, ca, m == ra && n == cb && ca == rb
}

type failedProblem struct {
	i   int
	err error
}

// batchWork is the largest product of m n k and the square of the number of words of a problem that
// one thread computes alone: some 20 ms.
const batchWork = 1 << 23

// alone reports whether one thread should compute problem i.
func (g *gemmBatch) alone(i int) bool {
	m, n, k, _ := g.shape(i)
	a, b, c := g.a[i].mat().Arr, g.b[i].mat().Arr, g.c[i].mat().Arr
	w := float64(1 + max(a.Bits(), b.Bits(), c.Bits())/64)
	return float64(m)*float64(n)*float64(k)*w*w <= batchWork && a.Away == nil
}

func (g *gemmBatch) run() error {
	const name = "GemmBatch"
	away := false // whether something lives on a device
	for i := range g.c {
		for _, m := range [...]*Matrix{g.a[i], g.b[i], g.c[i]} {
			away = away || m.mat().Arr.Away != nil
		}
	}
	apart := make(map[int]error) // for problems whose operands live on different devices
	if away {
		for i := range g.c {
			p := g.problem(i)
			if _, err := whereabouts("gemm", p.A.Arr, p.B.Arr, p.C.Arr); err != nil {
				apart[i] = err
			}
		}
	}
	var err error
	if g.settings, err = g.opt.settings(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ctx := g.settings.Ctx
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	g.progress = par.Rising(g.settings.Progress)
	g.settings.Progress = nil
	alone := make([]int, 0, len(g.c)) // problems for one thread each
	var rest []int                    // problems for all threads
	host := !g.settings.Device.IsPlace()
	for i := range g.c {
		if len(apart) > 0 && apart[i] != nil {
			g.over(&residue.Stats{}, i, apart[i], 1)
		} else if host && g.alone(i) {
			alone = append(alone, i)
		} else {
			rest = append(rest, i)
		}
	}
	if threads := min(g.settings.Threads, len(alone)); threads > 1 && !g.entangled() {
		rest = append(rest, g.sideBySide(alone, threads)...)
		alone = nil
	} else if len(rest) == 0 {
		g.sideBySide(alone, 1)
		alone = nil
	}
	rest = append(rest, alone...)
	slices.Sort(rest) // entangled problems are solved in order
	for _, i := range rest {
		if ctx.Err() != nil {
			break
		}
		p := g.problem(i)
		st, err := g.settings.Gemm(&p)
		g.over(&st, i, err, 1)
	}
	if err = ctx.Err(); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	} else {
		err = g.errors(name)
	}
	return g.opt.report(stats(g.stats, g.settings.Threads), err)
}

// over ends problems, of which problem i has failed if err is not nil.
func (g *gemmBatch) over(st *residue.Stats, i int, err error, problems int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if st.Device != "" {
		g.stats.Add(*st)
	}
	if err != nil {
		g.failed = append(g.failed, failedProblem{i, err})
	}
	if g.done += problems; g.progress != nil {
		g.progress(float64(g.done) / float64(len(g.c)))
	}
}

// errors returns the error of the failed problems, or nil.
func (g *gemmBatch) errors(name string) error {
	if len(g.failed) == 0 {
		return nil
	}
	slices.SortFunc(g.failed, func(x, y failedProblem) int { return x.i - y.i })
	e := &BatchError{Routine: name}
	for _, f := range g.failed {
		e.Indices, e.Errors = append(e.Indices, f.i), append(e.Errors, f.err)
	}
	return e
}

// batchPart is the number of problems that a thread takes at a time.
const batchPart = 32

// sideBySide computes the listed problems, each on one of the given number of threads. One thread
// computes them in order. It returns the problems that need more memory than a thread's share.
func (g *gemmBatch) sideBySide(list []int, threads int) (again []int) {
	one := g.settings
	one.Threads, one.Device = 1, place.Name{Kind: place.Host}
	one.Memory /= int64(threads)
	workers := make([]*product.Batch, threads)
	part := max(1, min(batchPart, len(list)/(4*threads)))
	// The caller looks at the context.
	_ = par.For(one.Ctx, threads, (len(list)+part-1)/part, func(w, k int) {
		if workers[w] == nil {
			workers[w] = product.NewBatch(product.Config{Run: one.Run, Method: one.Method})
		}
		done := 0
		for _, i := range list[k*part : min((k+1)*part, len(list))] {
			if one.Ctx.Err() != nil {
				break
			}
			p := g.problem(i)
			if workers[w].Run(&p.Problem) {
				done++
				continue
			}
			st, err := one.Gemm(&p)
			if threads > 1 && errors.Is(err, ErrMemory) {
				g.mu.Lock()
				again = append(again, i)
				g.mu.Unlock()
				continue
			}
			g.over(&st, i, err, 1)
		}
		g.over(&residue.Stats{}, 0, nil, done)
	})
	for _, w := range workers {
		if w != nil {
			st := w.Stats()
			g.over(&st, 0, nil, 0)
		}
	}
	return again
}

// entangled reports whether a result may share storage with an operand or a result of another
// problem.
func (g *gemmBatch) entangled() bool {
	var results, operands []num.Extent
	for i := range g.c {
		results = g.c[i].mat().Extents(results, i)
	}
	slices.SortFunc(results, func(x, y num.Extent) int { return cmp.Compare(x.First, y.First) })
	var last num.Extent // the one that ends last
	for _, r := range results {
		if r.First < last.End && r.Owner != last.Owner {
			return true
		}
		if r.End > last.End {
			last = r
		}
	}
	for i := range g.c {
		p := g.problem(i)
		operands = p.B.Extents(p.A.Extents(operands[:0], i), i)
		for _, o := range operands {
			// The first result that ends behind the beginning of o: results do not overlap.
			k, _ := slices.BinarySearchFunc(results, o.First, func(r num.Extent, first uintptr) int {
				if r.End <= first {
					return -1
				}
				return 1
			})
			for ; k < len(results) && results[k].First < o.End; k++ {
				if results[k].Owner != i {
					return true
				}
			}
		}
	}
	return false
}
