package direct

import (
	"math"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/tiles"
)

const (
	// batchBytes bounds the size of the vectors that Gemm prepares at a time.
	batchBytes = 32 << 20
	// fewFloatProducts is the largest number of products whose compensated sums Gemm computes on
	// one thread. Starting another thread takes about as long as computing them.
	fewFloatProducts = 1 << 14
	// cacheBytes is the size of a block of contiguous rows in a matrix that multiplies several
	// vectors. The block stays in the second-level cache.
	cacheBytes = 1 << 20
)

// Gemm computes the product as products of a matrix with vectors. The vectors are the columns of B
// or the rows of A, whichever are fewer. Gemm returns the number of entries that took the exact
// sum. The argument memory bounds the bytes of prepared vectors, unless it is 0 or too small for
// one vector.
func Gemm(w Work, p Product, memory int64, count func(num.Flags)) (int64, error) {
	if p.C.Rows == 0 || p.C.Cols == 0 {
		return 0, w.Ctx.Err()
	}
	if p.C.Cols > p.C.Rows {
		p = p.t()
	}
	if p.Alpha.Class == num.Finite && p.A.Cols == 1 {
		return 0, w.outer(p, count)
	}
	if s, ok := w.Small(&p); ok {
		return w.runSmall(&s, &p, count)
	}
	g := newGemv(w.stopped, p.Alpha, p.A, p.Beta, p.B.Arr.Format, p.C.Arr.Format, count)
	if p.Triangle != 0 { // its columns have few rows of a block
		g.sums.tiles = tiles.Plan{}
	}
	batch := p.C.Cols
	if bytes := g.columnBytes(); bytes > 0 {
		limit := int64(batchBytes)
		if memory > 0 {
			limit = min(limit, memory)
		}
		batch = int(max(1, min(int64(batch), limit/bytes)))
	}
	g.block = g.blockRows(w.Threads, batch)
	if g.sums.tiles.Blocks != 0 {
		g.block = tiles.BlockRows(g.block, p.C.Rows)
	}
	blocks := (p.C.Rows + g.block - 1) / g.block
	parts := 1 // number of parts of the columns of a batch
	if blocks < 2*w.Threads {
		parts = min(batch, (2*w.Threads+blocks-1)/blocks)
	}
	share := (batch + parts - 1) / parts
	batches := (p.C.Cols + batch - 1) / batch
	columns := make([]column, batch)
	workers := make([]*gemvWorker, max(1, min(w.Threads, blocks*parts)))
	var exact atomic.Int64
	defer func() {
		for _, c := range columns {
			c.free()
		}
		for _, w := range workers {
			if w != nil && w.tiles != nil {
				w.tiles.Free()
			}
		}
	}()
	for b := range batches {
		first := b * batch
		n := min(batch, p.C.Cols-first)
		err := par.For(w.Ctx, w.Threads, n, func(_, j int) {
			columns[j].free()
			columns[j] = g.column(p.B.Col(first+j), p.Old.Col(first+j), p.C.Col(first+j))
		})
		if err != nil {
			return exact.Load(), err
		}
		err = par.For(w.Ctx, w.Threads, blocks*parts, func(worker, task int) {
			if workers[worker] == nil {
				workers[worker] = newGemvWorker(g, p.C.Arr.Format)
			}
			lo, part := task/parts*g.block, task%parts
			for j := part * share; j < min(n, (part+1)*share) && w.Ctx.Err() == nil; j++ {
				i0, i1 := p.rows(first+j, lo, min(lo+g.block, p.C.Rows))
				if i0 < i1 {
					workers[worker].column = columns[j]
					exact.Add(workers[worker].rows(i0, i1))
				}
			}
			if w.Done != nil {
				w.Done(1, batches*blocks*parts)
			}
		})
		if err != nil {
			return exact.Load(), err
		}
	}
	return exact.Load(), w.Ctx.Err()
}

// Gemv stores sum_j alpha m_ij x_j + beta y_i, rounded, in number i of z. It returns the number of
// entries that took the exact sum.
func Gemv(w Work, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y num.Vec, z *num.Array, count func(num.Flags)) (int64, error) {
	old := num.Mat{}
	if beta.Class != num.Zero {
		old = y.Mat()
	}
	return Gemm(w, Product{Alpha: alpha, A: m, B: x.Mat(), Beta: beta, Old: old, C: num.Vec{Arr: z, Inc: 1, N: m.Rows}.Mat()}, 0, count)
}

// Small returns how to compute a product as a small one, if that is possible and faster.
func (w Work) Small(p *Product) (s Small, ok bool) {
	if p.Alpha.Class != num.Finite {
		return s, false
	}
	m, n, k := p.C.Rows, p.C.Cols, p.A.Cols
	a, b, c := p.A.Arr.Format, p.B.Arr.Format, p.C.Arr.Format
	if s, ok = PlanSmall(a, b, c, k); ok && s.floats {
		return s, m <= rowBlock && m*n <= fewFloatProducts/k
	}
	return s, ok && s.Fits(m, n, k) && (forceSmall || s.Estimate(m, n, k) < estimateVectors(w.Threads, m, n, k, a, b, c, p.A.RS == 1 || p.A.CS == 1))
}

// forceSmall makes Gemm use Small where it is possible. It is for tests.
var forceSmall bool

// runSmall is Gemm for a small product, on one thread.
func (w Work) runSmall(s *Small, p *Product, count func(num.Flags)) (exact int64, err error) {
	r := smallRooms.Get().(*SmallRoom)
	exact = s.Run(r, w.stopped, p, count)
	smallRooms.Put(r)
	if w.Done != nil {
		w.Done(1, 1)
	}
	return exact, w.Ctx.Err()
}

// columnBytes returns the memory needed to prepare a vector.
func (g *gemv) columnBytes() int64 {
	k := int64(g.m.Cols)
	switch {
	case g.sums.floats:
		return 8 * k
	case g.sums.tiles.Blocks != 0:
		return k * int64(g.sums.tiles.Blocks*tiles.TileBytes/tiles.Quad+17)
	case g.sums.vertical.Digits != 0:
		return k * int64(8*g.sums.vertical.Digits+9)
	case g.sums.top.words != 0:
		return k * int64(8*g.sums.top.words+13)
	case g.sums.groups != 0:
		return k * int64(8*(4*g.sums.groups+5))
	}
	return 0
}

// blockRows returns the number of rows of n products with vectors to compute at a time.
func (g *gemv) blockRows(threads, n int) int {
	rows, least := rowBlock, rowTile
	switch {
	case g.sums.floats:
		rows, least = min(rows, g.m.Rows), sumLanes
	case g.sums.vertical.Digits != 0:
		switch {
		case g.m.Arr.Kind != num.MP:
			rows = 64
		case g.byRows:
			rows, least = 128, 4
		}
	case g.sums.top.words != 0:
	case g.sums.groups == 0:
		return 4
	case g.m.Arr.Kind == num.MP:
		rows = min(rowBlock, 1024/g.sums.groups)
	default: // the converted entries should stay in the cache
		rows = 64
	}
	for rows > least && threads > 1 && rows*threads > g.m.Rows {
		rows /= 2
	}
	if n > 1 && g.m.CS == 1 { // long columns should stream
		bytes := num.SizeOf(g.m.Arr.Format) * int64(g.m.Cols)
		for rows > 8*least && int64(rows)*bytes > cacheBytes {
			rows /= 2
		}
	}
	return rows
}

// Entries computes the product in exact accumulators, entry by entry.
func Entries(w Work, p Product, count func(num.Flags)) error {
	rows, n := p.C.Rows, p.C.Rows*p.C.Cols
	part := max(1, min(1<<10, superacc.Part(p.A.Arr.Format, p.B.Arr.Format)/4/(p.A.Cols+1)))
	parts := (n + part - 1) / part
	accs := make([]superacc.Acc, max(1, min(w.Threads, parts)))
	return w.loop(parts, func(worker, t int) {
		a := &accs[worker]
		a.Stopped = w.stopped
		for e := t * part; e < min((t+1)*part, n); e++ {
			i, j := e%rows, e/rows
			if i0, i1 := p.rows(j, i, i+1); i0 < i1 {
				p.entry(a, i, j, count)
			}
		}
	})
}

// entry computes entry (i, j) from its exact sum.
func (p *Product) entry(a *superacc.Acc, i, j int, count func(num.Flags)) {
	var old num.Real
	if p.Beta.Class != num.Zero {
		old = p.Old.Arr.Value(p.Old.At(i, j), a.Buffer(2))
	}
	f := p.C.Arr.Set(p.C.At(i, j), a.Entry(p.C.Arr.Format, p.Alpha, p.A.Row(i), p.B.Col(j), p.Beta, old))
	if f != 0 {
		count(f)
	}
}

// outer computes the product of a column and a row. The factor alpha is finite and not 0.
func (w Work) outer(p Product, count func(num.Flags)) error {
	e, plain := superacc.PowerOfTwo(p.Alpha.Mag)
	plain = plain && p.Beta.Class == num.Zero
	e += p.Alpha.Exp
	unit := plain && e == 0 && !p.Alpha.Neg
	var x []num.Real
	if plain {
		x = values(p.A.Col(0))
	}
	type scratch struct {
		acc superacc.Acc
		mag []uint64
		buf [num.MaxValueWords]uint64
	}
	workers := make([]*scratch, max(1, min(w.Threads, p.C.Cols)))
	look := superacc.Part(p.A.Arr.Format, p.B.Arr.Format)
	return w.loop(p.C.Cols, func(worker, j int) {
		if workers[worker] == nil {
			workers[worker] = new(scratch)
		}
		s := workers[worker]
		i0, i1 := p.rows(j, 0, p.C.Rows)
		if !plain {
			for i := i0; i < i1; i++ {
				if i%look == 0 && w.stopped() {
					return
				}
				p.entry(&s.acc, i, j, count)
			}
			return
		}
		y := p.B.Arr.Value(p.B.At(0, j), s.buf[:])
		for i := i0; i < i1; i++ {
			if i%look == 0 && w.stopped() {
				return
			}
			if unit && p.floatProduct(i, j) {
				continue
			}
			v := x[i]
			switch {
			case max(v.Class, y.Class) > num.Finite:
				p.entry(&s.acc, i, j, count)
				continue
			case v.Class == num.Zero || y.Class == num.Zero:
				v = num.Real{Neg: v.Neg}
			default:
				s.mag = superacc.Multiply(s.mag, v.Mag, y.Mag)
				v.Mag = s.mag
				v.Exp += y.Exp + e
			}
			v.Neg = v.Neg != (y.Neg != p.Alpha.Neg)
			if f := p.C.Arr.Set(p.C.At(i, j), v); f != 0 {
				count(f)
			}
		}
	})
}

// floatProduct computes the product of two binary64 numbers or of two binary32 numbers and stores
// it as entry (i, j). It does nothing if the exponent of the product is extreme.
func (p *Product) floatProduct(i, j int) bool {
	a, b, c := p.A.At(i, 0), p.B.At(0, j), p.C.At(i, j)
	switch {
	case p.A.Arr.Kind == num.F64 && p.B.Arr.Kind == num.F64 && p.C.Arr.Kind == num.F64:
		v := p.A.Arr.F64[0][a] * p.B.Arr.F64[0][b]
		if m := math.Abs(v); m > 0x1p-1000 && m < 0x1p1000 {
			p.C.Arr.F64[0][c] = v
			return true
		}
	case p.A.Arr.Kind == num.F32 && p.B.Arr.Kind == num.F32 && p.C.Arr.Kind == num.F32:
		v := p.A.Arr.F32[a] * p.B.Arr.F32[b]
		if v > 0x1p-120 && v < 0x1p120 || v < -0x1p-120 && v > -0x1p120 {
			p.C.Arr.F32[c] = v
			return true
		}
	}
	return false
}

// values returns the exact values of the entries of x.
func values(x num.Vec) []num.Real {
	v := make([]num.Real, x.N)
	buf := make([]uint64, num.MaxValueWords)
	for i := range v {
		v[i] = x.Arr.Value(x.At(i), buf)
		if x.Arr.Kind != num.MP {
			v[i].Mag = append([]uint64(nil), superacc.Trim(v[i].Mag)...)
		}
	}
	return v
}
