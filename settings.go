package halfulp

import (
	"context"
	"fmt"
	"runtime"

	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/place"
)

// The names of methods.
const (
	methodAuto    = "auto"
	methodResidue = "residue"
	methodDirect  = "direct"
)

// settings are options with the defaults filled in.
type settings struct {
	ctx      context.Context
	device   place.Name
	threads  int
	method   string
	progress func(float64)
	memory   int64
	limit    int64 // Options.MemoryLimit
	check    bool
}

// settings checks o and fills in the defaults.
func (o *Options) settings() (settings, error) {
	s := settings{ctx: context.Background(), device: place.Name{Kind: place.Auto}, threads: runtime.GOMAXPROCS(0), method: methodAuto}
	if o == nil {
		s.memory = memlimit.Default()
		return s, nil
	}
	var err error
	if s.device, err = place.ParseName(string(o.Device)); err != nil {
		return s, err
	}
	switch o.Method {
	case "", methodAuto:
	case methodResidue, methodDirect:
		s.method = o.Method
	default:
		return s, fmt.Errorf("method %q: %w (want auto, residue or direct)", o.Method, ErrMethod)
	}
	if s.check = o.Check; s.check && s.method == methodDirect {
		return s, fmt.Errorf("method %q: %w: it has no redundant modulus to check products by", o.Method, ErrMethod)
	}
	if o.Context != nil {
		s.ctx = o.Context
	}
	if o.Threads > 0 {
		s.threads = min(o.Threads, 4*s.threads+16)
	}
	s.progress = o.Progress
	s.memory, s.limit = o.MemoryLimit, o.MemoryLimit
	if s.memory <= 0 {
		s.memory = memlimit.Default()
	}
	return s, nil
}
