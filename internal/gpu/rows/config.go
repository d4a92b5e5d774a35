package rows

import (
	"context"
	"runtime"

	"github.com/halfulp/halfulp/internal/direct"
)

// Config says how a routine may run.
type Config struct {
	Ctx     context.Context // nil: never cancelled
	Threads int             // of the host; 0: GOMAXPROCS
}

func (cfg Config) defaults() Config {
	if cfg.Ctx == nil {
		cfg.Ctx = context.Background()
	}
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	return cfg
}

// work is how the host does its part.
func (cfg Config) work() direct.Work {
	return direct.Work{Context: cfg.Ctx, Threads: cfg.Threads}
}
