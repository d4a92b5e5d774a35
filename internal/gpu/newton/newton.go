// Package newton runs the entrywise operations of Newton's method and of the factors of package
// linsolve, and solutions in fixed point, on matrices in the memory of NVIDIA GPUs. The kernels of
// kernels/newton implement the arithmetic.
package newton

import (
	"fmt"
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

const (
	threads   = 256 // the most of a block
	maxAcross = 1<<16 - 1
)

// A task is a launch in progress, with the memory that it uses.
type task struct {
	s     *cuda.Stream
	at    cuda.Pointer // u32: counter of entries
	tells bool         // the host reads the counter
	lists []*cuda.Memory
}

// newTask returns a task that counts in the tally, or with tells if tally is nil.
func newTask(s *cuda.Stream, tally *mem.Array) (*task, error) {
	if tally != nil {
		return &task{s: s, at: tally.Plane(0)}, nil
	}
	count, err := s.Alloc(4)
	if err != nil {
		return nil, err
	}
	t := &task{s: s, at: count.Pointer(), tells: true, lists: []*cuda.Memory{count}}
	if err := s.Zero(t.at, 4); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

func (t *task) free() {
	for _, m := range t.lists {
		m.Free()
	}
}

// A list is numbers that a kernel reads, and where their address goes.
type list struct {
	to   *cuda.Pointer
	list []int64
}

// put copies lists to the device, together. The address of a nil list is null; equal lists that
// follow each other are copied once.
func (t *task) put(lists ...list) error {
	var all []int64
	at := make([]int64, len(lists)) // in bytes; of the list before for an equal list
	for i, l := range lists {
		if at[i] = 8 * int64(len(all)); i > 0 && slices.Equal(l.list, lists[i-1].list) {
			at[i] = at[i-1]
			continue
		}
		all = append(all, l.list...)
	}
	if len(all) == 0 {
		return nil
	}
	m, err := cuda.NewCopy(t.s, all)
	if err != nil {
		return err
	}
	t.lists = append(t.lists, m)
	for i, l := range lists {
		if len(l.list) > 0 {
			*l.to = m.At(at[i])
		}
	}
	return nil
}

// launch runs a kernel for all entries of a rows x cols matrix, and returns the count if the task
// tells.
func (t *task) launch(kernel string, rows, cols, threads, shared int, args any) (int, error) {
	f, err := launch.KernelsOf(t.s).Function(t.s, "newton/newton", kernel)
	if err != nil {
		return 0, err
	}
	grid := cuda.Dim{X: (rows + threads - 1) / threads, Y: min(cols, maxAcross)}
	if err := f.Launch(t.s, grid, cuda.Dim{X: threads}, shared, args); err != nil {
		return 0, err
	}
	return t.count()
}

// count returns the count if the task tells, 0 otherwise.
func (t *task) count() (int, error) {
	if !t.tells {
		return 0, nil
	}
	var n [1]uint32
	err := cuda.Download(t.s, n[:], t.at)
	return int(n[0]), err
}

// Shift implements place.Newton.
func Shift(s *cuda.Stream, x mem.Matrix, rows, cols []int64, z mem.Matrix, tally *mem.Array) (odd int, err error) {
	z.Changed()
	t, err := newTask(s, tally)
	if err != nil {
		return 0, err
	}
	defer t.free()
	k := abi.Shifting{X: abi.RowsOf(x), Z: abi.TargetOf(z), Odd: t.at}
	if err := t.put(list{&k.Rows, rows}, list{&k.Cols, cols}); err != nil {
		return 0, err
	}
	return t.launch("shifted", x.Rows, x.Cols, threads, 0, k)
}

// HalfLessSquares implements place.Squares.
func HalfLessSquares(s *cuda.Stream, d, z mem.Matrix, tally *mem.Array) (bool, error) {
	if d.Arr.Limbs() > abi.LessLimbs || z.Arr.Limbs() > abi.SquaredLimbs {
		return false, nil
	}
	if d.Rows == 0 {
		return true, nil
	}
	d.Changed()
	t := &task{s: s, at: tally.Plane(0)}
	_, err := t.launch("lessSquares", d.Rows, 1, threads, 0, abi.Squaring{D: abi.TargetOf(d), Z: abi.RowsOf(z), Rest: abi.Leftovers{Count: t.at}})
	return true, err
}

// sumShared is the shared memory in bytes that a block of summed takes besides the room for
// numbers.
const sumShared = threads

// along reports whether numbers are contiguous in columns and not in rows.
func along(m mem.Matrix) bool { return m.RS == 1 && m.CS != 1 }

// short reports whether summedShort applies to sums of x and d in windows of some words.
func short(x, d, z mem.Matrix, words int) bool {
	few := func(m mem.Matrix) bool { return m.Arr.Kind == num.MP && m.Arr.Limbs() <= abi.ShortSumLimbs }
	return few(x) && (few(d) || d.Arr.Kind == num.F64) && (few(z) || z.Arr.Kind == num.F64 || z.Arr.Kind == num.F32) && words <= abi.ShortSumWords
}

// noUnit is the exponent of a unit that divides all sums.
const noUnit = -1 << 60

// Sum implements place.Newton, for matrices of the device.
func Sum(s *cuda.Stream, of place.Sum, x, d, z mem.Matrix, tally *mem.Array) (left int, err error) {
	z.Changed()
	t, err := newTask(s, tally)
	if err != nil {
		return 0, err
	}
	defer t.free()
	byRows := int32(0)
	if along(x.T()) && along(d.T()) { // rows are contiguous: transpose
		x, d, z, byRows = x.T(), d.T(), z.T(), 1
		of.Rows, of.Cols = of.Cols, of.Rows
		switch of.Triangle {
		case 'U':
			of.Triangle = 'L'
		case 'L':
			of.Triangle = 'U'
		}
	}
	k := abi.Summing{X: abi.RowsOf(x), D: abi.RowsOf(d), Z: abi.TargetOf(z), Words: int32(of.Words()), Triangle: int32(of.Triangle), ByRows: byRows, Unit: noUnit,
		Rest: abi.Leftovers{Count: t.at}}
	if err := t.put(list{&k.Errors, of.Errors}, list{&k.Rows, of.Rows}, list{&k.Cols, of.Cols}); err != nil {
		return 0, err
	}
	if of.Unit != nil {
		k.Unit = *of.Unit
	}
	if short(x, d, z, of.Words()) {
		return t.launch("summedShort", x.Rows, x.Cols, threads, 0, k)
	}
	if d.Arr.Kind != num.MP {
		return 0, fmt.Errorf("sums of %d bits with numbers in float64: %w", of.Bits, place.ErrUnsupported)
	}
	// A block has room for the windows of its threads, and for the significands of X and D or of Z.
	// Three blocks share a multiprocessor if possible.
	pitch := func(m mem.Matrix) int {
		if m.Arr.Kind != num.MP {
			return 0
		}
		return 8 * (m.Arr.Limbs() | 1)
	}
	each := 4*(of.Words()+1) + max(pitch(x)+pitch(d), pitch(z))
	limit := s.Device().Info().SharedPerBlock - sumShared
	n := threads
	for n > 32 && n*each > limit/3 {
		n /= 2
	}
	if n*each > limit {
		return 0, fmt.Errorf("%v: %w: sums of %d bits", s.Device(), cuda.ErrMemory, of.Bits)
	}
	return t.launch("summed", x.Rows, x.Cols, n, n*each, k)
}
