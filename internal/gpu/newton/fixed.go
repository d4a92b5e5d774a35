package newton

import (
	"cmp"
	"context"
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// shortSlices is the largest order for which slices have a quarter of the columns, so that there
// are enough slices for all multiprocessors. Tests change it.
var shortSlices = 2048

// A Share is the part of F, X, G and Z that a device stores. It has columns of F and X; the columns
// of the devices follow each other. It has the rows of G and Z with the same numbers as these
// columns.
type Share struct {
	Device     *cuda.Device
	F, X, G, Z mem.Matrix
}

// Refine implements place.Refiner for matrices of the device. The host waits only at the end of
// each column.
func Refine(s *cuda.Stream, of place.Refinement, f, x, g, z mem.Matrix) (lengths [][]int, ok bool, err error) {
	return refine(of, []*refiner{{s: s, share: Share{s.Device(), f, x, g, z}}})
}

// RefineTogether is Refine on several devices, at most FixedGPUs, which can access each other's
// memory.
func RefineTogether(ctx context.Context, of place.Refinement, shares []Share) (lengths [][]int, ok bool, err error) {
	var list []*refiner
	for _, share := range shares {
		list = append(list, &refiner{ctx: ctx, share: share})
	}
	return refine(of, list)
}

// of operations on one of several devices; nil for one, whose stream is s
type refiner struct {
	s      *cuda.Stream
	ctx    context.Context // of operations on several devices; nil for one device
	share  Share
	k      abi.Refining
	memory []*cuda.Memory
	met    *cuda.Event
}

// do runs f on the device's thread.
func (r *refiner) do(f func() error) error {
	if r.ctx == nil {
		return f()
	}
	return r.share.Device.Do(r.ctx, func(s *cuda.Stream) error {
		r.s = s
		return f()
	})
}

// refiners are all devices.
type refiners []*refiner

func (t refiners) each(f func(r *refiner) error) (err error) {
	for _, r := range t {
		err = cmp.Or(err, r.do(func() error { return f(r) }))
	}
	return err
}

// meet makes all devices wait for each other.
func (t refiners) meet() error {
	if len(t) == 1 {
		return nil
	}
	if err := t.each(func(r *refiner) error { return r.s.Record(r.met) }); err != nil {
		return err
	}
	return t.each(func(r *refiner) error {
		for _, other := range t {
			if other == r {
				continue
			}
			if err := r.s.Wait(other.met); err != nil {
				return err
			}
		}
		return nil
	})
}

// end frees the memory of all devices, once no device reads another's memory any more.
func (t refiners) end() (err error) {
	for _, r := range t {
		if r.ctx != nil {
			r.ctx = context.WithoutCancel(r.ctx)
		}
	}
	if len(t) > 1 {
		err = t.each(func(r *refiner) error { return r.s.Synchronize() })
	}
	return cmp.Or(err, t.each(func(r *refiner) error {
		for _, m := range r.memory {
			m.Free()
		}
		if r.met == nil {
			return nil
		}
		return r.met.Close()
	}))
}

func refine(of place.Refinement, all refiners) (lengths [][]int, ok bool, err error) {
	defer func() { err = cmp.Or(err, all.end()) }()
	begin := 0
	for _, r := range all {
		fits := false
		if err := r.do(func() (err error) {
			if len(all) > 1 {
				if r.met, err = r.s.NewEvent(); err != nil {
					return err
				}
			}
			fits, err = r.prepare(of, begin)
			return err
		}); err != nil || !fits {
			return nil, false, err
		}
		begin += r.share.F.Cols
	}
	for _, r := range all {
		for d, other := range all {
			r.k.AllParts[d], r.k.AllSums[d], r.k.AllTops[d], r.k.AllWidths[d] = other.k.Parts, other.k.Sums, other.k.Tops, other.k.Width
		}
		r.k.GPUs = int32(len(all))
		if len(all) == 1 {
			r.k.Highest = r.k.Tops
		}
	}
	steps, columns := len(of.Planes), all[0].share.G.Cols
	for j := range columns {
		if err := all.each(func(r *refiner) error { return r.begin(of, j) }); err != nil {
			return nil, false, err
		}
		for step, used := range of.Planes {
			if err := all.step(step, used); err != nil {
				return nil, false, err
			}
		}
		if err := all.each(func(r *refiner) error { return r.run("fixedNumbers", r.own(), abi.FixedRows, 0, r.k) }); err != nil {
			return nil, false, err
		}
		list := make([]int, steps+1)
		if err := all.each(func(r *refiner) error {
			told := make([]int32, steps+1)
			if err := cuda.Download(r.s, told, r.k.Tops); err != nil {
				return err
			}
			for i, v := range told {
				list[i] = max(list[i], int(v))
			}
			return nil
		}); err != nil {
			return nil, false, err
		}
		lengths = append(lengths, list)
	}
	return lengths, true, nil
}

// prepare allocates the memory for the columns from begin on, and launches the computation of the
// planes of F. It returns false if numbers are too long for shared memory.
func (r *refiner) prepare(of place.Refinement, begin int) (ok bool, err error) {
	f, s := r.share.F, r.s
	n, width, count, limit := f.Rows, f.Cols, slices.Max(of.Planes), s.Device().Info().SharedPerBlock
	shared := func(threads int) int { return 8 * threads * (f.Arr.Limbs() | 1) }
	block := threads
	for block > 32 && shared(block) > limit/3 {
		block /= 2
	}
	static := 8 * abi.FixedUpdate * abi.FixedParts * (abi.FixedChunk + 2)
	if shared(block) > limit || sharedSums(count)+static > limit {
		return false, nil
	}
	r.share.Z.Changed()
	columns, slice := abi.FixedColumns, abi.FixedSlice
	if n <= shortSlices {
		columns, slice = columns/4, slice/4
	}
	slicesX, slicesF := (width+columns-1)/columns, (width+slice-1)/slice
	k := &r.k
	*k = abi.Refining{F: abi.RowsOf(f), X: abi.RowsOf(r.share.X), N: int32(n), Words: int32(of.Words),
		Top: int32(of.Top), Count: int32(count), Scale: int32(of.Scale), Columns: int32(columns), Slices: int32(slicesX), Slice: int32(slice),
		Begin: int32(begin), Width: int32(width)}
	tops := 4 * (len(of.Planes) + 1)
	for _, m := range []struct {
		to    *cuda.Pointer
		bytes int
	}{
		{&k.Planes, 8 * count * n * width}, {&k.R, 8 * (of.Words + 1) * width}, {&k.Y, 8 * (of.Words + 2) * width},
		{&k.Parts, 8 * slicesX * n}, {&k.Sums, 8 * chunks(count) * slicesF * (abi.FixedChunk + 1) * n},
		{&k.Joined, 8 * width}, {&k.Tops, tops}, {&k.Highest, tops},
	} {
		p, err := s.Alloc(int64(m.bytes))
		if err != nil {
			return false, err
		}
		r.memory = append(r.memory, p)
		*m.to = p.Pointer()
	}
	return true, r.run("fixedPlanes", cuda.Dim{X: (n + block - 1) / block, Y: min(width, maxAcross)}, block, shared(block), *k)
}

// chunks returns the number of chunks of the given number of planes.
func chunks(planes int) int { return (planes + abi.FixedChunk - 1) / abi.FixedChunk }

// sharedSums returns the dynamic shared memory of fixedResidual in bytes.
func sharedSums(planes int) int { return 8 * abi.FixedUpdate * (abi.FixedChunk*chunks(planes) + 2) }

func (r *refiner) run(kernel string, grid cuda.Dim, threads, shared int, args ...any) error {
	f, err := launch.KernelsOf(r.s).Function(r.s, "newton/fixed", kernel)
	if err != nil {
		return err
	}
	return f.Launch(r.s, grid, cuda.Dim{X: threads}, shared, args...)
}

// own returns a grid for the device's rows, every one for all rows.
func (r *refiner) own() cuda.Dim {
	return cuda.Dim{X: (int(r.k.Width) + abi.FixedRows - 1) / abi.FixedRows}
}

func (r *refiner) every() cuda.Dim {
	return cuda.Dim{X: (int(r.k.N) + abi.FixedRows - 1) / abi.FixedRows}
}

// begin starts column j.
func (r *refiner) begin(of place.Refinement, j int) error {
	column := func(m mem.Matrix) abi.Vectors {
		m.Off, m.Cols = m.Off+j*m.CS, 1
		return abi.RowsOf(m)
	}
	r.k.G, r.k.Z, r.k.Shift = column(r.share.G), column(r.share.Z), of.Shift[j]
	if err := r.s.Zero(r.k.Tops, int64(4*(len(of.Planes)+1))); err != nil {
		return err
	}
	return r.run("fixedBegin", r.own(), abi.FixedRows, 0, r.k)
}

// step runs one step on all devices, with used planes.
func (t refiners) step(step, used int) error {
	if err := t.each(func(r *refiner) error {
		r.k.Step, r.k.Used = int32(step), int32(used)
		grid := r.every()
		grid.Y = int(r.k.Slices)
		return r.run("fixedCorrection", grid, abi.FixedRows, 0, r.k)
	}); err != nil {
		return err
	}
	if err := t.meet(); err != nil {
		return err
	}
	blocks := func(r *refiner) cuda.Dim {
		return cuda.Dim{X: (int(r.k.Width) + abi.FixedUpdate - 1) / abi.FixedUpdate}
	}
	if err := t.each(func(r *refiner) error {
		k := r.k
		if len(t) > 1 {
			if err := r.run("fixedJoin", blocks(r), abi.FixedUpdate*abi.FixedParts, 0, k); err != nil {
				return err
			}
			k.Parts, k.Slices = k.Joined, 1
		}
		grid := r.every()
		grid.Y, grid.Z = int((k.Width+k.Slice-1)/k.Slice), chunks(used)
		return r.run("fixedProduct", grid, abi.FixedRows, 0, k)
	}); err != nil {
		return err
	}
	if err := t.meet(); err != nil {
		return err
	}
	return t.each(func(r *refiner) error {
		return r.run("fixedResidual", blocks(r), abi.FixedUpdate*abi.FixedParts, sharedSums(used), r.k)
	})
}
