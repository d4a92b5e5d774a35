package cuda

import (
	"time"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// OpenLookingOut is OpenDriver with goroutines that wait for the device, as they do for a GPU.
func OpenLookingOut(drv cudadrv.Driver, i int) (*Device, error) {
	return open(drv, i, executorPatience, newPool())
}

// OpenPatient is OpenDriver with goroutines that wait for the device, the executor for the given
// time.
func OpenPatient(drv cudadrv.Driver, i int, patience time.Duration) (*Device, error) {
	return open(drv, i, patience, newPool())
}

// SetTicket lets the next ticket of m be the one after ticket.
func SetTicket(m *Mailbox, ticket uint32) { m.ticket = ticket }

// SetStaging sets the size of the staging buffers of devices that are opened later, and
// returns a function that sets it back.
func SetStaging(bytes int) (restore func()) {
	before := stagingBytes
	stagingBytes = bytes
	return func() { stagingBytes = before }
}

// LargeBlocks has blocks of so many bytes hold less than their size, until restore is called.
func LargeBlocks(size uint64) (restore func()) {
	was := largeBlock
	largeBlock = size
	return func() { largeBlock = was }
}
