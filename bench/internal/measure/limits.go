package measure

import "time"

// Limits bound the time that a measurement takes.
type Limits struct {
	Repeat   int           // timings of each method
	Longest  time.Duration // a method whose run takes longer computes fewer columns or is skipped
	Columns  time.Duration // what a run of a method with a constant cost a column aims at
	Shortest time.Duration // faster runs are repeated within one timing until they take this long
	// pause before a timing: idle worker threads of other libraries spin that long
	Settle time.Duration
}
