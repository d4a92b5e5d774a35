package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/matfile"
)

// streamed adds the doubles of a large .npy file while it reads them, without an array of them all:
// allocating the array would take most of the time of the sum. It is not ok for other files, and if
// flags request something else.
func (j *job) streamed(file string, kind direct.Reduction) (z halfulp.Scalar, stats halfulp.Stats, ok bool, err error) {
	onCPU := j.how.Device == "auto" || j.how.Device == cpuDevice
	if _, given := j.in.in(); given || !onCPU || j.how.Method != "auto" && j.how.Method != "direct" {
		return z, stats, false, nil
	}
	d, ok := matfile.OpenDoubles(j.env.Ctx, file)
	if !ok {
		return z, stats, false, nil
	}
	defer d.Close()
	start, opt := time.Now(), j.options()
	if opt.Threads == 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	const part = direct.FloatPart
	buffers := make([][]float64, opt.Threads)
	parts := direct.Parts{N: (d.Len() + part - 1) / part, Read: func(worker, i int) ([]float64, error) {
		if buffers[worker] == nil {
			buffers[worker] = make([]float64, part)
		}
		x := buffers[worker][:min(part, d.Len()-i*part)]
		return x, d.Read(x, i*part)
	}}
	var mu sync.Mutex
	done := 0
	work := direct.Work{
		Run: par.Run{Ctx: opt.Context, Threads: opt.Threads},
		Done: func(n, of int) {
			mu.Lock()
			defer mu.Unlock()
			if done += n; opt.Progress != nil {
				opt.Progress(min(1, float64(done)/float64(of)))
			}
		},
	}
	sum := halfulp.NewMatrix(j.format, 1, 1)
	flags, exact, err := kind.RoundParts(work, parts, sum.View().Arr)
	if changed := d.Check(); changed != nil && opt.Context.Err() == nil {
		err = changed
	}
	stats = halfulp.Stats{
		Device: cpuDevice, Method: "direct", Threads: opt.Threads, Stages: []halfulp.Stage{{Name: "read and sum", Time: time.Since(start)}},
	}
	for _, c := range []struct {
		is    bool
		count *int64
	}{{exact, &stats.Exact}, {flags&num.Overflow != 0, &stats.Overflow}, {flags&num.Underflow != 0, &stats.Underflow}} {
		if c.is {
			*c.count = 1
		}
	}
	return sum.At(0, 0), stats, true, err
}
