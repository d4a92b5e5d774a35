package halfulp

import (
	"context"
	"fmt"
	"runtime"

	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// The names of methods in [place.Settings].
const (
	methodAuto    = "auto"
	methodResidue = "residue"
	methodDirect  = "direct"
)

// Settings checks o and fills in the defaults. It is for the packages of this module, as its result
// has an internal type.
func (o *Options) Settings() (place.Settings, error) { return o.settings() }

// settings checks o and fills in the defaults.
func (o *Options) settings() (place.Settings, error) {
	s := place.Settings{Run: par.Run{Ctx: context.Background(), Threads: runtime.GOMAXPROCS(0)}, Device: place.Name{Kind: place.Auto}, Method: methodAuto}
	if o == nil {
		s.Memory = memlimit.Default()
		return s, nil
	}
	var err error
	if s.Device, err = place.ParseName(string(o.Device)); err != nil {
		return s, err
	}
	switch o.Method {
	case "", methodAuto:
	case methodResidue, methodDirect:
		s.Method = string(o.Method)
	default:
		return s, fmt.Errorf("method %q: %w (want auto, residue or direct)", o.Method, ErrMethod)
	}
	if s.Check = o.Check; s.Check && s.Method == methodDirect {
		return s, fmt.Errorf("method %q: %w: it has no redundant modulus to check products by (want auto or residue)", o.Method, ErrMethod)
	}
	if o.Context != nil {
		s.Ctx = o.Context
	}
	if o.Threads > 0 {
		s.Threads = min(o.Threads, 4*s.Threads+16)
	}
	s.Progress = o.Progress
	s.Memory, s.Limit = o.MemoryLimit, o.MemoryLimit
	if s.Memory <= 0 {
		s.Memory = memlimit.Default()
	}
	return s, nil
}
