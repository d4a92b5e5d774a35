package rows

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/par"
)

// work is how the host does its part of a routine.
func work(run par.Run) direct.Work {
	return direct.Work{Context: run.Ctx, Threads: run.Threads}
}
