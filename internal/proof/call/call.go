package call

import (
	"slices"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/budget"
)

// Large slices are kept between calls: in systems of one column, new pages from the operating
// system cost as much time as the computation on them.
var (
	floatRoom bufpool.Shelf[[]float64]
	wordRoom  bufpool.Shelf[[]uint64]
)

// Call is the state of a running routine, whatever it computes.
type Call struct {
	par.Run     // Work reports to its Progress
	Work        Work
	Budget      budget.Budget // counts the memory of Floats and Words
	parts       float64       // the last share that Part reported
	FloatsTaken [][]float64   // see [Call.Release]
	wordsTaken  [][]uint64
}

// Floats returns n numbers with unspecified values, which [Call.Release] releases.
func (c *Call) Floats(n int) []float64 {
	x := c.floats(n)
	c.FloatsTaken = append(c.FloatsTaken, x)
	return x
}

// floats is Floats for numbers that the caller releases by returnFloats.
func (c *Call) floats(n int) []float64 {
	c.Budget.Reclaim(8 * int64(n))
	c.Budget.Take(8 * int64(n))
	return bufpool.Slice(&floatRoom, n)[:n]
}

func (c *Call) returnFloats(x []float64) {
	c.Budget.Take(-8 * int64(len(x)))
	bufpool.Return(&floatRoom, x)
}

// Words is [Call.Floats] for integers.
func (c *Call) Words(n int) []uint64 {
	c.Budget.Reclaim(8 * int64(n))
	x := bufpool.Slice(&wordRoom, n)[:n]
	c.wordsTaken = append(c.wordsTaken, x)
	c.Budget.Take(8 * int64(n))
	return x
}

// GiveBackFloats releases a slice that Floats returned.
func (c *Call) GiveBackFloats(x []float64) {
	for i, y := range c.FloatsTaken {
		if len(x) > 0 && &x[0] == &y[0] {
			c.returnFloats(y)
			c.FloatsTaken = slices.Delete(c.FloatsTaken, i, i+1)
			return
		}
	}
}

// GiveBack releases a slice that Words returned, given that slice or the beginning of it.
func (c *Call) GiveBack(x []uint64) {
	for i, y := range c.wordsTaken {
		if len(x) > 0 && &x[0] == &y[0] {
			c.Budget.Take(-8 * int64(len(y)))
			bufpool.Return(&wordRoom, y)
			c.wordsTaken = slices.Delete(c.wordsTaken, i, i+1)
			return
		}
	}
}

// Temporary returns a function that releases the slices that Floats and Words return from now on.
func (c *Call) Temporary() (end func()) {
	floats, words := len(c.FloatsTaken), len(c.wordsTaken)
	return func() { c.releaseFrom(floats, words) }
}

// Release releases all slices of Floats and Words.
func (c *Call) Release() { c.releaseFrom(0, 0) }

// releaseFrom releases all slices except the first floats slices of Floats and the first words
// slices of Words. There may be fewer by now.
func (c *Call) releaseFrom(floats, words int) {
	floats, words = min(floats, len(c.FloatsTaken)), min(words, len(c.wordsTaken))
	for _, x := range c.FloatsTaken[floats:] {
		c.returnFloats(x)
	}
	for _, x := range c.wordsTaken[words:] {
		c.Budget.Take(-8 * int64(len(x)))
		bufpool.Return(&wordRoom, x)
	}
	clear(c.FloatsTaken[floats:])
	clear(c.wordsTaken[words:])
	c.FloatsTaken, c.wordsTaken = c.FloatsTaken[:floats], c.wordsTaken[:words]
}
