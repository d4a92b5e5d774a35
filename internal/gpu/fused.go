package gpu

import (
	"math/bits"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/fused.cuh: one launch reads the numbers once, adds, rounds and answers into
// a mailbox.

const (
	fusedThreads = 256  // of a block
	fusedRows    = 8    // that a block works on, where memory runs down the columns
	maxSlices    = 1024 // MAX_SLICES; tiles with slices are fewer than MAX_TILES, since all blocks run at a time
)

// The structures of kernels/fused.cuh.

type fusedRounding struct {
	c               target
	list            cuda.Pointer
	unit            int64
	error           float64
	exact           int64
	neg, expansions int32
}

type fusedReduction struct {
	a, x               vectors
	parts              cuda.Pointer
	s                  spans
	columns, answer    cuda.Pointer
	to                 fusedRounding
	digits, magnitudes int32
	logRows, across    int32
	ticket             uint32
}

// fused reports whether there are fused kernels for the digits.
func (q *rowSums) fused() bool { return digitFile(q.digits) == fusedFile }

// A fusedLaunch is a launch in preparation.
type fusedLaunch struct {
	f      *cuda.Function
	box    *cuda.Mailbox
	r      fusedReduction
	grid   cuda.Dim
	shared int
}

// prepare returns a launch whose results have no place yet.
func (q *rowSums) prepare() (*fusedLaunch, error) {
	red := reducerOf(q.s)
	box, err := red.box(q.s)
	if err != nil {
		return nil, err
	}
	l := &fusedLaunch{box: box, r: fusedReduction{a: q.a.rows(), digits: int32(q.digits), magnitudes: flag(q.magnitudes)}}
	if q.x != nil {
		l.r.x = q.x.rows()
	}
	if l.f, err = red.function(q.s, fusedFile, q.kernelName()); err != nil {
		return nil, err
	}
	if err := q.divide(red, l); err != nil {
		return nil, err
	}
	parts := int64(0)
	if l.grid.Y > 1 {
		parts = 8 * int64(l.grid.X*l.grid.Y*(q.digits+4)) << l.r.logRows
	}
	if err := q.alloc(parts); err != nil {
		return nil, err
	}
	l.r.parts = q.memory.At(q.partsAt())
	return l, nil
}

// divide divides the work among blocks. The threads of a warp lie the way that memory runs.
func (q *rowSums) divide(red *reducer, l *fusedLaunch) error {
	m, k := q.a.Rows, q.a.Cols
	perSM, err := red.blocksOf(l.f, fusedThreads, fusedShared(q.digits, fusedRows, fusedRows))
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
	l.r.logRows, l.r.across = int32(bits.Len(uint(rows))-1), flag(down)
	l.shared = fusedShared(q.digits, rows, step)
	l.grid.X = (m + rows - 1) / rows
	l.grid.Y = max(1, min(slots/l.grid.X, (k+lanes-1)/lanes, maxSlices))
	return nil
}

// fusedShared returns the bytes in which a block adds the sums of rows, step rows a warp, and
// rounds them.
func fusedShared(digits, rows, step int) int {
	words := (rowDigit*digits + 64 + 31) / 32
	return max(8*(digits+1)*(fusedThreads/32)*step, (8*(digits+1)+4*words)*rows, 8*fusedThreads)
}

func (q *rowSums) start(l *fusedLaunch) error {
	return l.f.Launch(q.s, l.grid, cuda.Dim{X: fusedThreads}, l.shared, l.r)
}

// ask starts the launch and waits for its answer, the number of rows that are left over.
func (q *rowSums) ask(l *fusedLaunch) (int, error) {
	l.r.answer, l.r.ticket = l.box.At(0), l.box.Ticket()
	if err := q.start(l); err != nil {
		return 0, err
	}
	return leftOver(l.box, q.s)
}

// fusedSums is sums. Those of one row come through the mailbox.
func (q *rowSums) fusedSums() (*hostSums, error) {
	l, err := q.prepare()
	if err != nil {
		return nil, err
	}
	if q.a.Rows > 1 {
		l.r.columns, l.r.s = q.memory.Pointer(), spansOf(q.memory.At(q.spansAt()), q.a.Rows)
		if err := q.start(l); err != nil {
			return nil, err
		}
		return q.download(0)
	}
	l.r.columns, l.r.s = l.box.At(answerAt), spansOf(l.box.At(answerAt+int(q.spansAt())), 1)
	if _, err := q.ask(l); err != nil {
		return nil, err
	}
	h := q.hostSums()
	copy(h.raw, l.box.Bytes()[answerAt:])
	return h, nil
}

// fusedRound is round.
func (q *rowSums) fusedRound(alpha num.Real, c target) (left int, err error) {
	l, err := q.prepare()
	if err != nil {
		return 0, err
	}
	exp := coefficientOf(alpha).exp
	errors, shift := q.error()
	l.r.s = spansOf(q.memory.At(q.spansAt()), q.a.Rows)
	l.r.to = fusedRounding{c: c, list: q.memory.At(q.listAt()), unit: q.unit() + exp, error: float64(errors) * float64(int64(1)<<shift),
		exact: q.exactSpread(q.digits), neg: flag(alpha.Neg), expansions: flag(q.expansions())}
	return q.ask(l)
}
