// Package trace notes the calls that go through a driver, with what they concern and how long they
// take, for tests and measurements.
package trace

import (
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// A Call is one call of the driver. Calls that neither start nor await anything on a device are not
// noted.
type Call struct {
	Name   string // the driver's, without the prefix cu
	What   string // the kernel that was launched, or the bytes that were asked for or copied
	Stream cudadrv.Stream
	Start  time.Duration // since the trace began
	Took   time.Duration // of the host
	// Of a call that waits: how many launches, copies and fills had begun behind what it waits for.
	Behind int
	// On the device, since the first timed call began; nil where that was not measured.
	Device *Span

	from, to cudadrv.Event
}

// Span is some time.
type Span struct{ From, To time.Duration }

// Answers reports whether the host waits for all that the device has to do, which idles then until
// the host goes on.
func (c Call) Answers() bool {
	return (c.Name == "StreamSynchronize" || c.Name == "EventSynchronize") && c.Behind == 0
}

// Driver is another driver whose calls are noted.
type Driver struct {
	cudadrv.Driver
	// Timed has the device measure launches, copies and fills, by events beside them.
	Timed bool

	mu       sync.Mutex
	began    time.Time
	calls    []Call
	names    map[cudadrv.Function]string
	begun    int                   // launches, copies and fills
	recorded map[cudadrv.Event]int // begun when events were recorded last
}

// Reset forgets the calls so far.
func (d *Driver) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began, d.calls = time.Now(), nil
}

// Calls returns the calls since Reset. Those of a timed driver are over, and the context is
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

// note makes a call, and notes it; work are launches, copies and fills.
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

// MemAlloc is the driver's, noted.
func (d *Driver) MemAlloc(n uint64) (p cudadrv.Pointer, err error) {
	err = d.note("MemAlloc", fmt.Sprint(n), 0, false, func() error { p, err = d.Driver.MemAlloc(n); return err })
	return p, err
}

// MemFree is the driver's, noted.
func (d *Driver) MemFree(p cudadrv.Pointer) error {
	return d.note("MemFree", "", 0, false, func() error { return d.Driver.MemFree(p) })
}

// MemGetInfo is the driver's, noted.
func (d *Driver) MemGetInfo() (free, total uint64, err error) {
	err = d.note("MemGetInfo", "", 0, false, func() error { free, total, err = d.Driver.MemGetInfo(); return err })
	return free, total, err
}

// MemAllocHost is the driver's, noted.
func (d *Driver) MemAllocHost(n uint64) (p unsafe.Pointer, err error) {
	err = d.note("MemAllocHost", fmt.Sprint(n), 0, false, func() error { p, err = d.Driver.MemAllocHost(n); return err })
	return p, err
}

// MemcpyHtoDAsync is the driver's, noted.
func (d *Driver) MemcpyHtoDAsync(dst cudadrv.Pointer, src unsafe.Pointer, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyHtoDAsync", fmt.Sprint(n), s, true, func() error { return d.Driver.MemcpyHtoDAsync(dst, src, n, s) })
}

// MemcpyDtoHAsync is the driver's, noted.
func (d *Driver) MemcpyDtoHAsync(dst unsafe.Pointer, src cudadrv.Pointer, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyDtoHAsync", fmt.Sprint(n), s, true, func() error { return d.Driver.MemcpyDtoHAsync(dst, src, n, s) })
}

// MemcpyDtoDAsync is the driver's, noted.
func (d *Driver) MemcpyDtoDAsync(dst, src cudadrv.Pointer, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyDtoDAsync", fmt.Sprint(n), s, true, func() error { return d.Driver.MemcpyDtoDAsync(dst, src, n, s) })
}

// MemcpyPeerAsync is the driver's, noted.
func (d *Driver) MemcpyPeerAsync(dst cudadrv.Pointer, dstContext cudadrv.Context, src cudadrv.Pointer, srcContext cudadrv.Context, n uint64, s cudadrv.Stream) error {
	return d.note("MemcpyPeerAsync", fmt.Sprint(n), s, true, func() error {
		return d.Driver.MemcpyPeerAsync(dst, dstContext, src, srcContext, n, s)
	})
}

// Memcpy2DAsync is the driver's, noted.
func (d *Driver) Memcpy2DAsync(c cudadrv.Memcpy2D, s cudadrv.Stream) error {
	return d.note("Memcpy2DAsync", fmt.Sprint(c.Width*c.Rows), s, true, func() error { return d.Driver.Memcpy2DAsync(c, s) })
}

// MemsetD8Async is the driver's, noted.
func (d *Driver) MemsetD8Async(dst cudadrv.Pointer, v byte, n uint64, s cudadrv.Stream) error {
	return d.note("MemsetD8Async", fmt.Sprint(n), s, true, func() error { return d.Driver.MemsetD8Async(dst, v, n, s) })
}

// StreamCreate is the driver's, noted.
func (d *Driver) StreamCreate(priority int) (s cudadrv.Stream, err error) {
	err = d.note("StreamCreate", "", 0, false, func() error { s, err = d.Driver.StreamCreate(priority); return err })
	return s, err
}

// StreamDestroy is the driver's, noted.
func (d *Driver) StreamDestroy(s cudadrv.Stream) error {
	return d.note("StreamDestroy", "", s, false, func() error { return d.Driver.StreamDestroy(s) })
}

// StreamSynchronize is the driver's, noted.
func (d *Driver) StreamSynchronize(s cudadrv.Stream) error {
	return d.note("StreamSynchronize", "", s, false, func() error { return d.Driver.StreamSynchronize(s) })
}

// StreamWaitEvent is the driver's, noted.
func (d *Driver) StreamWaitEvent(s cudadrv.Stream, e cudadrv.Event) error {
	return d.note("StreamWaitEvent", "", s, false, func() error { return d.Driver.StreamWaitEvent(s, e) })
}

// EventCreate is the driver's, noted.
func (d *Driver) EventCreate() (e cudadrv.Event, err error) {
	err = d.note("EventCreate", "", 0, false, func() error { e, err = d.Driver.EventCreate(); return err })
	return e, err
}

// EventRecord is the driver's, noted.
func (d *Driver) EventRecord(e cudadrv.Event, s cudadrv.Stream) error {
	d.mu.Lock()
	if d.recorded == nil {
		d.recorded = map[cudadrv.Event]int{}
	}
	d.recorded[e] = d.begun
	d.mu.Unlock()
	return d.note("EventRecord", "", s, false, func() error { return d.Driver.EventRecord(e, s) })
}

// EventSynchronize is the driver's, noted.
func (d *Driver) EventSynchronize(e cudadrv.Event) error {
	d.mu.Lock()
	behind := d.begun - d.recorded[e]
	d.mu.Unlock()
	return d.noteCall(Call{Name: "EventSynchronize", Behind: behind}, false, func() error { return d.Driver.EventSynchronize(e) })
}

// ModuleLoadData is the driver's, noted.
func (d *Driver) ModuleLoadData(ptx []byte) (m cudadrv.Module, err error) {
	err = d.note("ModuleLoadData", fmt.Sprint(len(ptx)), 0, false, func() error { m, err = d.Driver.ModuleLoadData(ptx); return err })
	return m, err
}

// ModuleGetFunction is the driver's, noted.
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

// FuncSetAttribute is the driver's, noted.
func (d *Driver) FuncSetAttribute(f cudadrv.Function, a cudadrv.FunctionAttribute, value int) error {
	return d.note("FuncSetAttribute", d.names[f], 0, false, func() error { return d.Driver.FuncSetAttribute(f, a, value) })
}

// LaunchKernel is the driver's, noted.
func (d *Driver) LaunchKernel(f cudadrv.Function, grid, block cudadrv.Dim, shared uint32, s cudadrv.Stream, params []unsafe.Pointer) error {
	what := fmt.Sprintf("%s %dx%dx%d", d.names[f], grid.X, grid.Y, grid.Z)
	return d.note("LaunchKernel", what, s, true, func() error { return d.Driver.LaunchKernel(f, grid, block, shared, s, params) })
}
