package measure

import (
	"fmt"
	"math"
	"time"

	"github.com/halfulp/halfulp/bench/internal/peer"
)

// plan says how a method is timed.
type plan struct {
	method  peer.Method
	columns int // of the result, computed in each run
	runs    int // in each timing
}

// newPlan runs a method once or more on the fewest columns that it allows, to see how much fits the
// limits. The reason is not empty if nothing does.
func newPlan(method peer.Method, n int, limits Limits) (p plan, reason string, err error) {
	pilot := method.MinColumns
	if pilot == 0 || pilot > n {
		pilot = n
	}
	elapsed, err := timeRuns(method, pilot, 1)
	if err == nil && elapsed < limits.Columns { // the first run pays for page faults and threads
		elapsed, err = timeRuns(method, pilot, 1)
	}
	if err != nil {
		return p, "", err
	}
	if elapsed > limits.Longest {
		return p, fmt.Sprintf("%.0f s for %d of %d columns", elapsed.Seconds(), pilot, n), nil
	}

	budget := limits.Longest
	if method.Linear {
		budget = min(budget, limits.Columns)
	}
	columns := n
	if pilot < n {
		fitting := float64(pilot) * float64(budget) / float64(max(elapsed, 1))
		columns = int(max(float64(pilot), min(float64(n), fitting)))
		if method.MinColumns > 0 {
			columns -= columns % method.Threads // so that no thread waits for the last column
			columns = max(columns, pilot)
		}
	}
	run := float64(elapsed) * float64(columns) / float64(pilot)
	runs := max(1, int(math.Ceil(float64(limits.Shortest)/max(run, 1))))
	return plan{method, columns, runs}, "", nil
}

// timeRuns returns the wall-clock time of that many runs.
func timeRuns(method peer.Method, columns, runs int) (time.Duration, error) {
	start := time.Now()
	for range runs {
		if err := method.Run(columns); err != nil {
			return 0, fmt.Errorf("%s: %w", method.Name, err)
		}
	}
	return time.Since(start), nil
}
