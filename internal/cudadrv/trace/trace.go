// Package trace records the calls that go through a driver, with their objects and durations, for
// tests and measurements.
package trace

import (
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// A Call is one call of the driver. Calls that neither start work on a device nor wait for it are
// not recorded.
type Call struct {
	Name   string // of the driver's function, without the prefix cu
	What   string // the kernel launched, or the bytes requested or copied
	Stream cudadrv.Stream
	Start  time.Duration // since the trace began
	Took   time.Duration // host time
	// For EventSynchronize, the number of launches, copies and fills that had begun after the
	// event.
	Behind int
	// Device time, since the first timed call began; nil if it was not measured.
	Device *Span

	from, to cudadrv.Event
}

// Span is an interval of time.
type Span struct{ From, To time.Duration }

// Answers reports whether the host waits for all the work of the device, which then idles until the
// host goes on.
func (c Call) Answers() bool {
	return (c.Name == "StreamSynchronize" || c.Name == "EventSynchronize") && c.Behind == 0
}

// Driver records the calls of another driver.
type Driver struct {
	cudadrv.Driver
	// Timed measures launches, copies and fills on the device, by events before and after them.
	Timed bool

	mu       sync.Mutex
	began    time.Time
	calls    []Call
	names    map[cudadrv.Function]string
	begun    int                   // number of launches, copies and fills
	recorded map[cudadrv.Event]int // value of begun when an event was last recorded
}

// Reset discards the calls recorded so far.
func (d *Driver) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began, d.calls = time.Now(), nil
}

// Calls returns the calls since Reset. If Timed, the work must be done, and the context must be
// current.
func (d *Driver) Calls() ([]Call, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var first cudadrv.Event
	for i := range d.calls {
		c := &d.calls[i]
		if c.from == 0 {
			continue
		}
		if first == 0 {
			first = c.from
		}
		c.Device = new(Span)
		for _, x := range []struct {
			to *time.Duration
			e  cudadrv.Event
		}{{&c.Device.From, c.from}, {&c.Device.To, c.to}} {
			ms, err := d.EventElapsedTime(first, x.e)
			if err != nil {
				return nil, err
			}
			*x.to = time.Duration(float64(ms) * 1e6)
		}
	}
	return d.calls, nil
}

// note makes a call and records it; work is true for launches, copies and fills.
func (d *Driver) note(name, what string, s cudadrv.Stream, work bool, call func() error) error {
	return d.noteCall(Call{Name: name, What: what, Stream: s}, work, call)
}

func (d *Driver) noteCall(c Call, work bool, call func() error) error {
	s := c.Stream
	event := func(e *cudadrv.Event) error {
		var err error
		if *e, err = d.Driver.EventCreate(); err == nil {
			err = d.Driver.EventRecord(*e, s)
		}
		return err
	}
	timed := work && d.Timed
	if timed {
		if err := event(&c.from); err != nil {
			return err
		}
	}
	start := time.Now()
	err := call()
	c.Took = time.Since(start)
	if timed && err == nil {
		err = event(&c.to)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if work {
		d.begun++
	}
	c.Start = start.Sub(d.began)
	d.calls = append(d.calls, c)
	return err
}

// MemAlloc calls the driver and records the call.
func (d *Driver) MemAlloc(n uint64) (p cudadrv.Pointer, err error) {
	err = d.note("MemAlloc", fmt.Sprint(n), 0, false, func() error { p, err = d.Driver.MemAlloc(n); return err })
	return p, err
}

// MemFree calls the driver and records the call.
func (d *Driver) MemFree(p cudadrv.Pointer) error {
	return d.note("MemFree", "", 0, false, func() error { return d.Driver.MemFree(p) })
}

// MemGetInfo calls the driver and records the call.
func (d *Driver) MemGetInfo() (free, total uint64, err error) {
	err = d.note("MemGetInfo", "", 0, false, func() error { free, total, err = d.Driver.MemGetInfo(); return err })
	return free, total, err
}

// MemAllocHost calls the driver and records the call.
func (d *Driver) MemAllocHost(n uint64) (p unsafe.Pointer, err error) {
	err = d.note("MemAllocHost", fmt.Sprint(n), 0, false, func() error { p, err = d.Driver.MemAllocHost(n); return err })
	return p, err
}

// MemcpyHtoDAsync calls the driver and records the call.
func (d *Driver) MemcpyHtoDAsync(dst cudadrv.Pointer, src unsafe.Pointer, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyHtoDAsync", fmt.Sprint(n), s, true, func() error { return d.Driver.MemcpyHtoDAsync(dst, src, n, s) })
}

// MemcpyDtoHAsync calls the driver and records the call.
func (d *Driver) MemcpyDtoHAsync(dst unsafe.Pointer, src cudadrv.Pointer, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyDtoHAsync", fmt.Sprint(n), s, true, func() error { return d.Driver.MemcpyDtoHAsync(dst, src, n, s) })
}

// MemcpyDtoDAsync calls the driver and records the call.
func (d *Driver) MemcpyDtoDAsync(dst, src cudadrv.Pointer, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyDtoDAsync", fmt.Sprint(n), s, true, func() error { return d.Driver.MemcpyDtoDAsync(dst, src, n, s) })
}

// MemcpyPeerAsync calls the driver and records the call.
func (d *Driver) MemcpyPeerAsync(dst cudadrv.Pointer, dstContext cudadrv.Context, src cudadrv.Pointer, srcContext cudadrv.Context, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyPeerAsync", fmt.Sprint(n), s, true, func() error {
		return d.Driver.MemcpyPeerAsync(dst, dstContext, src, srcContext, n, s)
	})
}

// Memcpy2DAsync calls the driver and records the call.
func (d *Driver) Memcpy2DAsync(c cudadrv.Memcpy2D, s cudadrv.Stream) error {
	return d.note("Memcpy2DAsync", fmt.Sprint(c.Width*c.Rows), s, true, func() error { return d.Driver.Memcpy2DAsync(c, s) })
}

// MemsetD8Async calls the driver and records the call.
func (d *Driver) MemsetD8Async(dst cudadrv.Pointer, v byte, n uint64, s cudadrv.Stream) error {
	return d.note("MemsetD8Async", fmt.Sprint(n), s, true, func() error { return d.Driver.MemsetD8Async(dst, v, n, s) })
}

// StreamCreate calls the driver and records the call.
func (d *Driver) StreamCreate(priority int) (s cudadrv.Stream, err error) {
	err = d.note("StreamCreate", "", 0, false, func() error { s, err = d.Driver.StreamCreate(priority); return err })
	return s, err
}

// StreamDestroy calls the driver and records the call.
func (d *Driver) StreamDestroy(s cudadrv.Stream) error {
	return d.note("StreamDestroy", "", s, false, func() error { return d.Driver.StreamDestroy(s) })
}

// StreamSynchronize calls the driver and records the call.
func (d *Driver) StreamSynchronize(s cudadrv.Stream) error {
	return d.note("StreamSynchronize", "", s, false, func() error { return d.Driver.StreamSynchronize(s) })
}

// StreamWaitEvent calls the driver and records the call.
func (d *Driver) StreamWaitEvent(s cudadrv.Stream, e cudadrv.Event) error {
	return d.note("StreamWaitEvent", "", s, false, func() error { return d.Driver.StreamWaitEvent(s, e) })
}

// EventCreate calls the driver and records the call.
func (d *Driver) EventCreate() (e cudadrv.Event, err error) {
	err = d.note("EventCreate", "", 0, false, func() error { e, err = d.Driver.EventCreate(); return err })
	return e, err
}

// EventRecord calls the driver and records the call.
func (d *Driver) EventRecord(e cudadrv.Event, s cudadrv.Stream) error {
	d.mu.Lock()
	if d.recorded == nil {
		d.recorded = map[cudadrv.Event]int{}
	}
	d.recorded[e] = d.begun
	d.mu.Unlock()
	return d.note("EventRecord", "", s, false, func() error { return d.Driver.EventRecord(e, s) })
}

// EventSynchronize calls the driver and records the call.
func (d *Driver) EventSynchronize(e cudadrv.Event) error {
	d.mu.Lock()
	behind := d.begun - d.recorded[e]
	d.mu.Unlock()
	return d.noteCall(Call{Name: "EventSynchronize", Behind: behind}, false, func() error { return d.Driver.EventSynchronize(e) })
}

// ModuleLoadData calls the driver and records the call.
func (d *Driver) ModuleLoadData(ptx []byte) (m cudadrv.Module, err error) {
	err = d.note("ModuleLoadData", fmt.Sprint(len(ptx)), 0, false, func() error { m, err = d.Driver.ModuleLoadData(ptx); return err })
	return m, err
}

// ModuleGetFunction calls the driver and records the call.
func (d *Driver) ModuleGetFunction(m cudadrv.Module, name string) (f cudadrv.Function, err error) {
	if err = d.note("ModuleGetFunction", name, 0, false, func() error { f, err = d.Driver.ModuleGetFunction(m, name); return err }); err != nil {
		return f, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names == nil {
		d.names = map[cudadrv.Function]string{}
	}
	d.names[f] = name
	return f, nil
}

// FuncSetAttribute calls the driver and records the call.
func (d *Driver) FuncSetAttribute(f cudadrv.Function, a cudadrv.FunctionAttribute, value int) error {
	return d.note("FuncSetAttribute", d.names[f], 0, false, func() error { return d.Driver.FuncSetAttribute(f, a, value) })
}

// LaunchKernel calls the driver and records the call.
func (d *Driver) LaunchKernel(f cudadrv.Function, grid, block cudadrv.Dim, shared uint32, s cudadrv.Stream, params []unsafe.Pointer) error {
	what := fmt.Sprintf("%s %dx%dx%d", d.names[f], grid.X, grid.Y, grid.Z)
	return d.note("LaunchKernel", what, s, true, func() error { return d.Driver.LaunchKernel(f, grid, block, shared, s, params) })
}
