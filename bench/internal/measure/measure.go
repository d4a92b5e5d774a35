// Package measure times methods side by side.
package measure

import (
	"runtime"
	"slices"
	"time"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// SideBySide times the methods on one problem. Every peer's timing is followed by one of each
// reference and subject, so that a slow minute of the machine falls on all of them.
func SideBySide(p problem.Problem, methods []peer.Method, limits Limits) ([]record.Figure, error) {
	_, _, n := p.Shape()
	figures := make([]record.Figure, len(methods))
	plans := make([]plan, len(methods))
	samples := make([][]float64, len(methods))
	var peers, others []int
	for i, method := range methods {
		figures[i] = record.Figure{
			Kind: string(p.Kind), N: p.N, Spread: p.Spread, Bits: p.Bits,
			Method: method.Name, Role: string(method.Role), Rounded: method.Rounded, Threads: method.Threads,
		}
		var err error
		plans[i], figures[i].Skipped, err = newPlan(method, n, limits)
		switch {
		case err != nil:
			return nil, err
		case figures[i].Skipped != "":
		case method.Role == peer.Peer:
			peers = append(peers, i)
		default:
			others = append(others, i)
		}
	}

	for _, i := range order(peers, others, limits.Repeat) {
		runtime.GC()
		time.Sleep(limits.Settle)
		elapsed, err := timeRuns(methods[i], plans[i].columns, plans[i].runs)
		if err != nil {
			return nil, err
		}
		operations := p.Operations(plans[i].columns) * float64(plans[i].runs)
		samples[i] = append(samples[i], float64(elapsed)/operations)
	}

	for i := range figures {
		if len(samples[i]) == 0 {
			continue
		}
		f := &figures[i]
		f.Unit = p.Unit()
		f.Median, f.Min, f.Max = median(samples[i]), slices.Min(samples[i]), slices.Max(samples[i])
		f.Repeats, f.Runs = len(samples[i]), plans[i].runs
		f.Columns, f.ColumnsOf = plans[i].columns, n
		if methods[i].Detail != nil {
			f.Detail = methods[i].Detail()
		}
	}
	return figures, nil
}

// order returns the sequence of timings.
func order(peers, others []int, repeat int) []int {
	var sequence []int
	for range repeat {
		if len(peers) == 0 {
			sequence = append(sequence, others...)
		}
		for _, i := range peers {
			sequence = append(append(sequence, i), others...)
		}
	}
	return sequence
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
