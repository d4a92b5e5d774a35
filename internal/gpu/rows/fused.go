package rows

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/rows/fused.cuh: one launch reads the numbers once, adds, rounds and answers
// into a mailbox.

const (
	fusedThreads = 256 // of a block
	fusedRows    = 8   // that a block works on, where memory runs down the columns
	// MAX_SLICES; tiles with slices are fewer than MAX_TILES, since all blocks run at a time
	maxSlices = 1024
)

// fused reports whether there are fused kernels for the digits.
func (q *rowSums) fused() bool { return abi.DigitFile(q.digits) == abi.FusedFile }

// A fusedLaunch is a launch in preparation.
type fusedLaunch struct {
	f      *cuda.Function
	r      abi.FusedReduction
	grid   cuda.Dim
	shared int
}

// prepare returns a launch whose results have no place yet.
func (q *rowSums) prepare() (*fusedLaunch, error) {
	loaded := launch.KernelsOf(q.s)
	l := &fusedLaunch{r: abi.FusedReduction{A: abi.RowsOf(q.a), Digits: int32(q.digits), Magnitudes: abi.Flag(q.magnitudes)}}
	if q.x != nil {
		l.r.X = abi.RowsOf(*q.x)
	}
	var err error
	if l.f, err = loaded.Function(q.s, "rows/"+abi.FusedFile, q.kernelName()); err != nil {
		return nil, err
	}
	if err := q.divide(loaded, l); err != nil {
		return nil, err
	}
	parts := int64(0)
	if l.grid.Y > 1 {
		parts = 8 * int64(l.grid.X*l.grid.Y*(q.digits+4)) << l.r.LogRows
	}
	if err := q.alloc(parts); err != nil {
		return nil, err
	}
	l.r.Parts = q.memory.At(q.partsAt())
	return l, nil
}

// divide divides the work among blocks. The threads of a warp lie the way that memory runs.
func (q *rowSums) divide(loaded *launch.Kernels, l *fusedLaunch) error {
	m, k := q.a.Rows, q.a.Cols
	perSM, err := loaded.Blocks(l.f, fusedThreads, fusedShared(q.digits, fusedRows, fusedRows))
	if err != nil {
		return err
	}
	slots := perSM * q.s.Device().Info().Multiprocessors
	rows, step := 1, 1
	down := abs(q.a.RS) < abs(q.a.CS) && m > 1
	if down {
		rows = min(fusedRows, 1<<bits.Len(uint(m-1)))
		if m >= 32*slots {
			rows = 32
		}
		step = rows
	} else {
		for rows < fusedThreads/32 && (m > rows*slots || fusedThreads/rows >= 2*k) {
			rows *= 2
		}
	}
	lanes := fusedThreads / rows
	l.r.LogRows, l.r.Across = int32(bits.Len(uint(rows))-1), abi.Flag(down)
	l.shared = fusedShared(q.digits, rows, step)
	l.grid.X = (m + rows - 1) / rows
	l.grid.Y = max(1, min(slots/l.grid.X, (k+lanes-1)/lanes, maxSlices))
	return nil
}

// fusedShared returns the bytes in which a block adds the sums of rows, step rows a warp, and
// rounds them.
func fusedShared(digits, rows, step int) int {
	words := (abi.RowDigit*digits + 64 + 31) / 32
	return max(8*(digits+1)*(fusedThreads/32)*step, (8*(digits+1)+4*words)*rows)
}

func (q *rowSums) start(l *fusedLaunch) error {
	return l.f.Launch(q.s, l.grid, cuda.Dim{X: fusedThreads}, l.shared, l.r)
}

// fusedColumns is onDevice.
func (q *rowSums) fusedColumns() error {
	l, err := q.prepare()
	if err != nil {
		return err
	}
	l.r.Columns, l.r.S = q.memory.Pointer(), spansOf(q.memory.At(q.spansAt()), q.a.Rows)
	return q.start(l)
}

// fusedTell lets the sums of the only row be told.
func (q *rowSums) fusedTell(box *cuda.Mailbox) error {
	l, err := q.prepare()
	if err != nil {
		return err
	}
	l.r.Tells, l.r.Answer, l.r.Ticket = 1, box.At(0), box.Ticket()
	return q.start(l)
}

// fusedRound is round.
func (q *rowSums) fusedRound(alpha num.Real, c abi.Target) (left int, err error) {
	l, err := q.prepare()
	if err != nil {
		return 0, err
	}
	box, err := mailboxOf(q.s)
	if err != nil {
		return 0, err
	}
	exp, _ := powerOfTwo(alpha)
	errors, shift := q.error()
	l.r.S = spansOf(q.memory.At(q.spansAt()), q.a.Rows)
	l.r.To = abi.FusedRounding{C: c, List: q.memory.At(q.listAt()), Unit: q.unit() + exp, Error: float64(errors) * float64(int64(1)<<shift),
		Exact: q.exactSpread(q.digits), Neg: abi.Flag(alpha.Neg), Expansions: abi.Flag(q.expansions())}
	l.r.Answer, l.r.Ticket = box.At(0), box.Ticket()
	if err := q.start(l); err != nil {
		return 0, err
	}
	return leftOver(box, q.s)
}
