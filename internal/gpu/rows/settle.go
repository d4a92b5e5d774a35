package rows

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/plan"
)

// Results that need more than the rounded sum of a row: results with an alpha that is not a power
// of two, with beta y, and in formats whose numbers are sums of terms. kernels/rows/integers.cu
// turns the sums into integers, and kernels/exact/settle.cu settles them as it settles the entries
// of matrix products.

const (
	integerThreads = 128 // threads of a block of integersOfRows
	settleWarps    = 8   // warps of a block of settle
	countBytes     = 24  // overflows, underflows, rows left over
)

// settle computes the sums of the rows and rounds alpha times each sum + beta y. It returns the
// number of rows left over.
func (p *multiplying) settle(q *rowSums, digits int) (left int, err error) {
	s, n := p.s, p.n
	if err := q.onDevice(digits); err != nil {
		return 0, err
	}
	words := (abi.RowDigit*digits + 64 + 31) / 32
	alpha, beta := abi.CoefficientOf(p.alpha), abi.CoefficientOf(p.beta)
	below := 0
	if !alpha.Plain {
		below = len(alpha.Words)
	}
	if p.beta.Class != num.Zero {
		// A window as long as the results, for sums that are small against beta y.
		below += max(2, int(math.Ceil(plan.ResultBits(p.out)/32))+2-words)
	}
	pitch := below + words
	raw := 128 * int64((n+31)/32) * int64(pitch)
	coefficients := append(append([]uint32{}, alpha.Words...), beta.Words...)
	room, err := s.Alloc(raw + countBytes + 16*int64(n+1) + 4*int64(len(coefficients)) + int64(n+1))
	if err != nil {
		return 0, err
	}
	defer room.Free()
	at := room.Pointer()
	take := func(bytes int) cuda.Pointer {
		p := at
		at += cuda.Pointer(bytes)
		return p
	}
	i := abi.Integers{S: spansOf(q.memory.At(q.spansAt()), n), Columns: q.memory.Pointer(), Raw: take(int(raw)), Counts: take(countBytes),
		Exact: q.exactSpread(digits), Digits: int32(digits), Rows: int32(n), Words: int32(words), Pitch: int32(pitch), Expansions: abi.Flag(q.expansions())}
	i.L = abi.VectorData{Exp: take(8 * n), Second: take(8 * n)}
	i.R = abi.VectorData{Exp: take(8), Second: take(8)}
	scalars := take(4 * len(coefficients))
	i.L.Flags, i.R.Flags = take(n), take(1)
	if !alpha.Plain || p.beta.Class != num.Zero {
		if err := cuda.Upload(s, scalars, coefficients); err != nil {
			return 0, err
		}
	}
	loaded := launch.KernelsOf(s)
	f, err := loaded.Function(s, "rows/integers", "integersOfRows")
	if err != nil {
		return 0, err
	}
	if err := f.Launch(s, cuda.Dim{X: (n + integerThreads - 1) / integerThreads}, cuda.Dim{X: integerThreads}, 0, i); err != nil {
		return 0, err
	}
	errors, shift := q.error()
	k := abi.Settling{C: abi.TargetOf(p.z.Col()), Failed: abi.Leftovers{Count: i.Counts + 16, List: q.memory.At(q.listAt()), Capacity: int64(n)},
		Counts: i.Counts, L: i.L, R: i.R, ErrorL: float64(errors) * float64(int64(1)<<shift),
		E:   abi.ExpressionArgs{Alpha: alpha.Native(scalars), Beta: beta.Native(scalars + cuda.Pointer(4*len(alpha.Words)))},
		Raw: i.Raw, Unit: q.unit(), Words: int32(words), Below: int32(below), M: int32(n), N: 1}
	if p.beta.Class != num.Zero {
		y := p.y.Col()
		k.E.Old, k.E.Off, k.E.RS, k.E.CS, k.E.Adds = abi.NumbersOf(y.Arr), int64(y.Off), int64(y.RS), int64(y.CS), 1
	}
	if f, err = loaded.Function(s, "exact/settle", "settle"); err != nil {
		return 0, err
	}
	if err := f.Launch(s, cuda.Dim{X: ((n+31)/32 + settleWarps - 1) / settleWarps}, cuda.Dim{X: 32 * settleWarps}, 0, k); err != nil {
		return 0, err
	}
	var counts [countBytes / 8]uint64
	if err := cuda.Download(s, counts[:], i.Counts); err != nil {
		return 0, err
	}
	p.met = [2]uint64(counts[:2])
	return int(uint32(counts[2])), nil
}
