// Package gridfiles reads and writes the files of matrices that live on a grid of processes: each
// process reads and writes a part of the file, the same number of entries or bytes as the others,
// and no process has all of the matrix. What a process reads goes to those that have the entries,
// round by round, so that little more memory is taken than for the matrix.
//
// Parts are .npy files, .npz files that are not compressed, and arrays of Matrix Market. All other
// files the first process reads and writes alone.
package gridfiles

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/mpi"
)

// roundSize is how many bytes a process reads and gives away at a time.
const roundSize = 1 << 22

// A team is processes that read or write a file together.
type team struct {
	grid.Transport
	ctx   context.Context
	round int // roundSize, less in tests
}

// first reports whether this process is the one that does what one alone can.
func (t team) first() bool { return t.Rank() == 0 }

// kinds are errors that stay what they are in other processes.
var kinds = []error{nil, context.Canceled, context.DeadlineExceeded, fs.ErrNotExist, fs.ErrPermission, halfulp.ErrMemory}

// told is an error of another process.
type told struct {
	text string
	kind error
}

func (e *told) Error() string { return e.text }
func (e *told) Unwrap() error { return e.kind }

// maxText is how long a message between processes is at most.
const maxText = 4096

// agree returns the error of the first process that has one in all of them.
func (t team) agree(err error) error {
	failed := []int64{0}
	if err != nil {
		failed[0] = int64(t.Size() - t.Rank())
	}
	if e := t.Allreduce(t.ctx, mpi.Max, failed); e != nil {
		return errors.Join(err, e)
	}
	if failed[0] == 0 {
		return nil
	}
	first := t.Size() - int(failed[0])
	message := make([]byte, maxText+8)
	if t.Rank() == first {
		text := err.Error()
		text = text[:min(len(text), maxText)]
		for k := range kinds[1:] {
			if errors.Is(err, kinds[1+k]) {
				message[4] = byte(1 + k)
			}
		}
		binary.LittleEndian.PutUint32(message, uint32(len(text)))
		copy(message[8:], text)
	}
	if e := t.Bcast(t.ctx, message, first); e != nil {
		return errors.Join(err, e)
	}
	if t.Rank() == first {
		return err
	}
	return &told{string(message[8:][:binary.LittleEndian.Uint32(message)]), kinds[message[4]]}
}

// agreeWhere is agree for errors about what processes find where they are: it names the process if
// others have no error.
func (t team) agreeWhere(err error) error {
	failed := []int64{0}
	if err != nil {
		failed[0] = 1
	}
	if e := t.Allreduce(t.ctx, mpi.Sum, failed); e != nil {
		return errors.Join(err, e)
	}
	if err != nil && int(failed[0]) < t.Size() {
		err = fmt.Errorf("process %d: %w", t.Rank(), err)
	}
	return t.agree(err)
}

// any reports whether a process says so.
func (t team) any(x bool) (bool, error) {
	some := []int64{0}
	if x {
		some[0] = 1
	}
	err := t.Allreduce(t.ctx, mpi.Max, some)
	return some[0] > 0, err
}

// other returns the first process that has something else than the first one, 0 if none does.
func (t team) other(what ...any) (int, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%#v", what)
	mine := make([]byte, 8)
	binary.LittleEndian.PutUint64(mine, h.Sum64())
	all := make([]byte, 8*t.Size())
	if err := t.Allgather(t.ctx, mine, all, t.counts(8)); err != nil {
		return 0, err
	}
	for p := range t.Size() {
		if string(all[8*p:8*p+8]) != string(all[:8]) {
			return p, nil
		}
	}
	return 0, nil
}

// counts are the lengths of messages of n bytes from each process.
func (t team) counts(n int) []int {
	list := make([]int, t.Size())
	for p := range list {
		list[p] = n
	}
	return list
}

// together returns the shares that all processes have in sums, in each of them: exclusive or.
func (t team) together(shares []uint32) ([]uint32, error) {
	size := 4 * len(shares)
	mine, all := make([]byte, 0, size), make([]byte, size*t.Size())
	for _, x := range shares {
		mine = binary.LittleEndian.AppendUint32(mine, x)
	}
	if err := t.Allgather(t.ctx, mine, all, t.counts(size)); err != nil {
		return nil, err
	}
	sums := make([]uint32, len(shares))
	for k := range len(all) / 4 {
		sums[k%len(sums)] ^= binary.LittleEndian.Uint32(all[4*k:])
	}
	return sums, nil
}

// ranges calls f for the entries of an order in rounds, with those that each process has in turn,
// and with room for this one's.
func (t team) ranges(o grid.Order, f num.Format, each func(all []grid.Range, mine *num.Array) error) error {
	n, most := o.Len(), max(1, t.round/int(num.SizeOf(f)))
	var room *num.Array
	for at := 0; at < n; {
		all := make([]grid.Range, t.Size())
		share := min(most, (n-at+t.Size()-1)/t.Size()) // even where there is little
		for p := range all {
			end := min(at+share, n)
			all[p] = grid.Range{Lo: at, Hi: end}
			at = end
		}
		if room == nil {
			room = num.New(f, share)
		}
		if err := each(all, room.Slice(0, all[t.Rank()].Len())); err != nil {
			return err
		}
	}
	return nil
}

// owned calls f for the entries of an order in rounds, all of which the first process has.
func (t team) owned(o grid.Order, f num.Format, each func(all []grid.Range) error) error {
	n, most := o.Len(), max(1, t.round/int(num.SizeOf(f)))
	for at := 0; at < n; at += most {
		all := make([]grid.Range, t.Size())
		all[0] = grid.Range{Lo: at, Hi: min(at+most, n)}
		if err := each(all); err != nil {
			return err
		}
	}
	return nil
}
