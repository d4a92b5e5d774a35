package expansion

import (
	"fmt"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// Method is the name of this package's algorithms among the methods of products.
const Method halfulp.Method = "expansion"

// Validate returns an error unless the routines on arrays can run with these options on operands of
// the host. It opens the device. It returns an error for a device that does not exist or that this
// program does not support, for several GPUs, for the method of another package and for a cancelled
// context. Nil is valid.
func Validate(opt *halfulp.Options) error {
	_, err := begin("", opt)
	return err
}

// A run is one call of a routine: how and where it runs, and what it will report.
type run struct {
	name string
	par.Run
	limit    int64          // of the memory that the call takes beside its operands; 0: none
	at       place.Place    // nil for the host
	resident bool           // whether the operands live there
	paper    bool           // whether to use the algorithms of Published
	out      *halfulp.Stats // of the options
	stats    halfulp.Stats
	since    time.Time // when the current stage began
}

// begin checks the options of routine name, and finds where it runs: where its operands live, or
// for operands of the host, where the options say.
func begin(name string, opt *halfulp.Options, operands ...*num.Array) (run, error) {
	r := run{name: name, Run: par.Run{}.Filled(), since: time.Now()}
	device := place.Name{Kind: place.Host}
	if opt != nil {
		r.out = opt.Stats
		var err error
		if device, err = r.options(opt); err != nil {
			return r, r.failed(err)
		}
	}
	var err error
	if r.at, err = place.Common(name, operands...); err != nil {
		return r, err
	}
	if err := place.Single(r.at); err != nil {
		return r, r.failed(err)
	}
	r.resident = r.at != nil
	if !r.resident && device.IsPlace() {
		if r.at, err = place.One(string(opt.Device)); err != nil {
			return r, r.failed(err)
		}
	}
	r.stats = halfulp.Stats{Device: place.Label(r.at), Method: Method, Threads: r.Threads}
	switch {
	case r.paper:
		r.stats.Method = Published
	case r.at == nil:
		r.stats.Kernel = isa.Level().String()
	}
	if opt != nil && isBlocks(opt.Method) {
		r.stats.Method = opt.Method
	}
	if err := r.Ctx.Err(); err != nil {
		return r, r.failed(err)
	}
	return r, nil
}

// options adopts the settings of opt.
func (r *run) options(opt *halfulp.Options) (device place.Name, err error) {
	if opt.Context != nil {
		r.Ctx = opt.Context
	}
	if opt.Threads > 0 {
		r.Threads = min(opt.Threads, 4*r.Threads+16)
	}
	r.limit, r.Progress = max(opt.MemoryLimit, 0), opt.Progress
	if opt.Check {
		return device, fmt.Errorf("option Check: %w: package expansion has no residues to check", halfulp.ErrMethod)
	}
	switch opt.Method {
	case SquareBlocks, LinearBlocks:
		if !hasBlocks(r.name, opt.Method) {
			return device, fmt.Errorf("method %q: %w for this routine (want auto or %s)", opt.Method, halfulp.ErrMethod, Method)
		}
	case "", "auto", Method:
	case Published:
		if r.paper = true; !hasPublished(r.name) {
			return device, fmt.Errorf("method %q: %w for this routine (want auto or %s)", opt.Method, halfulp.ErrMethod, Method)
		}
	default:
		return device, fmt.Errorf("method %q: %w (want auto, %s, %s, %s or %s)", opt.Method, halfulp.ErrMethod, Method, Published, SquareBlocks, LinearBlocks)
	}
	return place.ParseName(string(opt.Device))
}

// failed returns the error of the routine, or the error of the options alone if the routine has no
// name.
func (r *run) failed(err error) error {
	if r.name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", r.name, err)
}

// stage ends a stage.
func (r *run) stage(name string) {
	now := time.Now()
	r.stats.Stages = append(r.stats.Stages, halfulp.Stage{Name: name, Time: now.Sub(r.since)})
	r.since = now
}

// end stores the statistics of the routine if its options ask for them, and returns its error.
// stage is the name of its last stage, which ended with err.
func (r *run) end(stage string, err error) error {
	if err == nil {
		r.stage(stage)
		if r.Progress != nil {
			r.Progress(1)
		}
	}
	if r.out != nil {
		*r.out = r.stats
	}
	if err != nil {
		return r.failed(err)
	}
	return nil
}

// room returns an error if the call must not take so many bytes beside its operands.
func (r *run) room(bytes int64) error {
	if r.limit > 0 && bytes > r.limit {
		return fmt.Errorf("%w: %d bytes are needed beside the operands, MemoryLimit is %d", halfulp.ErrMemory, bytes, r.limit)
	}
	return nil
}

// sizeOf is the number of bytes of the entries of a matrix.
func sizeOf(m num.Mat) int64 { return int64(m.Rows) * int64(m.Cols) * num.SizeOf(m.Arr.Format) }

// pieces returns a function to be called at the end of each of total pieces of work, from any
// goroutine.
func (r *run) pieces(total int) (ended func()) {
	if r.Progress == nil {
		return func() {}
	}
	var mu sync.Mutex
	n := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		n++
		r.Progress(float64(n) / float64(total))
	}
}
