package rows

import (
	"strconv"

	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/num"
)

// The way of kernels/rows/words.cuh: sums of long numbers by words. It takes the place of the fused
// kernels of fused.go, which it shares the rest with.

// wordDigits is from how many digits on sums go that way.
var wordDigits = 13

// words reports whether sums with so many digits go that way.
func (q *rowSums) words(digits int) bool {
	if q.x != nil || q.a.Arr.Kind != num.MP || digits < wordDigits || q.a.Rows > fewRows {
		return false
	}
	size, _ := abi.WordSize(digits)
	return size != 0 && q.wordShared(digits) <= q.sharedLimit()
}

func (q *rowSums) wordShared(digits int) int {
	w := abi.WordReductionOf(abi.FusedReduction{A: abi.RowsOf(q.a), Digits: int32(digits)})
	return abi.WordShared(digits, int(w.Stage))
}

// divideWords divides the work among blocks, each on one row.
func (q *rowSums) divideWords(loaded *launch.Kernels, l *fusedLaunch) (err error) {
	size, _ := abi.WordSize(q.digits)
	if l.f, err = loaded.Function(q.s, "rows/words", "words"+strconv.Itoa(size)); err != nil {
		return err
	}
	l.threads, l.shared = abi.WordThreads, q.wordShared(q.digits)
	perSM, err := loaded.Blocks(l.f, l.threads, l.shared)
	if err != nil {
		return err
	}
	l.grid.X = q.a.Rows
	stages := (q.a.Cols + abi.WordNumbers - 1) / abi.WordNumbers
	l.grid.Y = min(evenShares(l.grid.X, perSM*q.s.Device().Info().Multiprocessors, stages), (q.a.Cols+abi.WordThreads-1)/abi.WordThreads)
	return nil
}
