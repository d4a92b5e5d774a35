package call

import (
	"slices"

	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/budget"
)

// Large slices are kept between calls: pages that the system hands out anew cost as much as what is
// done with them in systems of one column.
var (
	floatRoom bufpool.Shelf[[]float64]
	wordRoom  bufpool.Shelf[[]uint64]
)

// Call is what a routine that runs carries, whatever it computes.
type Call struct {
	par.Run     // Progress is what Work reports to
	Work        Work
	Budget      budget.Budget // counts what Floats and Words take
	parts       float64       // the share told of parts of the work
	FloatsTaken [][]float64   // see [Call.Release]
	wordsTaken  [][]uint64
}

// Floats returns n numbers of any values, which the caller gives back by [Call.Release].
func (c *Call) Floats(n int) []float64 {
	x := c.floats(n)
	c.FloatsTaken = append(c.FloatsTaken, x)
	return x
}

// floats is Floats for numbers that returnFloats gives back.
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

// GiveBackFloats gives back numbers that Floats returned.
func (c *Call) GiveBackFloats(x []float64) {
	for i, y := range c.FloatsTaken {
		if len(x) > 0 && &x[0] == &y[0] {
			c.returnFloats(y)
			c.FloatsTaken = slices.Delete(c.FloatsTaken, i, i+1)
			return
		}
	}
}

// GiveBack gives back integers that Words returned, or the first of them.
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

// Temporary returns a function that gives back what Floats and Words have taken since.
func (c *Call) Temporary() (end func()) {
	floats, words := len(c.FloatsTaken), len(c.wordsTaken)
	return func() { c.releaseFrom(floats, words) }
}

// Release gives back what Floats and Words took.
func (c *Call) Release() { c.releaseFrom(0, 0) }

// releaseFrom gives back all but the first slices of both kinds. Those may be fewer by now.
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
