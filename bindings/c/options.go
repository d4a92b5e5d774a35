package main

// #include "library.h"
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp"
)

// options is the object of a handle of options.
type options struct {
	mu         sync.Mutex
	options    halfulp.Options
	statistics bool           // whether calls keep them
	last       *halfulp.Stats // of the call that ended last
	cancel     *int32
	progress   C.halfulp_progress
	argument   unsafe.Pointer
	interval   time.Duration
}

func newOptions() (*options, error) { return &options{}, nil }

// set sets an option by its name.
func (o *options) set(name, value string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	number := func(least int64) (int64, error) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < least {
			return 0, misuse("option %s: %q; a whole number of at least %d is needed", name, value, least)
		}
		return n, nil
	}
	var n int64
	var err error
	switch name {
	case "device":
		d := halfulp.Device(value)
		if err = d.Validate(); err == nil {
			o.options.Device = d
		}
	case "method":
		p := o.options
		p.Method, p.Device = halfulp.Method(value), halfulp.CPU
		if err = p.Validate(); err == nil {
			o.options.Method = halfulp.Method(value)
		}
	case "threads":
		if n, err = number(0); err == nil {
			o.options.Threads = int(min(n, math.MaxInt32))
		}
	case "memory":
		if n, err = number(0); err == nil {
			o.options.MemoryLimit = n
		}
	case "check":
		if n, err = number(0); err == nil {
			o.options.Check = n != 0
		}
	case "statistics":
		if n, err = number(0); err == nil {
			o.statistics = n != 0
		}
	default:
		err = misuse("there is no option %q; there are device, method, threads, memory, check and statistics", name)
	}
	return err
}

// setCancel sets the flag that cancels calls when it is not 0; nil removes it.
func (o *options) setCancel(flag *C.int32_t) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancel = (*int32)(unsafe.Pointer(flag))
	return nil
}

// setProgress sets a function that is called while a routine runs, every so many milliseconds, with
// the share of the work done; nil removes it. A result other than 0 cancels the routine.
func (o *options) setProgress(f C.halfulp_progress, argument unsafe.Pointer, milliseconds int) error {
	if milliseconds <= 0 {
		return misuse("argument interval_ms: %d; at least 1 is needed", milliseconds)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.progress, o.argument, o.interval = f, argument, time.Duration(milliseconds)*time.Millisecond
	return nil
}

// text returns the statistics of the call that ended last, as JSON.
func (o *options) text() (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		return "", misuse("there are no statistics: set the option statistics to 1 before a call")
	}
	b, err := json.Marshal(o.last)
	return string(b), err
}

// keep stores the statistics of a call for text.
func (o *options) keep(st *halfulp.Stats) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = st
}

// poll is the interval at which the cancel flag is checked.
const poll = 2 * time.Millisecond

// run runs a routine with options. If the options have a progress function, the routine runs on
// another thread, so that the progress function is called on the caller's thread, which C code may
// rely on.
func (k *call) run(o *options, routine func(opt *halfulp.Options) error) {
	if o == nil {
		k.err = routine(nil)
		return
	}
	o.mu.Lock()
	opt, cancel, progress, argument, interval := o.options, o.cancel, o.progress, o.argument, o.interval
	if o.statistics {
		opt.Stats = new(halfulp.Stats)
		defer o.keep(opt.Stats)
	}
	o.mu.Unlock()
	if cancel == nil && progress == nil {
		k.err = routine(&opt)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	opt.Context = ctx
	if cancel != nil {
		if atomic.LoadInt32(cancel) != 0 {
			k.err = context.Canceled
			return
		}
		done := make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			t := time.NewTicker(poll)
			defer t.Stop()
			for {
				select {
				case <-done:
					return
				case <-t.C:
					if atomic.LoadInt32(cancel) != 0 {
						stop()
						return
					}
				}
			}
		}()
		defer func() { // the flag may be gone once the call has returned
			close(done)
			<-ended
		}()
	}
	if progress == nil {
		k.err = routine(&opt)
		return
	}
	var share atomic.Uint64
	opt.Progress = func(done float64) { share.Store(math.Float64bits(done)) }
	result := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = thrown(p)
			}
			result <- err
		}()
		err = routine(&opt)
	}()
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case k.err = <-result:
			return
		case <-t.C:
			if ctx.Err() == nil && C.call_progress(progress, C.double(math.Float64frombits(share.Load())), argument) != 0 {
				stop()
			}
		}
	}
}

// devices returns the devices of this machine as JSON.
func devices() (string, error) {
	type device struct {
		Device       string `json:"device"`
		Model        string `json:"model"`
		Memory       uint64 `json:"memory"`
		Architecture string `json:"architecture"`
		Driver       string `json:"driver"`
	}
	found, err := halfulp.GPUs()
	list := []device{}
	for _, d := range found {
		list = append(list, device{string(d.Device), d.Model, d.Memory, d.Architecture, d.Driver})
	}
	why := ""
	if err != nil {
		why = fmt.Sprint(err)
	}
	b, err := json.Marshal(struct {
		GPUs []device `json:"gpus"`
		Why  string   `json:"error,omitempty"`
	}{list, why})
	return string(b), err
}
