package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"
)

// ErrLeft is wrapped by errors of operations on a communicator that a process has left.
var ErrLeft = errors.New("a process has left the communicator")

// leftTag is the tag of the message that a leaving process sends. It is probed but never received.
const leftTag = 32767

// parting bounds the time for which a leaving process waits until its messages are sent. A message
// that the library could not send at once is sent during later calls, and this may be the last one.
const parting = 2 * time.Second

// Leave declares that this process takes part in no more operations on c, for example because its
// context ended during one. Operations on which other processes wait then fail, and so do all later
// operations of this process and of the others. Their errors wrap ErrLeft. Calls after the first do
// nothing.
func (c *Comm) Leave() (err error) {
	if c.left.Swap(true) {
		return nil
	}
	var open []*request
	for p := range c.size {
		if p == c.rank {
			continue
		}
		r := &request{buffers: [2][]byte{{0}}}
		abandoned.keep(r)
		if e := c.lib.do(c.lib.send, address(r.buffers[0]), 1, typeByte, uintptr(p), leftTag, c.handle, uintptr(unsafe.Pointer(&r.handle))); e != nil {
			err = errors.Join(err, e)
		} else {
			open = append(open, r)
		}
	}
	for begun := time.Now(); time.Since(begun) < parting; time.Sleep(pause) {
		open = slices.DeleteFunc(open, func(r *request) bool {
			e := c.test(r)
			err = errors.Join(err, e)
			return e != nil || r.flag != 0
		})
		if len(open) == 0 {
			break
		}
	}
	return err
}

// Left waits until another process has left c, and then returns an error that wraps ErrLeft. If ctx
// ends first, it returns the error of ctx. Left may run at the same time as operations on c.
func (c *Comm) Left(ctx context.Context) error {
	const pause = 10 * time.Millisecond
	for {
		if err := c.stays(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// grace is the time that stays waits for the context of this process to end after another process
// has left. Contexts often end in all processes at about the same time, for example by a signal,
// and their errors say more than ErrLeft.
const grace = 100 * time.Millisecond

// stays returns an error if a process has left c.
func (c *Comm) stays(ctx context.Context) error {
	if c.left.Load() {
		return ErrLeft
	}
	source, flag, st := anySource, new(int32), new(status)
	err := c.lib.do(c.lib.probe, uintptr(source), leftTag, c.handle, uintptr(unsafe.Pointer(flag)), uintptr(unsafe.Pointer(st)))
	if err != nil || *flag == 0 {
		return err
	}
	c.left.Store(true)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(grace):
	}
	return fmt.Errorf("process %d: %w", st.source, ErrLeft)
}
