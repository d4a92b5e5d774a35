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

// leftTag is the tag of the message that a process leaves, which nobody receives.
const leftTag = 32767

// parting is how long a process that leaves sees to it that its messages go: where the library
// could not send them at once it does so while it is called, which may be for the last time.
const parting = 2 * time.Second

// Leave says that this process takes no part in operations on c any more, as one whose context has
// ended in the midst of them. Operations of the others that wait fail then, and all later ones of
// this process and of those, with errors that wrap ErrLeft. Calls after the first do nothing.
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

// Left waits until another process has left c, and returns an error that wraps ErrLeft then, or
// that of ctx if it ends before. It may run beside operations on c.
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

// grace is how long the context of a process may end after that of another one: contexts often end
// in all processes at about the same time, by a signal, say, and say more than ErrLeft.
const grace = 100 * time.Millisecond

// stays returns an error if a process has left.
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
