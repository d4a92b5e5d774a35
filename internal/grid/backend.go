package grid

import (
	"fmt"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/textio"
)

// Register makes the grids of the processes that a transport connects known to package place. This
// process computes its parts of products on the device that on has at the time of the product.
// Register returns a function that restores the backend that was registered before.
func Register(to Transport, on *Local) (restore func()) {
	return place.Register(place.MPI, &backend{to: to, on: on, open: map[[2]int]*Grid{}})
}

// backend is the backend of all grids of the processes.
type backend struct {
	to   Transport
	on   *Local
	open map[[2]int]*Grid
}

// Devices lists one grid of the processes, of the shape that Shape returns.
func (b *backend) Devices() ([]place.Device, error) {
	rows, cols := Shape(b.to.Size())
	return []place.Device{{Name: fmt.Sprintf("%s:%dx%d", place.MPI, rows, cols), Model: textio.Count(b.to.Size(), "process")}}, nil
}

// Open returns the grid with these numbers of rows and columns.
func (b *backend) Open(sides ...int) (place.Place, error) {
	if len(sides) != 2 {
		return nil, fmt.Errorf("%w: a grid of processes has rows and columns, mpi:PxQ", place.ErrDevice)
	}
	key := [2]int(sides)
	if g := b.open[key]; g != nil {
		return g, nil
	}
	g, err := New(b.to, key[0], key[1], Block, b.on)
	if err != nil {
		return nil, err
	}
	b.open[key] = g
	return g, nil
}

func (b *backend) IsOpen(int) bool      { return true }
func (b *backend) Fit(place.Place) bool { return true }

// Prepare keeps nothing.
func (b *backend) Prepare(num.Mat) place.Prepared { return nothing{} }

type nothing struct{}

func (nothing) Free() {}

// EstimateGemm gives no estimate: grids are used only when requested.
func (b *backend) EstimateGemm(int, int, int, num.Format, num.Format, num.Format) (time.Duration, bool) {
	return 0, false
}

// EstimateTransfer returns more than any routine takes.
func (b *backend) EstimateTransfer(int64) time.Duration { return time.Hour }
