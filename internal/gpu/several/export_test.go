package several

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Balance lets results of that order be shared out fairly, as if entries took no time from GPU to
// GPU, until restore is called.
func Balance(order int) (restore func()) {
	was, link, local := leastBalanced, linkRate, copyRate
	leastBalanced, linkRate, copyRate = order, math.Inf(1), math.Inf(1)
	return func() { leastBalanced, linkRate, copyRate = was, link, local }
}

// Tiles deals out columns in tiles if each GPU gets so many, until restore is called.
func Tiles(least int) (restore func()) {
	was := tiles
	tiles = least
	return func() { tiles = was }
}

// Share lets all GPUs make approximate inverses from that order on, until restore is called.
func Share(from int) (restore func()) {
	was, root := sharedFrom, rootSharedFrom
	sharedFrom, rootSharedFrom = from, from
	return func() { sharedFrom, rootSharedFrom = was, root }
}

// Refined lets all GPUs solve in fixed point from that order on, until restore is called.
func Refined(from int) (restore func()) {
	was := refinedFrom
	refinedFrom = from
	return func() { refinedFrom = was }
}

// Moves reports whether entries of a product of order n in format f move between two GPUs, each of
// which has half of the columns.
func Moves(n int, f num.Format, triangle byte, factors [2]byte) bool {
	of := num.Mat{Arr: &num.Array{Format: f}, RS: 1, CS: n, Rows: n, Cols: n}
	m := &multiplication{p: &Place{parts: make([]GPU, 2)}, a: of, b: of, z: of}
	list := []piece{{i1: n, j1: n / 2}, {d: 1, i1: n, j0: n / 2, j1: n}}
	return m.fairer(place.Config{Pattern: place.Pattern{Triangle: triangle, Factors: factors}}, list) != nil
}

// Alone has the first GPU compute alone below that order, until restore is called.
func Alone(below int) (restore func()) {
	was := AloneBelow
	AloneBelow = Orders{below, below, below, below, below}
	return func() { AloneBelow = was }
}
