// Package residue is the engine of matrix products: it aligns operands to integers, multiplies
// these modulo small moduli, reconstructs the products, and rounds them once. Entries that the
// rounding test cannot decide are computed in exact arithmetic.
package residue

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/plan"
	"github.com/halfulp/halfulp/internal/rounding"
)

// Stats describes how a product ran.
type Stats struct {
	Device         string
	Processes      []string // of a grid: the devices of each process
	Method         string
	Kernel         string
	Moduli         int
	Products       int64
	WidthL, WidthR int
	Blocks         int
	Exact          int64
	Overflow       int64
	Underflow      int64
	Check          Check
	Stages         []Stage
}

// Stage is the wall-clock time of one stage.
type Stage struct {
	Name string
	Time time.Duration
}

// Add adds the statistics of another part of the same result.
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
	s.Check.Add(t.Check)
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

// Config holds the options of a product.
type Config struct {
	par.Run
	// Triangle restricts the output to one triangle of C: 'U', 'L', or 0 for all of it.
	Triangle byte
	// Steps, if not nil, bounds the triangle in place of the diagonal: row i of 'L' has the columns
	// j < Steps[i], and row i of 'U' the others. Steps must not decrease, and C need not be square.
	Steps []int
	// Bound, if not nil, is a proved bound of the result.
	Bound *Bound
}

// The methods.
const (
	Auto    = "auto"
	Residue = "residue"
	Direct  = "direct"
)

// ErrMemory means that a product does not fit in the memory allowed.
var ErrMemory = memlimit.ErrExceeded

// ErrRange means that residues do not apply: the pool of moduli is too small for the precision, or
// alpha is not finite.
var ErrRange = errors.New("beyond the range of the residue method")

// product is a product C = alpha A B + beta C in progress.
type product struct {
	cfg         Config
	a, b        num.Mat // b as its columns: row v of b is column v of the factor
	old, c      num.Mat // the C that is read, and the C that is written
	alpha, beta scaling
	l, r        *operand // nil for a Finisher
	// unit is the exponent of one unit of 2^cut of the integer product, without the exponents of
	// the vectors.
	unit    int64
	problem plan.Problem
	plan    layout
	within  *bounded // for a bounded result, whose old entries are among the integers
	near    bool     // the integers are within the tolerance: no rounding is tested
	stats   Stats
	mu      sync.Mutex // guards done and calls of Progress
	done    float64
	clock   time.Time
}

// A Planned is a product C = alpha A B + beta Old by residues, rounded once: A is m x k, B is k x
// n, Old and C are m x n views. C must not share storage with A and B, and with Old only if it is
// the same view. If beta is zero, Old is not read.
type Planned struct {
	p          *product
	preA, preB *Prepared
	transposed bool
}

// Plan scans the operands and chooses widths and base. It returns ErrRange if residues do not
// apply.
func Plan(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat, preA, preB *Prepared) (*Planned, error) {
	return planAmong(inForce(cfg.Check), cfg, alpha, a, b, beta, old, c, preA, preB)
}

// planAmong is Plan with the given kernels to choose from.
func planAmong(among []kernels, cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat, preA, preB *Prepared) (*Planned, error) {
	if !Applies(alpha, beta, c.Rows, c.Cols, a.Cols) {
		return nil, ErrRange
	}
	// Results are written row by row; a result that is stored by columns is computed as its
	// transpose.
	transposed := c.RS == 1 && c.CS != 1 && cfg.Steps == nil
	if transposed {
		cfg.Triangle, cfg.Bound = otherTriangle(cfg.Triangle), cfg.Bound.transposed()
		a, b, old, c, preA, preB = b.T(), a.T(), old.T(), c.T(), preB, preA
	}
	p := &product{cfg: cfg, a: a, b: b.T(), old: old, c: c, alpha: newScaling(alpha), beta: newScaling(beta), clock: time.Now()}
	p.stats.Device, p.stats.Blocks = "cpu", 1
	l, err := preA.scan(cfg, p.a)
	if err != nil {
		return nil, err
	}
	r, err := preB.scan(cfg, p.b)
	if err != nil {
		return nil, err
	}
	p.problem = plan.Problem{
		M: l.n, N: r.n, K: l.k, A: a.Arr.Format, B: b.Arr.Format, C: c.Arr.Format, Kept: [2]bool{preA.keeps(), preB.keeps()},
		Left: l.summary(), Right: r.summary(),
	}
	p.l, p.r = l, r
	p.bound(l, r)
	if !p.problem.Tolerant {
		if p.problem.Samples, err = p.samples(l, r); err != nil {
			return nil, err
		}
	}
	for _, q := range choose(&p.problem, among) {
		q.base = baseOf(q.pool(), q.Moduli)
		if p.plan = q; p.need(1, 1) <= cfg.Memory { // panels of bytes are larger
			break
		}
	}
	q := &p.plan
	if q.base == nil {
		return nil, ErrRange
	}
	if p.within != nil {
		p.within.fit(q.WidthL + q.WidthR)
	}
	p.stage("plan")
	p.stats.Method, p.stats.Kernel, p.stats.Moduli = Residue, q.name(), q.Moduli
	p.stats.WidthL, p.stats.WidthR = q.WidthL, q.WidthR
	p.stats.Check.Modulus = q.base.pool.check
	if transposed {
		p.stats.WidthL, p.stats.WidthR = q.WidthR, q.WidthL
	}
	return &Planned{p, preA, preB, transposed}, nil
}

// otherTriangle returns the triangle of the transpose.
func otherTriangle(triangle byte) byte {
	switch triangle {
	case 'U':
		return 'L'
	case 'L':
		return 'U'
	}
	return triangle
}

// Applies reports whether residues apply to m x n results of k products each.
func Applies(alpha, beta num.Real, m, n, k int) bool {
	return alpha.Class == num.Finite && (beta.Class == num.Finite || beta.Class == num.Zero) && m > 0 && n > 0 && k > 0
}

// Time returns the approximate time of Run.
func (q *Planned) Time() time.Duration {
	return duration(q.p.plan.kernels, q.p.cfg.Threads, &q.p.problem, &q.p.plan.Plan)
}

// Run computes the product. It returns ErrMemory, with nothing written, if the smallest tiles do
// not fit in memory.
func (q *Planned) Run() (Stats, error) {
	defer trimBases(min(keptBases, q.p.cfg.Memory/4))
	err := q.p.tiles(q.p.l, q.p.r, q.preA, q.preB)
	if fault := (*HardwareError)(nil); q.transposed && errors.As(err, &fault) {
		fault.Row, fault.Col = fault.Col, fault.Row
	}
	return q.p.stats, err
}

// stage ends the stage that ran since the last call.
func (p *product) stage(name string) {
	now := time.Now()
	p.stats.addStage(Stage{name, now.Sub(p.clock)})
	p.clock = now
}

// stages ends two interleaved stages that ran since the last call, and divides the time in
// proportion to their work.
func (p *product) stages(first string, work1 time.Duration, second string, work2 time.Duration) {
	now := time.Now()
	took := now.Sub(p.clock)
	part := time.Duration(float64(took) * float64(work1) / max(1, float64(work1+work2)))
	p.stats.addStage(Stage{first, part})
	p.stats.addStage(Stage{second, took - part})
	p.clock = now
}

// progress adds share to the fraction of the work that is done.
func (p *product) progress(share float64) {
	if p.cfg.Progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = min(1, p.done+share)
	p.cfg.Progress(p.done)
}

// tiles runs the product in tiles of rows and columns whose residues fit in the memory allowed.
func (p *product) tiles(l, r *operand, preA, preB *Prepared) error {
	pl := &p.plan
	mt, nt := l.n, r.n
	for p.need(mt, nt) > p.cfg.Memory {
		switch {
		case mt >= nt && mt > pl.panel(left):
			mt = (mt + 1) / 2
		case nt > pl.panel(right):
			nt = (nt + 1) / 2
		case mt > pl.panel(left):
			mt = (mt + 1) / 2
		default:
			return ErrMemory
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
		ra, err := preA.residues(p, li, left, pl.WidthL, share*0.1)
		if err != nil {
			return err
		}
		for j0 := 0; j0 < r.n; j0 += nt {
			rj := r.slice(j0, min(j0+nt, r.n))
			rb, err := preB.residues(p, rj, right, pl.WidthR, share*0.1)
			if err != nil {
				return err
			}
			p.stage("residues")
			fails, err := p.multiply(li, rj, ra, rb, i0, j0, share*0.8)
			if err != nil {
				return err
			}
			failed = append(failed, fails...)
			if preB == nil {
				rb.release()
			}
		}
		if preA == nil {
			ra.release()
		}
	}
	p.stats.Exact += int64(len(failed))
	if p.plan.checked {
		p.stats.Check.Unchecked += int64(len(failed))
	}
	err := p.exactPass(failed)
	p.stage("exact pass")
	return err
}

// need returns the memory for tiles of m rows and n columns.
func (p *product) need(m, n int) int64 {
	q := &p.plan
	return q.base.tableBytes(q.kernel, q.WidthL, q.WidthR) +
		newResidues(q.kernels, q.base, left, m, p.problem.K, q.WidthL).memory() +
		newResidues(q.kernels, q.base, right, n, p.problem.K, q.WidthR).memory() +
		p.productBytes(m, n)
}

// slice returns the operand of the vectors v0 <= v < v1.
func (o *operand) slice(v0, v1 int) *operand {
	s := *o
	s.mat.Off, s.mat.Rows, s.n = o.mat.At(v0, 0), v1-v0, v1-v0
	s.exp, s.norm, s.special, s.spans = o.exp[v0:v1], o.norm[v0:v1], o.special[v0:v1], o.spans[v0:v1]
	return &s
}

// Blocks of the result. A worker multiplies a block modulo every modulus and reconstructs it while
// its residues are in the last level cache. Results that would leave only small blocks to each
// worker are shared: see shared.
const (
	blockRows = 256
	blockCols = 512
	// triangleBlock is the maximum of both if a triangle is requested: blocks outside of it are not
	// computed.
	triangleBlock = 126
	// sharedBytes bounds the residues of a shared result.
	sharedBytes = 512 << 20
)

// A tiling divides a result of rows x cols panels into blocks.
type tiling struct {
	rows, cols           int
	rowPanels, colPanels int // of a block
	size                 int // residues of a block modulo one modulus
	shared               bool
}

// blocks returns the number of blocks.
func (t *tiling) blocks() int { return t.rowBlocks() * t.colBlocks() }

func (t *tiling) rowBlocks() int { return (t.rows + t.rowPanels - 1) / t.rowPanels }
func (t *tiling) colBlocks() int { return (t.cols + t.colPanels - 1) / t.colPanels }

// block returns the first panels of block b, and its numbers of panels.
func (t *tiling) block(b int) (pi, pj, mp, np int) {
	rows := t.rowBlocks()
	pi, pj = b%rows*t.rowPanels, b/rows*t.colPanels
	return pi, pj, min(t.rowPanels, t.rows-pi), min(t.colPanels, t.cols-pj)
}

// residues returns the residues of a buffer modulo one modulus.
func (t *tiling) residues() int {
	if t.shared {
		return t.blocks() * t.size
	}
	return t.size
}

// tiling returns the blocks of an m x n result: at least four for each worker if the result is
// large enough.
//
// The residues of a shared result are stored for all blocks, so that a task multiplies one block
// modulo one modulus. There are enough tasks with larger blocks, and each operand's residues are
// read from memory fewer times. Only whole products on tiles are shared, without old entries among
// the integers.
func (p *product) tiling(m, n int) tiling {
	threads := p.cfg.Threads
	own := p.divided(m, n, 4*threads)
	if p.plan.bytes == nil || threads == 1 || p.cfg.Triangle != 0 || p.within != nil {
		return own
	}
	shared := p.divided(m, n, (8*threads+p.planes()-1)/p.planes())
	shared.shared = true
	if shared.blocks() < own.blocks() && p.tilingBytes(&shared) <= sharedBytes {
		return shared
	}
	return own
}

// divided returns a tiling of at least so many blocks, if the result has enough panels.
func (p *product) divided(m, n, least int) tiling {
	k := p.plan.kernels
	mp, np := k.panels(left, m), k.panels(right, n)
	rowsMost, colsMost := blockRows, blockCols
	if p.cfg.Triangle != 0 {
		rowsMost, colsMost = min(rowsMost, triangleBlock), min(colsMost, triangleBlock)
	}
	rows := max(1, (m+rowsMost-1)/rowsMost)
	cols := max(1, (n+colsMost-1)/colsMost)
	for rows*cols < least && p.cfg.Threads > 1 {
		if (mp+rows-1)/rows*k.panel(left) >= (np+cols-1)/cols*k.panel(right) && rows < mp {
			rows++
		} else if cols < np {
			cols++
		} else if rows < mp {
			rows++
		} else {
			break
		}
	}
	t := tiling{rows: mp, cols: np, rowPanels: (mp + rows - 1) / rows, colPanels: (np + cols - 1) / cols}
	t.size = t.rowPanels * k.panel(left) * t.colPanels * k.panel(right)
	return t
}

// tilingBytes returns the size of a buffer of residues of the result.
func (p *product) tilingBytes(t *tiling) int64 {
	return 2 * int64(p.planes()) * int64(planeStride(t.residues()))
}

// productBytes returns the size of the residues of an m x n result that are stored at a time.
func (p *product) productBytes(m, n int) int64 {
	t := p.tiling(m, n)
	if t.shared {
		return p.tilingBytes(&t)
	}
	return int64(p.cfg.Threads) * p.tilingBytes(&t)
}

// planeStride returns the distance between planes of n residues: an odd number of cache lines keeps
// them out of each other's cache sets.
func planeStride(n int) int { return (n+31)/32*32 | 32 }

// multiply computes the block of C at (i0, j0) from the residues, and returns the entries that
// failed the rounding test.
func (p *product) multiply(l, r *operand, ra, rb *residues, i0, j0 int, share float64) ([][2]int32, error) {
	b := p.plan.base
	w := b.reconstruction(p.plan.kernel, p.cut())
	p.unit = int64(w.cut - p.plan.WidthL - p.plan.WidthR)
	errL, errR, errAll := p.errors(l, r, w)
	multiply := p.multiplier(ra, rb)
	mr, nr := ra.panel, rb.panel
	c, old := p.c, p.old
	c.Off, c.Rows, c.Cols = c.At(i0, j0), l.n, r.n
	if !p.beta.zero {
		old.Off = old.At(i0, j0)
	}

	tiles := p.tiling(l.n, r.n)
	blocks := tiles.blocks()
	stride := planeStride(tiles.residues())
	betaC := p.newBetaC()
	workers := make([]*worker, p.cfg.Threads)
	workerOf := func(id int) *worker {
		wk := workers[id]
		if wk == nil {
			wk = newWorker(p, w, old, c, l, r, tiles.size)
			wk.fin.errL, wk.fin.errR, wk.fin.errAll = errL, errR, errAll
			wk.fin.i0, wk.fin.j0 = i0, j0
			workers[id] = wk
		}
		return wk
	}
	// multiplyBlock computes the residues of a block modulo the planes from <= t < to, the first
	// plane at planes. It returns false if the context is cancelled.
	multiplyBlock := func(wk *worker, block, from, to int, planes []int16) bool {
		pi, pj, mp, np := tiles.block(block)
		wk.regions = p.regions(wk.regions[:0], ra, rb, pi, pj, mp, np, i0, j0)
		for t := from; t < to; t++ {
			plane := planes[(t-from)*stride:][:mp*mr*np*nr]
			for _, r := range wk.regions {
				ended := !p.inParts(r, ra, rb, func(part region, add bool) {
					multiply(t, plane[(r.pi-pi)*mr*np*nr+(r.pj-pj)*nr:], np*nr, part, add || betaC != nil)
				})
				if ended {
					return false
				}
			}
		}
		return true
	}
	var err error
	if tiles.shared {
		err = p.multiplyShared(&tiles, stride, share, mr, nr, workerOf, multiplyBlock)
	} else {
		err = par.For(p.cfg.Ctx, p.cfg.Threads, blocks, func(id, block int) {
			defer p.progress(share / float64(blocks))
			pi, pj, mp, np := tiles.block(block)
			if p.cfg.Triangle != 0 && p.outside(i0+pi*mr, i0+(pi+mp)*mr, j0+pj*nr, j0+(pj+np)*nr) {
				return
			}
			wk := workerOf(id)
			if wk.c == nil {
				wk.c = getBuffer[int16](p.planes() * stride)
			}
			start := time.Now()
			if betaC != nil {
				wk.begin(betaC, pi*mr, pj*nr, mp*mr, np*nr, stride)
			}
			if !multiplyBlock(wk, block, 0, len(b.planes), wk.c) {
				return
			}
			if f := spoil.Load(); f != nil {
				(*f)(wk.c, stride)
			}
			multiplied := time.Now()
			wk.multiplying += multiplied.Sub(start)
			wk.reconstruct(pi*mr, pj*nr, mp*mr, np*nr, stride)
			wk.rounding += time.Since(multiplied)
		})
	}
	var failed [][2]int32
	p.stats.Products += int64(b.products())
	var multiplying, rounding time.Duration
	var fault *HardwareError
	for _, wk := range workers {
		if wk == nil {
			continue
		}
		multiplying += wk.multiplying
		rounding += wk.rounding
		failed = append(failed, wk.fin.failed...)
		p.stats.Check.Compared += wk.fin.compared
		if f := wk.fin.fault; f != nil && f.before(fault) {
			fault = f
		}
		p.stats.Overflow += wk.fin.overflow
		p.stats.Underflow += wk.fin.underflow
		wk.release()
	}
	p.stages("products", multiplying, "rounding", rounding)
	if err == nil && fault != nil {
		err = fault
	}
	return failed, err
}

// sharedRows is the number of rows of a block that a task of a shared result reconstructs.
const sharedRows = 16

// multiplyShared computes the blocks of a shared result, first their residues, then their entries.
// The moduli with the most products come first.
func (p *product) multiplyShared(tiles *tiling, stride int, share float64, mr, nr int, workerOf func(id int) *worker, multiply func(wk *worker, block, from, to int, planes []int16) bool) error {
	moduli, blocks := len(p.plan.base.planes), tiles.blocks()
	planes, err := getPlanes[int16](p.cfg.Ctx, p.cfg.Threads, moduli*stride)
	if err != nil {
		return err
	}
	defer putBuffer(planes)
	err = par.For(p.cfg.Ctx, p.cfg.Threads, moduli*blocks, func(id, task int) {
		t, block := moduli-1-task/blocks, task%blocks
		wk := workerOf(id)
		start := time.Now()
		multiply(wk, block, t, t+1, planes[t*stride+block*tiles.size:])
		wk.multiplying += time.Since(start)
		p.progress(share * 0.8 / float64(moduli*blocks))
	})
	if err != nil {
		return err
	}
	if f := spoil.Load(); f != nil {
		(*f)(planes, stride)
	}
	parts := (tiles.rowPanels*mr + sharedRows - 1) / sharedRows
	return par.For(p.cfg.Ctx, p.cfg.Threads, blocks*parts, func(id, task int) {
		block, row := task/parts, task%parts*sharedRows
		pi, pj, mp, np := tiles.block(block)
		if rows := min(sharedRows, mp*mr-row); rows > 0 {
			wk := workerOf(id)
			start := time.Now()
			wk.c = planes[block*tiles.size+row*np*nr:]
			wk.reconstruct(pi*mr+row, pj*nr, rows, np*nr, stride)
			wk.c = nil
			wk.rounding += time.Since(start)
		}
		p.progress(share * 0.2 / float64(blocks*parts))
	})
}

// partProducts bounds the products of residues between two looks at the context: some 20 ms with
// AVX2. Sums of fewer than partLength products are not divided, since the residues of a block pass
// through the caches once more for each part.
const (
	partProducts = 1 << 29
	partLength   = 1 << 11
)

// inParts calls f for parts of the sums of region r, one after the other. add is set for all parts
// but the first. If the context is cancelled, inParts stops and returns false.
func (p *product) inParts(r region, ra, rb *residues, f func(part region, add bool)) bool {
	numbers, align := ra.unit()
	length := max(partProducts/(r.mp*ra.panel*r.np*rb.panel), partLength) / numbers / align * align
	for add := false; !add || r.from < r.to; add = true {
		if p.cfg.Ctx.Err() != nil {
			return false
		}
		part := r
		part.to = min(r.to, r.from+length)
		f(part, add)
		r.from = part.to
	}
	return true
}

// A multiplier computes a region of the product modulo the modulus of plane t, and adds it to c if
// add is set.
type multiplier func(t int, c []int16, ldc int, r region, add bool)

// multiplier returns the multiplier of the kernels.
func (p *product) multiplier(ra, rb *residues) multiplier {
	moduli, bytes := p.plan.base.prepared()
	if k := p.plan.bytes; k != nil {
		return func(t int, c []int16, ldc int, r region, add bool) {
			a, b := ra.bytePlanes(t, r.pi), rb.bytePlanes(t, r.pj)
			modgemm.MulBytes(k, c, ldc, a, ra.stride, b, rb.stride, r.mp, r.np, ra.steps, r.from, r.to, &bytes[t], add)
		}
	}
	return func(t int, c []int16, ldc int, r region, add bool) {
		mul := modgemm.Mul
		if add {
			mul = modgemm.MulAdd
		}
		mul(p.plan.kernel, c, ldc, ra.plane(t, r.pi), rb.plane(t, r.pj), r.mp, r.np, ra.kPairs, r.from, r.to, moduli[t])
	}
}

// outside reports whether the block of rows i0 <= i < i1 and columns j0 <= j < j1 has no entry of
// the requested triangle.
func (p *product) outside(i0, i1, j0, j1 int) bool {
	if p.cfg.Triangle == 'U' {
		return p.step(i0) >= j1
	}
	return j0 >= p.step(min(i1, p.c.Rows)-1)
}

// step returns the first column of row i that is not in the triangle 'L', or that is in 'U'.
func (p *product) step(i int) int {
	switch {
	case p.cfg.Steps != nil:
		return p.cfg.Steps[i]
	case p.cfg.Triangle == 'L':
		return i + 1
	}
	return i
}

// skip reports whether entry (i, j) lies outside of the requested triangle.
func (p *product) skip(i, j int) bool {
	switch p.cfg.Triangle {
	case 'U':
		return j < p.step(i)
	case 'L':
		return j >= p.step(i)
	}
	return false
}

// span returns the range, among the n entries of row i from column j on, that is in the requested
// triangle.
func (p *product) span(i, j, n int) (from, to int) {
	switch p.cfg.Triangle {
	case 'U':
		return min(max(p.step(i)-j, 0), n), n
	case 'L':
		return 0, min(max(p.step(i)-j, 0), n)
	}
	return 0, n
}

// cut returns the number of bits that reconstruction drops.
func (p *product) cut() int {
	q := &p.plan
	if p.within != nil {
		q.Cut = min(q.Cut, max(0, int(q.base.log2M)-wordBits))
	}
	if q.ExactL && q.ExactR && q.Cut < wordBits { // not worth a rounding test
		return 0
	}
	return q.Cut
}

// errors returns bounds of the error of the integer product in units of 2^w.cut: errL[i] + errR[j]
// + errAll for row i and column j. The error of a special column is infinite, and errR has further
// entries for rounding after the last column. All are 0 if the errors of the integers are within
// the tolerance.
func (p *product) errors(l, r *operand, w *weights) (errL, errR []float64, errAll float64) {
	scaleL, scaleR, errAll := p.plan.Errors(&p.problem, w.cut, w.err)
	if p.within != nil && p.within.rounded { // by at most half a unit of the integers
		errAll++
	}
	// addOld truncates less than a unit.
	if p.near = p.problem.Tolerated(&p.plan.Plan, w.cut, scaleL, scaleR, errAll+1); p.near {
		scaleL, scaleR, errAll = 0, 0, 0
	}
	scaled := func(norm []float64, scale float64) []float64 {
		e := make([]float64, len(norm))
		if scale != 0 {
			for i, x := range norm {
				e[i] = scale * x
			}
		}
		return e
	}
	errR = append(scaled(r.norm, scaleR), make([]float64, rounding.Group)...)
	for j, special := range r.special {
		if special {
			errR[j] = math.Inf(1)
		}
	}
	return scaled(l.norm, scaleL), errR, errAll
}

// exactPass computes the failed entries in exact arithmetic.
func (p *product) exactPass(failed [][2]int32) error {
	workers := make([]*directWorker, p.cfg.Threads)
	err := par.For(p.cfg.Ctx, p.cfg.Threads, len(failed), func(id, task int) {
		if workers[id] == nil {
			workers[id] = newDirectWorker(p)
			workers[id].acc.Stopped = func() bool { return p.cfg.Ctx.Err() != nil }
		}
		workers[id].entry(int(failed[task][0]), int(failed[task][1]))
	})
	p.collect(workers)
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
