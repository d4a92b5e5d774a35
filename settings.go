package halfulp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
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
	threads  int
	method   string
	progress func(float64)
	memory   int64
}

// settings checks o and fills in the defaults.
func (o *Options) settings() (settings, error) {
	s := settings{ctx: context.Background(), threads: runtime.GOMAXPROCS(0), method: methodAuto}
	if o == nil {
		s.memory = defaultMemory()
		return s, nil
	}
	switch {
	case o.Device == "", o.Device == "auto", o.Device == "cpu":
	case strings.HasPrefix(o.Device, "cuda:"):
		return s, fmt.Errorf("device %q: %w: this build computes on the CPU only", o.Device, ErrDevice)
	default:
		return s, fmt.Errorf("device %q: %w (want auto, cpu or cuda:N)", o.Device, ErrDevice)
	}
	switch o.Method {
	case "", methodAuto:
	case methodResidue, methodDirect:
		s.method = o.Method
	default:
		return s, fmt.Errorf("method %q: %w (want auto, residue or direct)", o.Method, ErrMethod)
	}
	if o.Context != nil {
		s.ctx = o.Context
	}
	if o.Threads > 0 {
		s.threads = o.Threads
	}
	s.progress = o.Progress
	s.memory = o.MemoryLimit
	if s.memory <= 0 {
		s.memory = defaultMemory()
	}
	return s, nil
}
