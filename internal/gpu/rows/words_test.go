package rows

import (
	"fmt"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// alwaysWords has all sums of MP numbers go to the kernels of kernels/rows/words.cuh.
func alwaysWords(t testing.TB) {
	old := wordDigits
	wordDigits = 0
	t.Cleanup(func() { wordDigits = old })
}

// wordProblems cover all kernels: lengths near a stage and near the stages of all warps,
// numbers that follow each other and others, results shorter and longer than numbers, numbers
// longer than what is kept.
func wordProblems() (list []rowProblem) {
	for i, p := range []int{20, 64, 106, 212, 330, 424, 640, 848, 1344, 1696} {
		for _, k := range []int{1, 31, 33, 600} {
			list = append(list, rowProblem{in: gputest.MP(p), inX: gputest.MP(p), out: gputest.MP(p), m: 1, k: k, alpha: 1, inc: 1})
		}
		for _, kind := range []gputest.Family{gputest.Spread, gputest.Integers, gputest.Cancel, gputest.Special, gputest.Scaled, gputest.Ascending, gputest.Scattered} {
			for _, inc := range []int{1, -2} {
				list = append(list, rowProblem{in: gputest.MP(p), inX: gputest.MP(p), out: gputest.MP(p + i%3*30), kind: kind, m: 1, k: 70, alpha: 1, inc: inc})
			}
		}
	}
	return append(list,
		rowProblem{in: gputest.MP(5000), inX: gputest.MP(100), out: gputest.MP(200), kind: gputest.Scaled, m: 1, k: 130, alpha: 1, inc: 3},
		rowProblem{in: gputest.MP(100), inX: gputest.MP(100), out: gputest.MP(1600), m: 1, k: 20000, alpha: 1, inc: 1})
}

// checkWords checks one of every `every` problems.
func checkWords(t *testing.T, dev *cuda.Device, list []rowProblem, every int) {
	alwaysWords(t)
	for i, p := range list {
		if i%every == 0 {
			checkReductions(t, dev, p)
		}
	}
	checkColumns(t, dev, every)
}

// checkFakeWords is checkWords on a fake device, of which no memory may be left in use.
func checkFakeWords(t *testing.T, every int) {
	dev := gputest.RowReference(t, &fake.Driver{Shared: 227 << 10})
	checkWords(t, dev, wordProblems(), every)
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// TestWordsReference runs the host's part, with Go functions for the kernels.
func TestWordsReference(t *testing.T) { checkFakeWords(t, testlength.Of(7, 5, 1)) }

// TestWordsEmulated runs the kernels themselves, compiled for the host.
func TestWordsEmulated(t *testing.T) {
	t.Setenv(gputest.Emulate, "rows/words")
	checkFakeWords(t, testlength.Of(19, 11, 1))
}

// TestWordSlices adds uneven numbers.
func TestWordSlices(t *testing.T) {
	alwaysWords(t)
	t.Setenv(gputest.Emulate, "rows/words")
	rng := testseed.Rand(t, 6, 8)
	for _, digits := range []int{9, 13, 32, 62} {
		for trial := range testlength.Of(3, 3, 12) {
			n := testlength.Of(1500, 1500, 3000)
			_, x, large := uneven(rng, digits, n, trial)
			if trial%3 == 0 {
				x.Negate(large + 1)
			}
			withVectors(t, gputest.RowReference(t, &fake.Driver{Shared: 227 << 10}), x, x, func(s *cuda.Stream, a, _ mem.Vector) error {
				q := &rowSums{s: s, a: a.Row()}
				defer q.free()
				h, err := q.sums(digits)
				if err != nil {
					return err
				}
				checkSum(t, fmt.Sprintf("%d digits, trial %d", digits, trial), h, 0, num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{})
				return nil
			})
		}
	}
}

// TestWordShapes checks that words hold all digits.
func TestWordShapes(t *testing.T) {
	for _, k := range abi.ReduceDigits() {
		if s, ok := abi.WordShapeOf(k); !ok || 32*s.Words < abi.RowDigit*k {
			t.Errorf("%d digits: shape %v", k, s)
		}
	}
}
