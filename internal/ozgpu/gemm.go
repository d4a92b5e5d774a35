package ozgpu

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// A Product is C = α A B + β C, with A and B in slices, as package ozaki defines it.
type Product struct {
	*Factors
	C           mem.Matrix
	Alpha, Beta float64 // Alpha finite
	Slices      int     // K
	Width       int     // bits of a slice
	Block       int     // the most terms of a float32 sum
	Literal     bool    // slices are literal; Block is then all of k
	SGEMM       place.SGEMM
	Memory      int64 // limit of device memory in bytes; 0 stands for most of the free memory

	// Bound, if it has an array, receives error bounds of the entries of C. Bounds computes the
	// error bounds of the sums over a block of length terms from the norms of the slices of that
	// block.
	Bound  mem.Matrix
	Bounds func(a, b Norms, length int) Bounds

	// Progress, if not nil, is called after every block of k but the last, with the fraction of the
	// work that is done.
	Progress func(done float64)
}

// The stages of a product.
const (
	splits = iota
	products
	sums
)

// gemm is a product being computed.
type gemm struct {
	*Product
	e           *Engine
	s           *cuda.Stream
	lib         blas
	clock       clock
	stats       Stats
	left, right int64 // bytes of the slices of an entry of A, and of an entry of B
	all         int   // number of products of slices
	pass        int   // products of slices at a time
	rows, cols  int   // size of a part of C
	p           floats
	t, sum      *cuda.Memory // float64, laid out like one matrix of p; nil if not needed
	bounds      *cuda.Memory
	none        *cuda.Memory // zeros, in place of the exponents of literal slices
	done        float64      // entries of C done, counted once for each block of k
}

// Gemm computes p and waits for it. C must not overlap A and B.
func (e *Engine) Gemm(s *cuda.Stream, p *Product) (Stats, error) {
	g := &gemm{Product: p, e: e, s: s, clock: newClock(s, p.began)}
	defer g.free()
	if p.C.Rows == 0 || p.C.Cols == 0 {
		return g.stats, nil
	}
	p.C.Changed()
	if p.Bound.Arr != nil {
		p.Bound.Changed()
	}
	if _, length := p.A.size(); p.Alpha == 0 || length == 0 {
		return g.stats, g.scaled()
	}
	var err error
	if g.lib, g.stats.Kernel, err = e.multiplier(s, p.SGEMM); err != nil {
		return g.stats, err
	}
	if p.Literal {
		if g.none, err = zeros(s, 8*int64(max(p.C.Rows, p.C.Cols))); err != nil {
			return g.stats, err
		}
	}
	k := int64(p.Slices)
	if err := g.plan(4*k, 4*(2*k-1), p.Slices*(p.Slices+1)/2); err != nil {
		return g.stats, err
	}
	if err := g.parts(); err != nil {
		return g.stats, err
	}
	if err := g.specials(); err != nil {
		return g.stats, err
	}
	g.stats.Stages, err = g.clock.stop()
	return g.stats, err
}

func (g *gemm) free() {
	for _, m := range []*cuda.Memory{g.p.p, g.t, g.sum, g.bounds, g.none} {
		m.Free()
	}
	g.clock.close()
}

// blocks returns the number of blocks of k.
func (g *gemm) blocks() int {
	_, n := g.A.size()
	return (n + g.Block - 1) / g.Block
}

// To save memory, plan cuts parts down to leastPart rows or columns, and passes down to leastPass
// products. Only then it cuts passes further.
const (
	leastPart = 128
	leastPass = 8
)

// plan chooses parts of C that fit in the memory allowed, and allocates the buffers that all parts
// share. left and right are the bytes of an entry of A and of B, all is the number of products of
// slices.
func (g *gemm) plan(left, right int64, all int) error {
	g.left, g.right, g.all = left, right, all
	g.rows, g.cols, g.pass = g.C.Rows, g.C.Cols, min(all, mostPairs)
	limit := g.Memory
	if dev := g.s.Device(); limit <= 0 {
		limit = int64(dev.Info().Memory / 16)
		if g.bytes() > limit { // MemInfo takes longer than a small product
			free, _, err := g.s.MemInfo()
			if err != nil {
				return err
			}
			limit = int64(free)/8*7 + dev.Counters().Held
		}
	}
	for g.bytes() > limit {
		switch large := max(g.rows, g.cols); {
		case g.pass > leastPass && 4*int64(g.pass)*int64(g.rows)*int64(g.cols) > limit/2:
			g.pass = max(g.pass/2, leastPass)
		case large > leastPart && g.rows == large:
			g.rows = half(large)
		case large > leastPart:
			g.cols = half(large)
		case g.pass > 1:
			g.pass = (g.pass + 1) / 2
		default:
			limit = math.MaxInt64 // the driver reports whether the memory suffices
		}
	}
	entries := int64(padded(g.rows)) * int64(g.cols)
	g.p.ld, g.p.stride = padded(g.rows), int(entries)
	for _, m := range []struct {
		to   **cuda.Memory
		size int64
	}{
		{&g.p.p, 4 * int64(g.pass) * entries},
		{&g.t, where(g.needsT(), 8*entries)},
		{&g.sum, where(g.blocks() > 1, 8*entries)},
		{&g.bounds, where(g.Bound.Arr != nil, 8*entries)},
	} {
		if m.size == 0 {
			continue
		}
		var err error
		if *m.to, err = g.s.Alloc(m.size); err != nil {
			return err
		}
	}
	return nil
}

// needsT reports whether sums in float64 are kept between passes. Double-float products (all = 0)
// arrive as such sums.
func (g *gemm) needsT() bool { return g.pass < g.all || g.all == 0 }

// bytes returns the device memory that a part of C takes.
func (g *gemm) bytes() int64 {
	_, n := g.A.size()
	rows, cols, length := int64(padded(g.rows)), int64(padded(g.cols)), int64(min(g.Block, n))
	return length*(g.left*rows+g.right*cols) +
		rows*cols*(4*int64(g.pass)+where(g.needsT(), 8)+where(g.blocks() > 1, 8)+where(g.Bound.Arr != nil, 8)) +
		where(g.Bound.Arr != nil, 16*int64(g.Slices)*(length/chunk+2)*(rows+cols))
}

// half returns a multiple of leastPart that is about n / 2, for n > leastPart.
func half(n int) int { return (n/2 + leastPart - 1) / leastPart * leastPart }

// where returns n if yes, 0 otherwise.
func where(yes bool, n int64) int64 {
	if yes {
		return n
	}
	return 0
}

// parts computes C in parts of rows and columns, each over all blocks of k.
func (g *gemm) parts() (err error) {
	_, n := g.A.size()
	norms := g.Bound.Arr != nil
	var left, right *split
	defer func() {
		left.free()
		right.free()
	}()
	for j := 0; j < g.C.Cols; j += g.cols {
		j1 := min(j+g.cols, g.C.Cols)
		for i := 0; i < g.C.Rows; i += g.rows {
			i1 := min(i+g.rows, g.C.Rows)
			for h := 0; h < n; h += g.Block {
				h1 := min(h+g.Block, n)
				if err := g.clock.start(splits); err != nil {
					return err
				}
				left.free()
				if left, err = g.split(g.A, i, i1, h, h1, leftPlaces(g.Slices)); err != nil {
					return err
				}
				if i == 0 || g.blocks() > 1 {
					right.free()
					if right, err = g.split(g.B, j, j1, h, h1, rightPlaces(g.Slices)); err != nil {
						return err
					}
				}
				if g.looks() {
					if err := left.look(g.s); err != nil {
						return err
					}
					if err := right.look(g.s); err != nil {
						return err
					}
				}
				if norms {
					if err := g.bound(left, right, h > 0); err != nil {
						return err
					}
				}
				if err := g.block(left, right, h > 0, h1 == n, i, j); err != nil {
					return err
				}
				if err := g.advance(i1-i, j1-j); err != nil {
					return err
				}
			}
			g.stats.Parts++
		}
	}
	return nil
}

// split splits the entries h0 to h1 - 1 of the vectors v0 to v1 - 1.
func (g *gemm) split(v *Vectors, v0, v1, h0, h1 int, to places) (*split, error) {
	norms := g.Bound.Arr != nil
	if g.Literal {
		return newLiteral(g.s, v, v0, v1, g.Width, g.Slices, to, g.looks(), norms)
	}
	return g.e.newSplit(g.s, v, v0, v1, h0, h1, g.Width, g.Slices, to, g.looks(), norms)
}

// advance waits for a block of k for rows x cols entries of C and reports progress, if requested.
func (g *gemm) advance(rows, cols int) error {
	if g.Progress == nil {
		return nil
	}
	total := float64(g.C.Rows) * float64(g.C.Cols) * float64(g.blocks())
	if g.done += float64(rows * cols); g.done == total {
		return nil
	}
	if err := g.s.Synchronize(); err != nil {
		return err
	}
	g.Progress(g.done / total)
	return nil
}

// worthLook is the number of multiplications from which on it pays to find out which slices are
// zero.
const worthLook = 1 << 33

// looks reports whether zero slices are searched for.
func (g *gemm) looks() bool {
	_, n := g.A.size()
	return int64(g.rows)*int64(g.cols)*int64(min(g.Block, n))*int64(g.all) >= worthLook
}

// bound sets the error bounds of a block, or adds them to the bounds of the blocks before.
func (g *gemm) bound(left, right *split, more bool) error {
	a, err := g.e.normsOf(g.s, left)
	if err != nil {
		return err
	}
	b, err := g.e.normsOf(g.s, right)
	if err != nil {
		return err
	}
	z := g.Bounds(a, b, left.length)
	x, err := table(g.s, z.X, z.SumX)
	if err != nil {
		return err
	}
	defer x.Free()
	y, err := table(g.s, z.Y, z.SumY)
	if err != nil {
		return err
	}
	defer y.Free()
	return g.e.bound.Launch(g.s, cuda.Dim{X: (left.n*right.n + 255) / 256}, cuda.Dim{X: 256}, 0, bounding{
		x: x.Pointer(), y: y.Pointer(), bounds: g.bounds.Pointer(), xLd: int64(left.n), yLd: int64(right.n), ld: int64(g.p.ld),
		tau: z.Tau, rows: int32(left.n), cols: int32(right.n), terms: int32(len(z.X)), more: flag(more),
	})
}

// bounding is the argument of the kernel ozakiBound.
type bounding struct {
	x, y, bounds            cuda.Pointer
	xLd, yLd, ld            int64
	tau                     float64
	rows, cols, terms, more int32
}

// table uploads rows and last, which all have the same length.
func table(s *cuda.Stream, rows [][]float64, last []float64) (*cuda.Memory, error) {
	m, err := s.Alloc(8 * int64((len(rows)+1)*len(last)))
	if err != nil {
		return nil, err
	}
	for i, row := range append(rows[:len(rows):len(rows)], last) {
		if err := cuda.Upload(s, m.At(8*int64(i*len(last))), row); err != nil {
			m.Free()
			return nil, err
		}
	}
	return m, nil
}

// block adds the products of the slices of a block of k to the part of C that begins at (i, j).
// more reports whether blocks came before, end whether this block is the last.
func (g *gemm) block(left, right *split, more, end bool, i, j int) error {
	list, last := pairsOf(left, right, g.Slices, g.Literal)
	g.stats.Products += len(list)
	g.stats.Skipped += g.all - len(list)
	for first := 0; ; first += g.pass {
		part := list[first:min(first+g.pass, len(list))]
		if err := g.clock.start(products); err != nil {
			return err
		}
		if len(part) > 0 {
			if err := g.e.multiply(g.s, g.lib, left, right, part, g.p); err != nil {
				return err
			}
		}
		if err := g.clock.start(sums); err != nil {
			return err
		}
		done := first+g.pass >= len(list)
		a := g.summing(left.n, right.n, i, j)
		a.count, a.last = int32(len(part)), int32(last)
		for p, q := range part {
			a.down[p] = q.down
		}
		a.moreT, a.endT, a.moreSum = flag(first > 0), flag(done), flag(more)
		if !end {
			a.c = 0
		}
		if err := g.launchSum(a); err != nil || done {
			return err
		}
	}
}

// summing is the argument of the kernel ozakiSum.
type summing struct {
	p, t, sum, c, left, right, specialLeft, specialRight cuda.Pointer
	bounds, bound                                        cuda.Pointer
	ld, stride                                           int64
	rs, cs                                               int64
	boundRs, boundCs                                     int64
	m, beta                                              float64
	e, shift, w, last                                    int32
	rows, cols, count                                    int32
	moreT, endT, moreSum                                 int32
	down                                                 [mostPairs]uint8
}

// summing returns the argument for the rows x cols part of C that begins at (i, j).
func (g *gemm) summing(rows, cols, i, j int) summing {
	m, e := math.Frexp(g.Alpha)
	a := summing{
		p: address(g.p.p), t: address(g.t), sum: address(g.sum), bounds: address(g.bounds),
		c: entry(g.C, i, j), rs: int64(g.C.RS), cs: int64(g.C.CS),
		left: g.A.bitsAt(i), right: g.B.bitsAt(j),
		specialLeft: g.A.specialAt(i), specialRight: g.B.specialAt(j),
		ld: int64(g.p.ld), stride: int64(g.p.stride),
		m: m, e: int32(e), beta: g.Beta, shift: int32(2 * g.Width), w: int32(g.Width + 1),
		rows: int32(rows), cols: int32(cols),
	}
	if g.none != nil {
		a.left, a.right, a.shift, a.w = g.none.Pointer(), g.none.Pointer(), 0, 0
	}
	if g.Bound.Arr != nil {
		a.bound, a.boundRs, a.boundCs = entry(g.Bound, i, j), int64(g.Bound.RS), int64(g.Bound.CS)
	}
	return a
}

func (g *gemm) launchSum(a summing) error {
	quads := (int64(a.rows) + 3) / 4 * int64(a.cols)
	return g.e.sum.Launch(g.s, cuda.Dim{X: int((quads + 255) / 256)}, cuda.Dim{X: 256}, 0, a)
}

// entry returns the address of entry (i, j) of a Float64 matrix.
func entry(m mem.Matrix, i, j int) cuda.Pointer {
	return m.Arr.Plane(0) + cuda.Pointer(8*int64(m.Off+i*m.RS+j*m.CS))
}

// address returns the address of m, 0 for nil.
func address(m *cuda.Memory) cuda.Pointer {
	if m == nil {
		return 0
	}
	return m.Pointer()
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// scaled sets C = β C.
func (g *gemm) scaled() error {
	none, err := zeros(g.s, 8*int64(max(g.C.Rows, g.C.Cols)))
	if err != nil {
		return err
	}
	defer none.Free()
	p := *g.Product
	v := &Vectors{bits: none.Pointer(), special: none.Pointer()}
	p.Factors, p.Alpha = &Factors{A: v, B: v}, 0.5
	g.Product = &p
	g.p.ld = padded(g.C.Rows)
	a := g.summing(g.C.Rows, g.C.Cols, 0, 0)
	a.endT, a.shift = 1, 0
	return g.launchSum(a)
}

// specials sets the entries of C that depend on infinite or NaN operands.
func (g *gemm) specials() error {
	if has, err := g.hasSpecial(g.s); err != nil || !has {
		return err
	}
	a := specials{
		a: g.A.view, b: g.B.view, left: g.A.special, right: g.B.special,
		c: entry(g.C, 0, 0), rs: int64(g.C.RS), cs: int64(g.C.CS), alpha: g.Alpha, beta: g.Beta,
	}
	if g.Bound.Arr != nil {
		a.bound, a.boundRs, a.boundCs = entry(g.Bound, 0, 0), int64(g.Bound.RS), int64(g.Bound.CS)
	}
	if err := g.launchSpecial(a, g.C.Rows, g.C.Cols, 0); err != nil {
		return err
	}
	return g.launchSpecial(a, g.C.Cols, g.C.Rows, 1)
}

// specials is the argument of the kernel ozakiSpecial.
type specials struct {
	a, b             view
	left, right      cuda.Pointer
	c, bound         cuda.Pointer
	rs, cs           int64
	boundRs, boundCs int64
	alpha, beta      float64
}

// launchSpecial runs ozakiSpecial for lines rows of that many entries, or for lines columns.
func (g *gemm) launchSpecial(a specials, lines, entries int, columns int32) error {
	return g.e.special.Launch(g.s, cuda.Dim{X: lines * ((entries + 255) / 256)}, cuda.Dim{X: 256}, 0, a, columns)
}
