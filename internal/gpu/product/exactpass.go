package product

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// maxList bounds the entries that the exact pass can compute if the host can start anew. Tests
// change it.
var maxList = int64(1 << 24)

// capacity returns the capacity of the lists. Results may overwrite old entries, with which the
// host could not start anew: then the lists have room for all entries.
func (m *multiplication) capacity() int64 {
	n := int64(m.a.Rows) * int64(m.b.Rows)
	if m.expr.adds() {
		return n
	}
	return min(n, maxList)
}

// failed and forHost return the lists of entries for the exact pass and for the host.
func (m *multiplication) failed() abi.Leftovers {
	if m.silent {
		return abi.Leftovers{Count: m.cfg.Tally.Plane(0)}
	}
	return abi.Leftovers{Count: m.control.At(listAt), List: m.list.Pointer(), Capacity: m.capacity()}
}

func (m *multiplication) forHost() abi.Leftovers {
	return abi.Leftovers{Count: m.control.At(restAt), List: m.rest.Pointer(), Capacity: m.capacity()}
}

// sumBytes is the shared memory in bytes for a word of a sum in the exact pass.
const sumBytes = 4*2*4 + 4

// sumWords returns the 32-bit words that the exact pass has for a sum: enough for all entries,
// assuming old entries of about their size, if the device has that much memory.
func (m *multiplication) sumWords() int {
	bits := m.widths + int64(m.native.Alpha.Length) + 128
	if m.native.Adds != 0 {
		bits += 32*(int64(m.native.Beta.Count)+int64(words32(m.expr.old.Arr.Format))) + 2200
	}
	return int(max(64, min(bits/32, int64(m.e.dev.Info().SharedPerBlock-declaredShared)/sumBytes)))
}

// exactBlocks returns the number of blocks of the exact pass.
func (m *multiplication) exactBlocks() int { return 2 * m.e.dev.Info().Multiprocessors }

// exactPass computes the entries that failed the rounding test, and returns those left to the host.
func (m *multiplication) exactPass() ([]uint64, error) {
	got, err := m.outcome()
	if err != nil {
		return nil, err
	}
	if err := m.checked(got); err != nil || got.List == 0 {
		return nil, err
	}
	if m.stats.Exact = int64(got.List); m.stats.Exact > m.capacity() {
		return nil, errRange
	}
	if err := m.cfg.Panels.complete(m.s); err != nil {
		return nil, err
	}
	grid, room := m.exactBlocks(), m.sumWords()
	partial, err := m.alloc(4 * int64(grid) * int64(room+1))
	if err != nil {
		return nil, err
	}
	p := abi.ExactPass{
		X: m.left.vectors, Y: m.right.vectors, L: m.left.lows(), R: m.right.lows(), C: abi.TargetOf(*m.c),
		From: m.failed(), To: m.forHost(), Counts: m.control.At(countsAt), E: m.native,
		Partial: partial.Pointer(), Arrived: m.control.At(arrivedAt), Room: int32(room),
	}
	if err := m.launch("exact", "exact", cuda.Dim{X: grid}, cuda.Dim{X: 512}, sumBytes*room, p); err != nil {
		return nil, err
	}
	if err := m.mark("exact pass"); err != nil {
		return nil, err
	}
	if got, err = m.outcome(); err != nil {
		return nil, err
	}
	rest := make([]uint64, got.Rest)
	return rest, cuda.Download(m.s, rest, m.rest.Pointer())
}

// outcome waits for the kernels and returns how the entries were settled.
func (m *multiplication) outcome() (abi.Outcome, error) {
	box, err := m.e.mailbox(m.s)
	if err != nil {
		return abi.Outcome{}, err
	}
	if err := m.launch("scan", "outcomes", cuda.Dim{X: 1}, cuda.Dim{X: 32}, 0, m.control.Pointer(), box.At(0), box.Ticket()); err != nil {
		return abi.Outcome{}, err
	}
	if err := box.Await(m.s); err != nil {
		return abi.Outcome{}, err
	}
	got := *told[abi.Outcome](box)
	m.e.clean = got.List == 0
	m.stats.Overflow, m.stats.Underflow = int64(got.Overflow), int64(got.Underflow)
	return got, nil
}
