package rnsgpu

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/place"
)

// This file runs Algorithm 1 of 001 as published, and its basic implementation, by the kernels of
// kernels/rns/algorithm1.cuh.

// paperArray is struct mparray of the kernels: numbers in a layout of the papers, mp_array_t or
// mp_float_t[].
type paperArray struct {
	digits, sign, exp, lo, up, buf    cuda.Pointer
	len                               int64
	digitStep, intStep, evalStep, mod int32
}

// basicProduct is struct basic of the kernels.
type basicProduct struct {
	a, x, y, t, u, s paperArray
	count, rs, cs    int64
	fresh, _         int32
}

// The launch configurations, which the paper calls tunable. blockDim1 is the number of threads of a
// block, and gridDim1 the number of blocks in each direction of a grid, of the kernels for signs,
// exponents and evaluations. gridDim2 is the number of blocks of the kernels for digits. gridDim3
// is the most blocks of the kernel that rounds a matrix, and of conversions.
const (
	blockDim1 = 128
	gridDim1  = 128
	gridDim2  = 128
	gridDim3  = 1 << 13
)

// maxRowBlock is the largest block of rnsRowSum. basicBlock is a warp, so that the rows of a matrix
// of order 1000 are spread over many multiprocessors.
const (
	maxRowBlock = 256
	basicBlock  = 32
)

// Sizes in bytes: of one bound of an evaluation, and of an int4 of buf.
const (
	xfloatBytes = 16
	int4Bytes   = 16
)

// floatBytes returns the size of an mp_float_t in bytes: both bounds, sign, exponent and residues.
func (b *Base) floatBytes() int { return 2*xfloatBytes + 8 + (b.n+1)/2*8 }

// paper returns memory for n numbers as mp_array_t, or as mp_float_t[] if floats, which is freed at
// the end of the run.
func (q *Queue) paper(n int, floats bool) (paperArray, error) {
	count, one := int64(max(n, 1)), int64(q.floatBytes())
	if !floats {
		one = 2*xfloatBytes + int4Bytes + 4*int64(q.n) + 8
	}
	if err := q.room(one*count, n); err != nil {
		return paperArray{}, err
	}
	m, err := q.s.Alloc(one * count)
	if err != nil {
		return paperArray{}, err
	}
	q.used += one * count
	q.kept = append(q.kept, m)
	at := func(offset int64) cuda.Pointer { return m.Pointer() + cuda.Pointer(offset) }
	if floats {
		return paperArray{
			lo: at(0), up: at(xfloatBytes), sign: at(2 * xfloatBytes), exp: at(2*xfloatBytes + 4), digits: at(2*xfloatBytes + 8),
			len: int64(n), digitStep: int32(one), intStep: int32(one), evalStep: int32(one), mod: int32(q.n),
		}, nil
	}
	const evals = 2 * xfloatBytes
	return paperArray{
		lo: at(0), up: at(xfloatBytes * count), buf: at(evals * count), digits: at((evals + int4Bytes) * count),
		sign: at((evals + int4Bytes + 4*int64(q.n)) * count), exp: at((evals + int4Bytes + 4*int64(q.n) + 4) * count),
		len: int64(n), digitStep: int32(4 * q.n), intStep: 4, evalStep: xfloatBytes, mod: int32(q.n),
	}, nil
}

// toPaper returns a copy of a rows x cols view in a layout of the papers, column by column. It
// returns the zero paperArray for a view without an array.
func (q *Queue) toPaper(v place.RNSView, rows, cols int, floats bool) (paperArray, error) {
	if v.Array == nil {
		return paperArray{}, nil
	}
	z, err := q.paper(rows*cols, floats)
	if err != nil || rows*cols == 0 {
		return z, err
	}
	f, err := q.published("rnsToPaper")
	if err != nil {
		return z, err
	}
	return z, f.Launch(q.s, q.line(rows*cols*q.n), cuda.Dim{X: threads}, 0, native(v), z, int64(rows))
}

// fromPaper copies a vector back from a layout of the papers.
func (q *Queue) fromPaper(x paperArray, z place.RNSView) error {
	if x.len == 0 {
		return nil
	}
	f, err := q.published("rnsFromPaper")
	if err != nil {
		return err
	}
	return f.Launch(q.s, q.line(int(x.len)*q.padded), cuda.Dim{X: threads}, 0, x, native(z), x.len)
}

// line returns a one-dimensional grid for items threads; in large arrays each thread handles
// several.
func (q *Queue) line(items int) cuda.Dim {
	return cuda.Dim{X: min((items+threads-1)/threads, gridDim3)}
}

// published returns a kernel, which is compiled at its first use.
func (q *Queue) published(name string) (*cuda.Function, error) { return publishedOf(q.s, name) }

func publishedOf(s *cuda.Stream, name string) (*cuda.Function, error) {
	return launch.KernelsOf(s).Function(s, "rns/algorithm1", name)
}

// serial returns the name of the variant, for the number of moduli, of a kernel whose threads each
// work on whole numbers.
func (b *Base) serial(name string) string {
	switch {
	case b.n <= 32:
		return name + "1"
	case b.n <= 128:
		return name + "2"
	}
	return name + "3"
}

// digitBlock is the size of the blocks that compute digits: the least multiple of the number of
// moduli that is at least MinBS = MaxThreads / MaxBlocks (001, formula 8).
func (b *Base) digitBlock(i cuda.Info) int {
	least := i.Threads / max(i.Blocks, 1)
	return (least + b.n - 1) / b.n * b.n
}

// A step is a kernel launch; a step with an empty grid launches nothing.
type step struct {
	kernel          string
	grid            cuda.Dim
	threads, shared int
	args            []any
}

// timed launches steps and returns the time of each as measured on the device, compilation
// excluded.
func (q *Queue) timed(steps []step) ([]time.Duration, error) {
	functions := make([]*cuda.Function, len(steps))
	for i, k := range steps {
		var err error
		if functions[i], err = q.published(k.kernel); err != nil {
			return nil, err
		}
	}
	events := make([]*cuda.Event, 0, len(steps)+1)
	defer func() {
		for _, e := range events {
			_ = e.Close()
		}
	}()
	for range len(steps) + 1 {
		e, err := q.s.NewEvent()
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	err := q.s.Record(events[0])
	for i, k := range steps {
		if err == nil && k.grid.X > 0 {
			err = functions[i].Launch(q.s, k.grid, cuda.Dim{X: k.threads}, k.shared, k.args...)
		}
		if err == nil {
			err = q.s.Record(events[i+1])
		}
	}
	if err == nil {
		err = events[len(steps)].Synchronize()
	}
	times := make([]time.Duration, len(steps))
	for i := range times {
		if err == nil {
			times[i], err = events[i+1].Since(events[i])
		}
	}
	return times, err
}

// Algorithm1 implements place.RNSQueue. It returns place.ErrBlockSize if blocks of g.BlockSize
// threads exceed maxRowBlock or their shared memory the limit of the device.
func (q *Queue) Algorithm1(g place.RNSGemv) ([]time.Duration, error) {
	m, n := g.Rows, g.Cols // of the operation
	if g.Trans {
		m, n = n, m
	}
	info := q.s.Device().Info()
	shared := g.BlockSize * q.floatBytes()
	if g.BlockSize > maxRowBlock || shared > info.SharedPerBlock {
		return nil, fmt.Errorf("%v: %w: %d threads with %d bytes of shared memory, want up to %d threads with %d bytes",
			q.at, place.ErrBlockSize, g.BlockSize, shared, maxRowBlock, info.SharedPerBlock)
	}
	beta, err := q.toPaper(g.Beta, 1, 1, false)
	if err != nil {
		return nil, err
	}
	y, err := q.toPaper(g.Y, m, 1, false)
	if err != nil {
		return nil, err
	}
	var steps []step
	if g.Alpha.Array == nil {
		steps = q.vecScal(y, y, beta, info)
	} else if steps, err = q.steps(g, y, beta, n, info); err != nil {
		return nil, err
	}
	times, err := q.timed(steps)
	if err != nil {
		return nil, err
	}
	return times, q.fromPaper(y, g.Y)
}

// steps returns the ten launches for the sums of n products, with copies of the operands.
func (q *Queue) steps(g place.RNSGemv, y, beta paperArray, n int, i cuda.Info) ([]step, error) {
	alpha, err := q.toPaper(g.Alpha, 1, 1, false)
	if err != nil {
		return nil, err
	}
	x, err := q.toPaper(g.X, n, 1, false)
	if err != nil {
		return nil, err
	}
	a, err := q.toPaper(g.A, g.Rows, g.Cols, false)
	if err != nil {
		return nil, err
	}
	d, err := q.paper(n, false)
	if err != nil {
		return nil, err
	}
	b, err := q.paper(g.Rows*g.Cols, false)
	if err != nil {
		return nil, err
	}
	steps := append(q.vecScal(d, x, alpha, i), q.vecScal(y, y, beta, i)...)
	steps = append(steps, q.matScal(b, a, d, g, i)...)
	rs, cs := 1, g.Rows
	if g.Trans {
		rs, cs = cs, rs
	}
	return append(steps, step{
		q.serial("rnsRowSum"), cuda.Dim{X: int(y.len)}, g.BlockSize, g.BlockSize * q.floatBytes(),
		[]any{q.c, b, y, int64(n), int64(rs), int64(cs), int32(1 << bits.Len(uint(g.BlockSize-1)) / 2)},
	}), nil
}

// vecScal returns the three launches that compute z = f x, or z = 0 if f is the zero paperArray.
func (q *Queue) vecScal(z, x, f paperArray, i cuda.Info) []step {
	grid := func(blocks int) cuda.Dim { return cuda.Dim{X: min(int(z.len), blocks)} }
	none := flag(f.digits == 0)
	return []step{
		{"rnsVecScalESI", grid(gridDim1), blockDim1, 0, []any{q.c, z, x, f, none}},
		{"rnsVecScalDigits", grid(gridDim2), q.digitBlock(i), 0, []any{q.c, z, x, f, none}},
		{q.serial("rnsRound"), grid(gridDim1), blockDim1, 0, []any{q.c, z}},
	}
}

// matScal returns the three launches that compute z = A diag(d), or diag(d) A for the transpose.
func (q *Queue) matScal(z, a, d paperArray, g place.RNSGemv, i cuda.Info) []step {
	side := "Right"
	if g.Trans {
		side = "Left"
	}
	square := func(blocks int) cuda.Dim { return cuda.Dim{X: min(int(z.len), 1) * blocks, Y: blocks} }
	rows, cols := int64(g.Rows), int64(g.Cols)
	return []step{
		{"rnsMat" + side + "ScalESI", square(gridDim1), blockDim1, 0, []any{q.c, z, a, d, rows, cols}},
		{"rnsMat" + side + "ScalDigits", square(gridDim2), q.digitBlock(i), 0, []any{q.c, z, a, d, rows, cols}},
		{q.serial("rnsRound"), q.line(int(z.len)), blockDim1, 0, []any{q.c, z}},
	}
}

// Basic implements place.RNSQueue.
func (q *Queue) Basic(g place.RNSGemv) ([]time.Duration, error) {
	m, n, rs, cs := g.Rows, g.Cols, 1, g.Rows
	if g.Trans {
		m, n, rs, cs = n, m, cs, rs
	}
	y, err := q.toPaper(g.Y, m, 1, true)
	if err != nil {
		return nil, err
	}
	scaled, err := q.basicScal(y, y, g.Beta)
	if err != nil {
		return nil, err
	}
	steps := []step{scaled}
	if g.Alpha.Array != nil {
		k := basicProduct{y: y, count: int64(n), rs: int64(rs), cs: int64(cs)}
		if k.a, err = q.toPaper(g.A, g.Rows, g.Cols, true); err != nil {
			return nil, err
		}
		if k.x, err = q.toPaper(g.X, n, 1, true); err != nil {
			return nil, err
		}
		if g.Trans {
			k.s, err = q.toPaper(g.Alpha, 1, 1, true)
		} else {
			x := k.x
			if k.x, err = q.paper(n, true); err == nil {
				scaled, err = q.basicScal(k.x, x, g.Alpha)
				steps = append(steps, scaled)
			}
		}
		if err != nil {
			return nil, err
		}
		rows, err := q.basicRows(k)
		if err != nil {
			return nil, err
		}
		steps = append(steps, rows)
	}
	times, err := q.timed(steps)
	if err != nil {
		return nil, err
	}
	return times, q.fromPaper(y, g.Y)
}

// basicScal returns the launch that computes z = f x, or z = 0 if f has no array.
func (q *Queue) basicScal(z, x paperArray, f place.RNSView) (step, error) {
	s, err := q.toPaper(f, 1, 1, true)
	if err != nil {
		return step{}, err
	}
	return q.basicRows(basicProduct{a: x, x: s, y: z, count: min(s.len, 1), rs: 1, fresh: 1})
}

// basicRows returns the launch of rnsBasic for k.
func (q *Queue) basicRows(k basicProduct) (s step, err error) {
	if k.t, err = q.paper(int(k.y.len), true); err != nil {
		return s, err
	}
	if k.u, err = q.paper(int(k.y.len), true); err != nil {
		return s, err
	}
	blocks := (int(k.y.len) + basicBlock - 1) / basicBlock
	return step{q.serial("rnsBasic"), cuda.Dim{X: blocks}, basicBlock, 0, []any{q.c, k}}, nil
}
