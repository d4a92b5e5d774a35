package linsolve

import "sync"

// Large slices are kept between calls: pages that the system hands out anew cost as much as what is
// done with them in systems of one column.
var floatRoom, wordRoom sync.Pool

// floats returns n numbers of any values, which the caller gives back by s.release at the end.
func (s *solver) floats(n int) []float64 { return take(&floatRoom, &s.floatsTaken, n) }

// words is floats for integers.
func (s *solver) words(n int) []uint64 { return take(&wordRoom, &s.wordsTaken, n) }

func take[T any](from *sync.Pool, taken *[]*[]T, n int) []T {
	x, _ := from.Get().(*[]T)
	if x == nil || cap(*x) < n {
		y := make([]T, n)
		x = &y
	}
	*taken = append(*taken, x)
	return (*x)[:n]
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
	s.floatsTaken, s.wordsTaken, s.away, s.tally = nil, nil, nil, nil
}
