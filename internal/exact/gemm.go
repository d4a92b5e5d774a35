// Package exact is the engine of matrix products: operands aligned to integers,
// multiplied modulo small moduli, reconstructed, and rounded once; what the rounding
// test cannot decide is computed in exact arithmetic.
package exact

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Stats tells how a product ran.
type Stats struct {
	Device         string
	Method         string
	Kernel         string
	Moduli         int
	Products       int64
	WidthL, WidthR int
	Blocks         int
	Exact          int64
	Overflow       int64
	Underflow      int64
	Stages         []Stage
}

// Stage is the wall-clock time of one stage.
type Stage struct {
	Name string
	Time time.Duration
}

// Add adds what another part of the same result took.
func (s *Stats) Add(t Stats) {
	if s.Method != Residue {
		s.Device, s.Method, s.Kernel = t.Device, t.Method, t.Kernel
	}
	s.Moduli, s.WidthL, s.WidthR = max(s.Moduli, t.Moduli), max(s.WidthL, t.WidthL), max(s.WidthR, t.WidthR)
	s.Products += t.Products
	s.Blocks += t.Blocks
	s.Exact += t.Exact
	s.Overflow += t.Overflow
	s.Underflow += t.Underflow
	for _, stage := range t.Stages {
		s.addStage(stage)
	}
}

func (s *Stats) addStage(t Stage) {
	for i := range s.Stages {
		if s.Stages[i].Name == t.Name {
			s.Stages[i].Time += t.Time
			return
		}
	}
	s.Stages = append(s.Stages, t)
}

// Config says how a product may run.
type Config struct {
	Ctx      context.Context
	Threads  int
	Method   string // "auto", "residue" or "direct"
	Memory   int64
	Progress func(float64)
	// Triangle restricts the output to one triangle of a square C: 'U', 'L', or 0
	// for all of it.
	Triangle byte
}

// The methods.
const (
	Auto    = "auto"
	Residue = "residue"
	Direct  = "direct"
)

// ErrMemory says that a product does not fit the memory allowed.
var ErrMemory = errors.New("not enough memory")

// ErrRange says that residues do not apply: the pool of moduli is too small for
// the precision, or alpha is not finite.
var ErrRange = errors.New("beyond the range of the residue method")

// product is C = alpha A B + beta C under way.
type product struct {
	cfg         Config
	a, b        num.Mat // b as its columns: row v of b is column v of the factor
	old, c      num.Mat // the C that is read, and the one that is written
	alpha, beta scaling
	unit        int64 // exponent of one unit of 2^cut of the integer product, vectors' exponents aside
	plan        plan
	stats       Stats
	mu          sync.Mutex // guards stats and progress
	done        float64
	clock       time.Time
}

// Gemm sets C to alpha A B + beta Old, rounded once, A m x k, B k x n, Old and C
// m x n views; C shares no storage with A and B, and with Old only if it is the same
// view. alpha and beta zero leave A and B, or Old, unread.
func Gemm(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat, preA, preB *Prepared) (Stats, error) {
	p := &product{cfg: cfg, a: a, b: b.T(), old: old, c: c, alpha: newScaling(alpha), beta: newScaling(beta), clock: time.Now()}
	p.stats.Device, p.stats.Blocks = "cpu", 1
	if c.Rows == 0 || c.Cols == 0 {
		p.stats.Method = Direct
		return p.stats, cfg.Ctx.Err()
	}
	residue := alpha.Class == num.Finite && (beta.Class == num.Finite || beta.Class == num.Zero) && a.Cols > 0
	if cfg.Method == Residue && !residue && a.Cols > 0 && alpha.Class != num.Zero {
		return p.stats, ErrRange
	}
	if cfg.Method != Direct && residue {
		ok, err := p.residue(preA, preB)
		if ok || err != nil {
			return p.stats, err
		}
		if cfg.Method == Residue {
			return p.stats, ErrRange
		}
	}
	err := p.direct()
	return p.stats, err
}

// stage closes the stage that ran since the last call.
func (p *product) stage(name string) {
	now := time.Now()
	p.stats.addStage(Stage{name, now.Sub(p.clock)})
	p.clock = now
}

// progress adds share of the whole work to what is done.
func (p *product) progress(share float64) {
	if p.cfg.Progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = min(1, p.done+share)
	p.cfg.Progress(p.done)
}

// residue runs the product modulo small moduli. It returns false, with nothing
// written, if direct arithmetic is the better way.
func (p *product) residue(preA, preB *Prepared) (bool, error) {
	kern := modgemm.Best()
	bitsP := ResultBits(p.c.Arr.Format)
	m, n, k := float64(p.c.Rows), float64(p.c.Cols), float64(p.a.Cols)
	directCost := m * n * k * exactCost(max(bitsP, float64(p.a.Arr.Bits())))
	if p.cfg.Method == Auto && directCost < smallProduct {
		return false, nil
	}
	l, err := preA.scan(p.cfg, p.a)
	if err != nil {
		return false, err
	}
	r, err := preB.scan(p.cfg, p.b)
	if err != nil {
		return false, err
	}
	if l.maxNorm == 0 || r.maxNorm == 0 {
		return false, nil
	}
	samples := p.samples(l, r)
	pl, ok := planFor(kern, l, r, bitsP, samples)
	if !ok || p.cfg.Method == Auto && pl.cost > directCost {
		return false, nil
	}
	p.plan = pl
	p.stage("plan")
	p.stats.Method, p.stats.Kernel, p.stats.Moduli = Residue, kern.Name, len(pl.base.moduli)
	p.stats.WidthL, p.stats.WidthR = pl.widthL, pl.widthR
	return p.tiles(l, r, preA, preB)
}

// tiles runs the product in tiles of rows and columns whose residues fit the
// memory allowed.
func (p *product) tiles(l, r *operand, preA, preB *Prepared) (bool, error) {
	pl := &p.plan
	mt, nt := l.n, r.n
	need := func() int64 {
		return newResidues(pl.kernel, pl.base, left, mt, l.k, pl.widthL).bytes() +
			newResidues(pl.kernel, pl.base, right, nt, r.k, pl.widthR).bytes() +
			int64(p.cfg.Threads)*p.blockBytes(mt, nt)
	}
	for need() > p.cfg.Memory {
		switch {
		case mt >= nt && mt > pl.kernel.MR:
			mt = (mt + 1) / 2
		case nt > pl.kernel.NR:
			nt = (nt + 1) / 2
		case mt > pl.kernel.MR:
			mt = (mt + 1) / 2
		default:
			if p.cfg.Method == Residue {
				return false, ErrMemory
			}
			return false, nil
		}
	}
	tilesM, tilesN := (l.n+mt-1)/mt, (r.n+nt-1)/nt
	p.stats.Blocks = tilesM * tilesN
	share := 1 / float64(tilesM*tilesN)
	if tilesM > 1 {
		preA = nil
	}
	if tilesN > 1 {
		preB = nil
	}
	var failed [][2]int32
	for i0 := 0; i0 < l.n; i0 += mt {
		li := l.slice(i0, min(i0+mt, l.n))
		ra, err := preA.residues(p, li, left, pl.widthL, share*0.1)
		if err != nil {
			return false, err
		}
		for j0 := 0; j0 < r.n; j0 += nt {
			rj := r.slice(j0, min(j0+nt, r.n))
			rb, err := preB.residues(p, rj, right, pl.widthR, share*0.1)
			if err != nil {
				return false, err
			}
			p.stage("residues")
			fails, err := p.multiply(li, rj, ra, rb, i0, j0, share*0.8)
			if err != nil {
				return false, err
			}
			failed = append(failed, fails...)
			if preB == nil {
				rb.release()
			}
			p.stage("products")
		}
		if preA == nil {
			ra.release()
		}
	}
	p.stats.Exact += int64(len(failed))
	err := p.exactPass(failed)
	p.stage("exact pass")
	return true, err
}

// slice returns the operand of vectors v0 <= v < v1.
func (o *operand) slice(v0, v1 int) *operand {
	s := *o
	s.mat.Off, s.mat.Rows, s.n = o.mat.At(v0, 0), v1-v0, v1-v0
	s.exp, s.norm, s.special = o.exp[v0:v1], o.norm[v0:v1], o.special[v0:v1]
	return &s
}

// Blocks of the result: a worker multiplies a block modulo every modulus and
// reconstructs it while its residues are in the last level cache.
const (
	blockRows = 252
	blockCols = 512
)

// blocks returns the panels of rows and of columns of one block, such that the
// workers get several blocks each where the result is large enough.
func (p *product) blocks(m, n int) (rowPanels, colPanels int) {
	k := p.plan.kernel
	mp, np := modgemm.LeftPanels(k, m), modgemm.RightPanels(k, n)
	rows := max(1, (m+blockRows-1)/blockRows)
	cols := max(1, (n+blockCols-1)/blockCols)
	for rows*cols < 4*p.cfg.Threads && p.cfg.Threads > 1 {
		if (mp+rows-1)/rows*k.MR >= (np+cols-1)/cols*k.NR && rows < mp {
			rows++
		} else if cols < np {
			cols++
		} else if rows < mp {
			rows++
		} else {
			break
		}
	}
	return (mp + rows - 1) / rows, (np + cols - 1) / cols
}

func (p *product) blockBytes(m, n int) int64 {
	rp, cp := p.blocks(m, n)
	k := p.plan.kernel
	return 2 * int64(len(p.plan.base.moduli)) * int64(rp*k.MR) * int64(cp*k.NR)
}

// multiply computes the block of C at (i0, j0) that the residues make and returns
// the entries that failed the rounding test.
func (p *product) multiply(l, r *operand, ra, rb *residues, i0, j0 int, share float64) ([][2]int32, error) {
	kern, b := p.plan.kernel, p.plan.base
	w := b.reconstruction(kern, p.cut(l, r))
	p.unit = int64(w.cut - p.plan.widthL - p.plan.widthR)
	errL, errR, errAll := p.errors(l, r, w)
	moduli := make([]modgemm.Modulus, len(b.moduli))
	for t, m := range b.moduli {
		moduli[t] = modgemm.NewModulus(m)
	}
	c, old := p.c, p.old
	c.Off, c.Rows, c.Cols = c.At(i0, j0), l.n, r.n
	if !p.beta.zero {
		old.Off = old.At(i0, j0)
	}

	rowPanels, colPanels := p.blocks(l.n, r.n)
	rowBlocks := (ra.panels + rowPanels - 1) / rowPanels
	colBlocks := (rb.panels + colPanels - 1) / colPanels
	workers := make([]*worker, p.cfg.Threads)
	var failed [][2]int32
	err := par.For(p.cfg.Ctx, p.cfg.Threads, rowBlocks*colBlocks, func(id, task int) {
		pi, pj := task%rowBlocks*rowPanels, task/rowBlocks*colPanels
		if p.cfg.Triangle != 0 && p.outside(i0+pi*kern.MR, i0+(pi+rowPanels)*kern.MR, j0+pj*kern.NR, j0+(pj+colPanels)*kern.NR) {
			p.progress(share / float64(rowBlocks*colBlocks))
			return
		}
		wk := workers[id]
		if wk == nil {
			wk = newWorker(p, w, old, c, l, r, rowPanels, colPanels)
			wk.fin.errL, wk.fin.errR, wk.fin.errAll = errL, errR, errAll
			wk.fin.i0, wk.fin.j0 = i0, j0
			workers[id] = wk
		}
		mp, np := min(rowPanels, ra.panels-pi), min(colPanels, rb.panels-pj)
		ldc := np * kern.NR
		stride := mp * kern.MR * ldc
		for t, m := range moduli {
			if p.cfg.Ctx.Err() != nil {
				return
			}
			modgemm.Mul(kern, wk.c[t*stride:(t+1)*stride], ldc, ra.plane(t, pi), rb.plane(t, pj), mp, np, ra.kPairs, m)
		}
		wk.reconstruct(pi*kern.MR, pj*kern.NR, mp*kern.MR, ldc, stride)
		p.progress(share / float64(rowBlocks*colBlocks))
	})
	p.stats.Products += int64(len(moduli))
	for _, wk := range workers {
		if wk == nil {
			continue
		}
		failed = append(failed, wk.fin.failed...)
		p.stats.Overflow += wk.fin.overflow
		p.stats.Underflow += wk.fin.underflow
		putBuffer(wk.c)
	}
	return failed, err
}

// outside reports whether the block of rows i0 <= i < i1 and columns j0 <= j < j1
// has no entry of the triangle asked for.
func (p *product) outside(i0, i1, j0, j1 int) bool {
	if p.cfg.Triangle == 'U' {
		return i0 >= j1
	}
	return j0 >= i1
}

// skip reports whether entry (i, j) lies outside of the triangle asked for.
func (p *product) skip(i, j int) bool {
	switch p.cfg.Triangle {
	case 'U':
		return i > j
	case 'L':
		return i < j
	}
	return false
}

// cut chooses the bits that reconstruction may drop. Its error stays at about an
// eighth of that of the integers; for exact integers it stays so far below the
// results that hardly any fails the rounding test.
func (p *product) cut(l, r *operand) int {
	pl := &p.plan
	slack := 11 + bits.Len(uint(len(pl.base.moduli)))
	if pl.exactL && pl.exactR {
		if math.IsInf(pl.least, 0) {
			return 0
		}
		cut := float64(pl.widthL+pl.widthR) + pl.least - ResultBits(p.c.Arr.Format) - 30 - float64(slack)
		if cut < wordBits { // not worth a rounding test
			return 0
		}
		return int(cut)
	}
	e := math.Inf(1)
	if !pl.exactR {
		e = min(e, math.Log2(l.maxNorm/2)+float64(pl.widthL))
	}
	if !pl.exactL {
		e = min(e, math.Log2(r.maxNorm/2)+float64(pl.widthR))
	}
	return max(0, int(e)-3-slack)
}

// errors returns the bounds of the error of the integer product in units of
// 2^w.cut: for row i and column j, errL[i] + errR[j] + errAll.
func (p *product) errors(l, r *operand, w *weights) (errL, errR []float64, errAll float64) {
	pl := &p.plan
	errL, errR = make([]float64, l.n), make([]float64, r.n)
	if pl.exactL && pl.exactR && w.cut == 0 {
		return errL, errR, 0
	}
	if !pl.exactR {
		s := 0.5 * math.Exp2(float64(pl.widthL-w.cut)) * (1 + 1e-9)
		for i, x := range l.norm {
			errL[i] = s * x
		}
	}
	if !pl.exactL {
		s := 0.5 * math.Exp2(float64(pl.widthR-w.cut)) * (1 + 1e-9)
		for j, x := range r.norm {
			errR[j] = s * x
		}
	}
	// Both factors' roundings multiply to at most 1/4 a term; the norms of the
	// integers exceed those of the numbers by at most 1/2 a term. The 2 lets users
	// cut the bound to an integer.
	return errL, errR, w.err + 2 + float64(l.k)*math.Exp2(-float64(w.cut))
}

// exactPass computes the failed entries in exact arithmetic.
func (p *product) exactPass(failed [][2]int32) error {
	workers := make([]*directWorker, p.cfg.Threads)
	err := par.For(p.cfg.Ctx, p.cfg.Threads, len(failed), func(id, task int) {
		if workers[id] == nil {
			workers[id] = newDirectWorker(p)
		}
		workers[id].entry(int(failed[task][0]), int(failed[task][1]))
	})
	p.collect(workers)
	return err
}

// direct computes every entry in exact arithmetic.
func (p *product) direct() error {
	p.stats.Method = Direct
	workers := make([]*directWorker, p.cfg.Threads)
	err := par.For(p.cfg.Ctx, p.cfg.Threads, p.c.Cols, func(id, j int) {
		if workers[id] == nil {
			workers[id] = newDirectWorker(p)
		}
		for i := range p.c.Rows {
			if !p.skip(i, j) {
				workers[id].entry(i, j)
			}
		}
		p.progress(1 / float64(p.c.Cols))
	})
	p.collect(workers)
	p.stage("direct")
	return err
}

func (p *product) collect(workers []*directWorker) {
	for _, w := range workers {
		if w != nil {
			p.stats.Overflow += w.overflow
			p.stats.Underflow += w.underflow
		}
	}
}
