package halfulp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
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
// Options.MemoryLimit; products that need more are computed one after the other. On a GPU,
// or for Options.Device other than "auto" and "cpu", small products of the same shapes and formats
// run there in one launch, if β is 0 and α is a power of two. Operands of the host are copied there
// and back together. The other products run there one after the other, also products with
// infinities, NaN, or numbers of very different sizes in a row of op(A) or a column of op(B).
//
// If problems fail, the others are computed, and the error is a *[BatchError]. If the context is
// cancelled, the error wraps the error of the context. Options.Stats receives the sums over all
// problems. The rest is as for Gemm.
func GemmBatch(tA, tB Transpose, alpha Scalar, a, b []*Matrix, beta Scalar, c []*Matrix, opt *Options) error {
	if len(a) != len(c) || len(b) != len(c) {
		panic(errShape)
	}
	g := gemmBatch{tA: tA, tB: tB, alpha: alpha.value(), beta: beta.value(), a: a, b: b, c: c, opt: opt}
	var err error
	if g.settings, err = opt.settings(); err != nil {
		g.settings.Threads = 1
	}
	if !g.survey() {
		panic(errShape)
	}
	if err != nil {
		return fmt.Errorf("GemmBatch: %w", err)
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

	away, apart bool         // whether operands live on devices, and on different ones or are freed
	results     []num.Extent // of the problems, sorted
	operands    []num.Extent // in the order of the problems
}

// parts calls f for parts of the problems, lo <= i < hi, on several threads.
func (g *gemmBatch) parts(f func(part, lo, hi int)) {
	n, size := g.partition()
	// never cancelled
	_ = par.For(context.Background(), g.settings.Threads, n, func(_, k int) { f(k, k*size, min((k+1)*size, len(g.c))) })
}

// partition returns the number of parts, and the problems of each but the last.
func (g *gemmBatch) partition() (parts, size int) {
	size = max(256, (len(g.c)+g.settings.Threads-1)/g.settings.Threads)
	return (len(g.c) + size - 1) / size, size
}

// survey finds where the operands are, which is not in the caches, and reports whether the shapes
// fit.
func (g *gemmBatch) survey() bool {
	type found struct {
		misfit, away, apart bool
		results, operands   []num.Extent
	}
	n, _ := g.partition()
	list := make([]found, n)
	g.parts(func(part, lo, hi int) {
		var z found
		for i := lo; i < hi; i++ {
			p := g.problem(i)
			z.misfit = z.misfit || p.C.Rows != p.A.Rows || p.C.Cols != p.B.Cols || p.A.Cols != p.B.Rows
			at := p.C.Arr.Away
			for _, m := range [...]*num.Mat{&p.A, &p.B, &p.C} {
				s := m.Arr.Away
				z.away = z.away || s != nil
				z.apart = z.apart || (s != nil) != (at != nil) || s != nil && (s.Freed() || place.Of(m.Arr) != place.Of(p.C.Arr))
			}
			z.results = p.C.Extents(z.results, i)
			z.operands = p.B.Extents(p.A.Extents(z.operands, i), i)
		}
		list[part] = z
	})
	for _, z := range list {
		if z.misfit {
			return false
		}
		g.away, g.apart = g.away || z.away, g.apart || z.apart
		g.results, g.operands = append(g.results, z.results...), append(g.operands, z.operands...)
	}
	g.results = num.SortExtents(g.results)
	return true
}

// problem returns problem i.
func (g *gemmBatch) problem(i int) (p place.Gemm) {
	p.A, p.Kept[0] = g.a[i].op(g.tA)
	p.B, p.Kept[1] = g.b[i].op(g.tB)
	p.C = g.c[i].mat()
	p.Alpha, p.Beta, p.Old = g.alpha, g.beta, p.C
	return p
}

type failedProblem struct {
	i   int
	err error
}

// batchWork is the largest product of m n k and the square of the number of words of a problem that
// one thread computes alone: some 5 ms.
const batchWork = 1 << 26

// alone reports whether one thread should compute problem i.
func (g *gemmBatch) alone(i int) bool {
	a, b, c := g.a[i].mat(), g.b[i].mat(), g.c[i].mat()
	k := a.Cols
	if g.tA != NoTrans {
		k = a.Rows
	}
	w := float64(1 + max(a.Arr.Bits(), b.Arr.Bits(), c.Arr.Bits())/64)
	return float64(c.Rows)*float64(c.Cols)*float64(k)*w*w <= batchWork && a.OnHost()
}

func (g *gemmBatch) run() error {
	const name = "GemmBatch"
	apart := make(map[int]error) // for problems whose operands live on different devices
	if g.apart {
		for i := range g.c {
			p := g.problem(i)
			if _, err := whereabouts("gemm", p.A.Arr, p.B.Arr, p.C.Arr); err != nil {
				apart[i] = err
			}
		}
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
	done := make([]bool, len(g.c)) // by a device, together
	if (g.away || !host) && len(apart) == 0 {
		if err := g.together(done); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for i := range g.c {
		if done[i] {
			continue
		}
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
	err := ctx.Err()
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	} else {
		err = g.errors(name)
	}
	return g.opt.report(stats(g.stats, g.settings.Threads), err)
}

// A batchShape is what the problems of a launch have in common.
type batchShape struct {
	at      place.Place
	a, b, c batchOperand
}

// A batchOperand is the shape, the format and the strides of a matrix. Matrices of the host are
// copied, and only the order of their numbers counts: RS = 1 if their columns are contiguous.
type batchOperand struct {
	num.Format
	rows, cols, rs, cs int
}

// products are problems of one shape.
type products struct {
	place.Batch
	indices []int
}

func batchOperandOf(m *num.Mat) batchOperand {
	o := batchOperand{m.Arr.Format, m.Rows, m.Cols, m.RS, m.CS}
	if m.OnHost() {
		o.rs, o.cs = 1, 0
		if m.RS != 1 && m.CS == 1 {
			o.rs, o.cs = 0, 1
		}
	}
	return o
}

// launchLeast is the fewest products of one shape that a device computes together.
const launchLeast = 8

// together lets devices compute products of the same shapes and formats together, as far as they
// can, and marks those that are done.
func (g *gemmBatch) together(done []bool) error {
	s := &g.settings
	if g.beta.Class != num.Zero || s.Check || s.Method != product.Auto || len(g.c) < launchLeast || g.entangled() {
		return nil
	}
	var asked place.Place // for matrices of the host
	if s.Device.IsPlace() {
		asked, _ = s.Device.Open() // the products return its error
	}
	n, _ := g.partition()
	lists := make([]map[batchShape]*products, n)
	g.parts(func(part, lo, hi int) {
		lists[part] = g.shapes(asked, lo, hi)
	})
	list := make(map[batchShape]*products)
	for _, part := range lists {
		for shape, more := range part {
			same := list[shape]
			if same == nil {
				list[shape] = more
				continue
			}
			same.A, same.B, same.C = append(same.A, more.A...), append(same.B, more.B...), append(same.C, more.C...)
			same.indices = append(same.indices, more.indices...)
		}
	}
	for shape, same := range list {
		batcher, ok := place.Part[place.Batcher](shape.at)
		if !ok || len(same.indices) < launchLeast {
			continue
		}
		left, st, err := batcher.GemmBatch(s.Config(), &same.Batch)
		if err != nil {
			return err
		}
		for k, i := range same.indices {
			if len(left) > 0 && left[0] == k {
				left = left[1:]
			} else {
				done[i] = true
			}
		}
		g.over(&st, 0, nil, st.Blocks)
	}
	return nil
}

// shapes returns problems lo <= i < hi by their shapes, without those that devices cannot compute
// together. asked is the device for matrices of the host.
func (g *gemmBatch) shapes(asked place.Place, lo, hi int) map[batchShape]*products {
	list := make(map[batchShape]*products)
	var shape batchShape // of the product before
	var same *products   // with that shape
	for i := lo; i < hi; i++ {
		p := g.problem(i)
		of := batchShape{place.Of(p.C.Arr), batchOperandOf(&p.A), batchOperandOf(&p.B), batchOperandOf(&p.C)}
		switch {
		case p.C.OnHost():
			of.at = asked
		case p.C.Arr.Away == p.A.Arr.Away || p.C.Arr.Away == p.B.Arr.Away:
			of.at = nil // they may overlap
		}
		if of.at == nil {
			continue
		}
		if same == nil || of != shape {
			shape, same = of, list[of]
			if same == nil {
				same = &products{Batch: place.Batch{Alpha: g.alpha}}
				list[of] = same
			}
		}
		same.A, same.B, same.C = append(same.A, p.A), append(same.B, p.B), append(same.C, p.C)
		same.indices = append(same.indices, i)
	}
	return list
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
	results := g.results
	var last num.Extent // the one that ends last
	for _, r := range results {
		if r.First < last.End && r.Owner != last.Owner {
			return true
		}
		if r.End > last.End {
			last = r
		}
	}
	operands := g.operands
	// before reports whether result k ends before an address. Results do not overlap.
	before := func(k int, first uintptr) bool { return results[k].End <= first }
	var places [8]int // where the operands of the last problem lie among the results
	for i, j := -1, 0; len(operands) > 0; operands = operands[1:] {
		o := &operands[0]
		if j++; o.Owner != i {
			i, j = o.Owner, 0
		}
		// The first result that ends behind the beginning of o: often the same as for the last
		// problem, or the next one.
		k := places[j]
		if k < len(results) && before(k, o.First) {
			k++
		}
		if k > 0 && !before(k-1, o.First) || k < len(results) && before(k, o.First) {
			k = sort.Search(len(results), func(k int) bool { return !before(k, o.First) })
		}
		places[j] = k
		for ; k < len(results) && results[k].First < o.End; k++ {
			if results[k].Owner != i {
				return true
			}
		}
	}
	return false
}
