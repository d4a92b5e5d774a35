package rnsgpu

import (
	"context"
	"fmt"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// A Queue runs the operations of one run on the device, on the device's thread. Launches finish in
// their order. Each launch first checks whether the run's context is cancelled.
type Queue struct {
	*Base
	s           *cuda.Stream
	limit, used int64 // bytes of temporaries: the most allowed (0: no limit) and the current number
	kept        []interface{ Free() }
}

// Queue returns a queue for use on the device's thread; done frees what it still holds.
func (b *Base) Queue(s *cuda.Stream, limit int64) (q *Queue, done func()) {
	q = &Queue{Base: b, s: s, limit: limit}
	return q, func() {
		for _, a := range q.kept {
			a.Free()
		}
	}
}

// Run implements place.RNSBase.
func (b *Base) Run(ctx context.Context, limit int64, f func(q place.RNSQueue) error) error {
	return backend.Do(ctx, b.at, func(s *cuda.Stream) error {
		q, done := b.Queue(s, limit)
		defer done()
		if err := f(q); err != nil {
			return err
		}
		return s.Synchronize()
	})
}

// Model implements place.RNSBase.
func (b *Base) Model() string { return backend.Device(b.at).Info().Name }

// New implements place.RNSBase.
func (b *Base) New(ctx context.Context, n int) (num.Storage, error) {
	var a *Array
	err := backend.Do(ctx, b.at, func(s *cuda.Stream) (err error) {
		if a, err = b.newArray(s, n); err != nil {
			return err
		}
		if err = b.zero(s, a); err != nil {
			a.Free()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// newArray returns a temporary of n numbers with unspecified values; free frees it.
func (q *Queue) newArray(n int) (*Array, error) {
	if err := q.room(q.bytes()*int64(n), n); err != nil {
		return nil, err
	}
	a, err := q.Base.newArray(q.s, n)
	if err == nil {
		q.used += q.bytes() * int64(n)
	}
	return a, err
}

// room returns place.ErrMemory if size more bytes, for n numbers, would exceed the limit.
func (q *Queue) room(size int64, n int) error {
	if q.limit > 0 && size > q.limit-q.used {
		return fmt.Errorf("%v: %w: %d bytes of %d allowed for %d numbers", q.at, place.ErrMemory, q.limit-q.used, q.limit, n)
	}
	return nil
}

func (q *Queue) free(a *Array) {
	q.used -= q.bytes() * int64(a.n)
	a.Free()
}

// New implements place.RNSQueue.
func (q *Queue) New(n int) (num.Storage, error) {
	a, err := q.newArray(n)
	if err != nil {
		return nil, err
	}
	q.kept = append(q.kept, a)
	return a, nil
}

// Load implements place.RNSQueue.
func (q *Queue) Load(n int, digits []uint32, head func(i int) place.RNSHead) (num.Storage, error) {
	a, err := q.Base.newArray(q.s, n)
	if err != nil {
		return nil, err
	}
	q.kept = append(q.kept, a)
	return a, q.set(q.s, a, 0, n, digits, head)
}

// dense reports whether the numbers of a view are contiguous, column by column.
func dense(v place.RNSView, rows, cols int) bool {
	return (rows <= 1 || v.RS == 1) && (cols <= 1 || v.CS == rows)
}

// Set implements place.RNSQueue.
func (q *Queue) Set(z place.RNSView, rows, cols int, digits []uint32, head func(i int) place.RNSHead) error {
	if dense(z, rows, cols) {
		return q.set(q.s, z.Array.(*Array), z.Off, rows*cols, digits, head)
	}
	a, err := q.Base.newArray(q.s, rows*cols)
	if err != nil {
		return err
	}
	defer a.Free()
	if err := q.set(q.s, a, 0, rows*cols, digits, head); err != nil {
		return err
	}
	return q.copy(rows, cols, place.RNSView{Array: a, RS: 1, CS: rows}, z)
}

// Get implements place.RNSQueue.
func (q *Queue) Get(x place.RNSView, rows, cols int, digits []uint32, put func(i int, h place.RNSHead)) error {
	if dense(x, rows, cols) {
		return q.get(q.s, x.Array.(*Array), x.Off, rows*cols, digits, put)
	}
	a, err := q.Base.newArray(q.s, rows*cols)
	if err != nil {
		return err
	}
	defer a.Free()
	if err := q.copy(rows, cols, x, place.RNSView{Array: a, RS: 1, CS: rows}); err != nil {
		return err
	}
	return q.get(q.s, a, 0, rows*cols, digits, put)
}

// copy sets z = x. It computes 0 + x, which has the bits of x.
func (q *Queue) copy(rows, cols int, x, z place.RNSView) error {
	var none place.RNSView
	return q.Map(rows, cols, x, none, none, none, z, false)
}
