package grid

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"os"
	"strings"

	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
)

// A Local is the device on which a process computes its parts of products of matrices. The blocks
// themselves stay in the memory of the process.
type Local struct {
	Team place.Team // the processes of this machine

	host   bool
	at     place.Place // the requested GPUs; nil: one if it is estimated to be faster
	memory int64       // bytes of each GPU that may be used; 0: most of its memory
}

// Use sets the device of this process: auto, the host, or the process's share of the listed GPUs of
// this machine.
func (l *Local) Use(n place.Name) error {
	z := Local{Team: l.Team, host: n.Kind == place.Host}
	switch n.Kind {
	case place.Auto, place.Host:
	case place.CUDA:
		var err error
		if z.at, z.memory, err = l.Team.GPUs(n); err != nil {
			return err
		}
	default:
		return fmt.Errorf("device %q of a process: %w (want auto, cpu or cuda:N)", n, place.ErrDevice)
	}
	*l = z
	return nil
}

// config returns the configuration with which this process computes its part of a product, or a
// piece of it.
func (l *Local) config(c place.Config, triangle byte) product.Config {
	cfg := product.Config{Run: c.Run, Method: c.Method}
	if l.host {
		return cfg
	}
	there := place.Config{Run: c.Run, Method: c.Method, Limit: c.Limit, Pattern: place.Pattern{Triangle: triangle}}
	if l.memory > 0 && (there.Limit == 0 || there.Limit > l.memory) {
		there.Limit = l.memory
	}
	cfg.Device, cfg.Asked = &place.Product{At: l.at, Team: l.Team, Config: there}, l.at != nil
	return cfg
}

// alone reports whether no GPU can be used, so that products may have the shapes that only the host
// supports.
func (l *Local) alone() bool {
	if l.host || l.at != nil {
		return l.host
	}
	gpus, err := place.Find(place.CUDA)
	if err == nil {
		_, err = gpus.Devices()
	}
	return err != nil
}

// Machine returns the team of the processes on this process's machine, and its number among them.
// Processes with the same host name share a machine.
func Machine(ctx context.Context, to Transport) (place.Team, error) {
	const size = 256         // more than the length of a name
	name, _ := os.Hostname() // processes without a name share a machine
	mine := make([]byte, size)
	copy(mine, name)
	all, counts := make([]byte, size*to.Size()), make([]int, to.Size())
	for p := range counts {
		counts[p] = size
	}
	var t place.Team
	if err := to.Allgather(ctx, mine, all, counts); err != nil {
		return t, err
	}
	for p := range counts {
		if bytes.Equal(all[p*size:(p+1)*size], mine) {
			if p < to.Rank() {
				t.Index++
			}
			t.Size++
		}
	}
	return t, nil
}

// A workplace is the set of devices on which a process has multiplied: bit 0 is the host, and bit 1
// + i is GPU i.
type workplace int64

const onHost workplace = 1

// workplaceOf returns the workplace of a product that ran on device.
func workplaceOf(device string) (w workplace) {
	n, err := place.ParseName(device)
	if err != nil || n.Kind != place.CUDA {
		return onHost
	}
	for _, i := range n.Numbers {
		w |= 1 << min(1+i, 62)
	}
	return w
}

// String returns the names of the devices, or "none".
func (w workplace) String() string {
	var names, gpus []string
	if w&onHost != 0 {
		names = append(names, place.Host)
	}
	for x := uint64(w) >> 1; x != 0; x &= x - 1 {
		gpus = append(gpus, fmt.Sprint(bits.TrailingZeros64(x)))
	}
	if gpus != nil {
		names = append(names, place.CUDA+":"+strings.Join(gpus, ","))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, " and ")
}
