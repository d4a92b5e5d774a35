package linsolve

import (
	"sync"

	"github.com/halfulp/halfulp/internal/pages"
)

// Large slices are kept between calls: pages that the system hands out anew cost as much as what is
// done with them in systems of one column.
var floatRoom, wordRoom, exponentRoom sync.Pool

// floats returns n numbers of any values, which the caller gives back by s.release at the end.
func (s *solver) floats(n int) []float64 {
	x := take[float64](&floatRoom, n)
	s.floatsTaken = append(s.floatsTaken, x)
	return (*x)[:n]
}

// words is floats for integers.
func (s *solver) words(n int) []uint64 {
	x := take[uint64](&wordRoom, n)
	s.wordsTaken = append(s.wordsTaken, x)
	return (*x)[:n]
}

// take returns n numbers of any values or more, which the caller puts back.
func take[T any](from *sync.Pool, n int) *[]T {
	if x, _ := from.Get().(*[]T); x != nil && cap(*x) >= n {
		return x
	}
	x := make([]T, n)
	pages.Large(x)
	return &x
}

// release gives back what was taken.
func (s *solver) release() {
	for _, x := range s.floatsTaken {
		floatRoom.Put(x)
	}
	for _, x := range s.wordsTaken {
		wordRoom.Put(x)
	}
	for _, m := range s.away {
		m.Free()
	}
	s.floatsTaken, s.wordsTaken, s.away, s.tally, s.lifting = nil, nil, nil, nil, nil
}
