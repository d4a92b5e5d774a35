package par

import "sync"

// Rising returns a function that passes a share on to report only if it is larger than all before,
// capped at 1, and calls report from one goroutine at a time. It returns nil for nil.
func Rising(report func(done float64)) func(done float64) {
	if report == nil {
		return nil
	}
	var mu sync.Mutex
	most := 0.0
	return func(done float64) {
		mu.Lock()
		defer mu.Unlock()
		if done = min(1, done); done > most {
			most = done
			report(done)
		}
	}
}
