package expgpu

import (
	"strings"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// A Scheme distributes the entries of a result over threads.
type Scheme int

const (
	// Spread gives each entry a thread.
	Spread Scheme = iota
	// Fixed launches 128 blocks of 128 threads, each thread computing every 16384th entry.
	Fixed
)

const (
	eachThreads = 128
	fixedBlocks = 128
	maxGridX    = 1<<31 - 1
	maxGridY    = 1<<16 - 1
)

// never is the high half of a NaN that arithmetic does not produce.
const never = 0x7ff55555

// Each computes z_ij = f(x_ij), f(x_ij, y_ij) or f(x_ij, y_ij, c_ij) for views of one shape. z may
// be one of the operands. name is an operation, Add, Sub, Mul, Div, Sqrt or FMA, or a function:
// exp, log and so on. A name that begins with Published selects an operation of
// expansion.Published.
func Each(s *cuda.Stream, name string, z mem.Matrix, operands ...mem.Matrix) error {
	return EachRepeated(s, name, Spread, 1, z, operands...)
}

// EachRepeated computes Each by a scheme and computes each entry repeat times, for measurements. It
// also supports Float64, whose functions exp, log, sin and cos are CUDA's.
func EachRepeated(s *cuda.Stream, name string, scheme Scheme, repeat int, z mem.Matrix, operands ...mem.Matrix) error {
	z.Changed()
	all := append([]mem.Matrix{z}, operands...)
	aligned(all)
	rows, cols := all[0].Rows, all[0].Cols
	if rows == 0 || cols == 0 {
		return nil
	}
	file := "expansion"
	switch {
	case z.Arr.Terms() == 1:
		file = "double"
	case strings.HasPrefix(name, "Published"):
		file = "published"
	case name[0] >= 'a':
		file, name = "expansionfun", "_"+name
	}
	f, err := launch.KernelsOf(s).Function(s, "expansion/"+file, "expansion"+name+suffix(z))
	if err != nil {
		return err
	}
	var e [4]entries
	for i, m := range all {
		e[i] = entriesOf(m)
	}
	grid := grid(rows, cols)
	if scheme == Fixed {
		grid.X = fixedBlocks
	}
	return f.Launch(s, grid, cuda.Dim{X: eachThreads}, 0, e[0], e[1], e[2], e[3], int64(rows), int64(cols), int32(repeat), int32(never))
}

func grid(rows, cols int) cuda.Dim {
	return cuda.Dim{X: min((rows-1)/eachThreads+1, maxGridX), Y: min(cols, maxGridY)}
}

// Copy computes z = x for views of one shape that do not overlap. If x has fewer words than z, the
// remaining words of z are unchanged.
func Copy(s *cuda.Stream, z, x mem.Matrix) error {
	z.Changed()
	all := []mem.Matrix{z, x}
	aligned(all)
	z, x = all[0], all[1]
	if z.Rows == 0 || z.Cols == 0 {
		return nil
	}
	f, err := launch.KernelsOf(s).Function(s, "expansion/expansion", "expansionCopy")
	if err != nil {
		return err
	}
	return f.Launch(s, grid(z.Rows, z.Cols), cuda.Dim{X: eachThreads}, 0, entriesOf(z), entriesOf(x), int64(z.Rows), int64(z.Cols), int32(x.Arr.Terms()))
}

// aligned transposes views of one shape, all or none, so that neighbouring threads access
// neighbouring entries of the first. If all views are then contiguous, it turns each into a single
// column.
func aligned(all []mem.Matrix) {
	z := all[0]
	if z.Rows == 1 || z.Cols > 1 && size(z.RS) > size(z.CS) {
		for i := range all {
			all[i] = all[i].T()
		}
	}
	rows, cols := all[0].Rows, all[0].Cols
	for _, m := range all {
		if cols > 1 && m.CS != m.RS*rows {
			return
		}
	}
	for i := range all {
		all[i].Rows, all[i].Cols = rows*cols, 1
	}
}

func size(stride int) int { return max(stride, -stride) }
