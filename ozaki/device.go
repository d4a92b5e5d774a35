package ozaki

import (
	"errors"
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// device returns the device that Options.Device names, nil for the CPU.
func (r *run) device() (place.Place, error) {
	if !r.where.IsPlace() {
		return nil, nil
	}
	p, err := r.where.Open()
	if err == nil && p != p.First() {
		err = fmt.Errorf("device %q: %w (want one GPU)", r.Device, halfulp.ErrDevice)
	}
	return p, err
}

// there runs the product on r.at. Matrices of the host are processed in parts of rows and columns
// if they take more than half of its memory.
func (r *run) there() error {
	r.work = float64(r.out.Rows) * float64(r.out.Cols)
	if r.resident {
		free, err := r.apart()
		if err != nil {
			return err
		}
		defer free()
		return r.multiplyAt(r.left, r.right, r.out, r.bounds)
	}
	rows, cols := r.residentPart()
	if rows == r.out.Rows && cols == r.out.Cols {
		return r.multiplyAt(r.left, r.right, r.out, r.bounds)
	}
	if r.needsSlices() { // one choice for all parts
		r.local()
		if _, err := r.prepare(); err != nil {
			return err
		}
	}
	if _, err := r.apart(); err != nil {
		return err
	}
	for j := 0; j < r.out.Cols; j += cols {
		j1 := min(j+cols, r.out.Cols)
		for i := 0; i < r.out.Rows; i += rows {
			i1 := min(i+rows, r.out.Rows)
			bounds := r.bounds
			if bounds.Arr != nil {
				bounds = part(bounds, i, i1, j, j1)
			}
			left, right := part(r.left, i, i1, 0, r.left.Cols), part(r.right, 0, r.right.Rows, j, j1)
			if err := r.multiplyAt(left, right, part(r.out, i, i1, j, j1), bounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// residentPart returns the numbers of rows and columns of C that are computed at a time, so that
// they and their operands take up to half of the GPU's memory.
func (r *run) residentPart() (rows, cols int) {
	const least = 128
	rows, cols = r.out.Rows, r.out.Cols
	memory := place.Provided[place.Ozaki]().Memory(r.at)
	bytes := func() uint64 {
		m, n, k := uint64(rows), uint64(cols), uint64(r.left.Cols)
		return 8 * (k*(m+n) + 2*m*n)
	}
	for bytes() > memory/2 {
		switch {
		case rows > least && rows >= cols:
			rows = max((rows+1)/2, least)
		case cols > least:
			cols = max((cols+1)/2, least)
		default:
			return rows, cols // the GPU says whether it has enough
		}
	}
	return rows, cols
}

// multiplyAt sets a part of C, and its bounds if they are requested, at r.at.
func (r *run) multiplyAt(left, right, out, bounds num.Mat) error {
	x := place.OzakiProduct{
		A: left, B: right, C: out, Alpha: r.alpha, Beta: r.beta, DoubleFloat: r.double, Bound: bounds, Bounds: r.pairsBounds,
	}
	if !r.double && r.multiplies() {
		r.setWidth()
		x.Width, x.Block, x.SGEMM, x.Bounds = r.width, r.Block, r.sgemm, r.sliceBounds
		switch x.Slices = r.Slices; {
		case r.Split == Literal:
			x.Literal = r.inRange
		case r.needsSlices():
			x.Choose = r.chooseAt
		}
		r.stats.Slices = r.Slices
	}
	size := float64(out.Rows) * float64(out.Cols)
	cfg := place.Config{Run: par.Run{Ctx: r.ctx}, Limit: r.MemoryLimit}
	if r.Progress != nil {
		cfg.Progress = func(done float64) { r.tell((r.done + float64(done*size)) / r.work) }
	}
	stats, err := place.Provided[place.Ozaki]().Multiply(r.at, cfg, x)
	if errors.Is(err, place.ErrLibrary) {
		err = fmt.Errorf("SGEMM %q: %w: %w", r.SGEMM, halfulp.ErrMethod, err)
	}
	if err != nil {
		return err
	}
	r.stats.Kernel = stats.Kernel
	r.stats.Products += int64(stats.Products)
	r.stats.Skipped += stats.Skipped
	r.stats.Blocks += stats.Parts
	for i, t := range stats.Stages {
		r.stats.Stages[i].Time += t
	}
	r.advance(out.Rows * out.Cols)
	return nil
}

// chooseAt chooses the number of slices from norms that a device computes.
func (r *run) chooseAt(a, b func(h0, h1, slices int) (place.OzakiNorms, error)) (int, error) {
	of := func(n int, f func(h0, h1, slices int) (place.OzakiNorms, error)) vectors {
		return vectors{n: n, len: r.left.Cols, norms: func(h0, h1, slices int) (norms, error) {
			if n == 0 {
				return newNorms(0, slices), nil
			}
			x, err := f(h0, h1, slices)
			return norms{x.Q, x.R}, err
		}}
	}
	r.a, r.b = of(r.left.Rows, a), of(r.right.Cols, b)
	err := r.choose()
	r.stats.Slices = r.Slices
	return r.Slices, err
}

// sliceBounds returns the bounds of a block.
func (r *run) sliceBounds(a, b place.OzakiNorms, length int) place.OzakiBounds {
	e := r.boundOf(norms{a.Q, a.R}, norms{b.Q, b.R}, length)
	return place.OzakiBounds{X: e.x, Y: e.y, SumX: e.sumX, SumY: e.sumY, Tau: e.tau}
}

// pairsBounds are bounds like pairsBound, from norms of the numbers rounded to float32: r_1 of
// slices without bits.
func (r *run) pairsBounds(a, b place.OzakiNorms, length int) place.OzakiBounds {
	scaled := func(x []float64, factor float64) (y, zero []float64) {
		y = make([]float64, len(x))
		for i, v := range x {
			y[i] = v * (1 + 0x1p-22) * factor
		}
		return y, make([]float64, len(x))
	}
	x, sumX := scaled(a.R[0], 1)
	y, sumY := scaled(b.R[0], float64(3*length+10)*0x1p-48*(1+0x1p-10)*upward)
	return place.OzakiBounds{X: [][]float64{x}, Y: [][]float64{y}, SumX: sumX, SumY: sumY, Tau: float64(length) * 0x1p-120}
}

// atHome runs a product of matrices on a device on the CPU, for an α that is infinite or NaN.
func (r *run) atHome() error {
	h := *r
	h.at, h.resident = nil, false
	there := []*num.Mat{&h.left, &h.right, &h.out}
	if r.bounds.Arr != nil && r.bounds.Arr.Away != nil {
		there = append(there, &h.bounds)
	}
	for _, m := range there {
		var err error
		if *m, err = r.at.Get(r.ctx, *m); err != nil {
			return err
		}
	}
	if err := h.here(); err != nil {
		return err
	}
	r.told = h.told
	if len(there) > 3 {
		if err := r.at.Set(r.ctx, r.bounds, h.bounds); err != nil {
			return err
		}
	}
	return r.at.Set(r.ctx, r.out, h.out)
}
