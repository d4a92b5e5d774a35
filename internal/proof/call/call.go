package call

import (
	"context"

	"github.com/halfulp/halfulp/internal/bufpool"
)

// Large slices are kept between calls: pages that the system hands out anew cost as much as what is
// done with them in systems of one column.
var (
	floatRoom bufpool.Shelf[[]float64]
	wordRoom  bufpool.Shelf[[]uint64]
)

// Call is what a routine that runs carries, whatever it computes.
type Call struct {
	Ctx         context.Context
	Threads     int
	Work        Work
	parts       float64     // the share told of parts of the work
	FloatsTaken [][]float64 // see [Call.Release]
	wordsTaken  [][]uint64
}

// Floats returns n numbers of any values, which the caller gives back by [Call.Release].
func (c *Call) Floats(n int) []float64 {
	x := bufpool.Slice(&floatRoom, n)
	c.FloatsTaken = append(c.FloatsTaken, x)
	return x[:n]
}

// Words is [Call.Floats] for integers.
func (c *Call) Words(n int) []uint64 {
	x := bufpool.Slice(&wordRoom, n)
	c.wordsTaken = append(c.wordsTaken, x)
	return x[:n]
}

// Release gives back what Floats and Words took.
func (c *Call) Release() {
	for _, x := range c.FloatsTaken {
		bufpool.Return(&floatRoom, x)
	}
	for _, x := range c.wordsTaken {
		bufpool.Return(&wordRoom, x)
	}
	c.FloatsTaken, c.wordsTaken = nil, nil
}
