package rows

import (
	"testing"

	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
)

// alwaysOuter has all products of MP numbers go to the kernels of kernels/rows/outer.cuh.
func alwaysOuter(t testing.TB) {
	old := outerRules
	outerRules = outerRule{vector: 1, matrix: 1, shortest: 1}
	t.Cleanup(func() { outerRules = old })
}

// outerProblems are for all shapes: lengths about those of a stage, on one block and on several,
// numbers shorter and longer than what shapes keep, two lengths of numbers, and results shorter and
// longer than factors.
func outerProblems() (list []rowProblem) {
	for i, p := range []int{20, 64, 106, 212, 424, 640, 848, 1344, 1696} {
		in, out := gputest.MP(p), gputest.MP(p)
		for _, k := range []int{1, 31, 33, 300} {
			list = append(list, rowProblem{in: in, inX: in, out: out, m: 2, k: k, alpha: 1, inc: 1, trans: i%2 == 0})
		}
		for _, kind := range []gputest.Family{gputest.Spread, gputest.Integers, gputest.Cancel, gputest.Special, gputest.Scaled, gputest.Ascending, gputest.Scattered} {
			list = append(list, rowProblem{in: in, inX: gputest.MP(p - p/3), out: out, kind: kind, m: 3, k: 70, alpha: -1, inc: -2, trans: i%2 == 1})
		}
	}
	return append(list,
		rowProblem{in: gputest.MP(5000), inX: gputest.MP(100), out: gputest.MP(200), kind: gputest.Scaled, m: 2, k: 130, alpha: 1, inc: 3},
		rowProblem{in: gputest.MP(100), inX: gputest.MP(3000), out: gputest.MP(1600), m: 2, k: 130, alpha: 1, beta: 3, inc: 1},
		rowProblem{in: gputest.MP(848), inX: gputest.MP(848), out: gputest.MP(848), m: 1, k: 0, alpha: 1, inc: 1},
		rowProblem{in: gputest.MP(848), inX: gputest.MP(848), out: gputest.MP(848), kind: gputest.Cancel, m: 40, k: 40, alpha: 1, inc: 1},
	)
}

func checkOuter(t *testing.T) {
	alwaysOuter(t)
	dev := gputest.RowReference(t, &fake.Driver{})
	for _, p := range outerProblems() {
		checkGemv(t, dev, p)
		checkReductions(t, dev, p)
	}
	checkColumns(t, dev)
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// TestOuterReference runs the host's part, with Go functions for the kernels.
func TestOuterReference(t *testing.T) { checkOuter(t) }

// TestOuterEmulated runs the kernels themselves, compiled for the host.
func TestOuterEmulated(t *testing.T) {
	t.Setenv(gputest.Emulate, "rows/outer")
	checkOuter(t)
}

// TestOuterShapes checks that shapes hold all digits, and that the last antidiagonal kept weighs no
// less than the last column.
func TestOuterShapes(t *testing.T) {
	for _, k := range abi.ReduceDigits() {
		s, ok := abi.OuterShapeOf(k)
		if kept := s.Kept(k); !ok || 8*kept < abi.RowDigit*k || 8*(kept+1) > abi.RowDigit*(k+1) || kept > 16*s.Groups {
			t.Errorf("%d digits: shape %v keeps %d antidiagonals", k, s, kept)
		}
	}
}
