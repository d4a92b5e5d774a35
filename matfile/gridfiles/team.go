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
	"strconv"
	"strings"

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

// others returns the processes that have something else than the first one.
func (t team) others(what ...any) (list []int, err error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%#v", what)
	mine := make([]byte, 8)
	binary.LittleEndian.PutUint64(mine, h.Sum64())
	all := make([]byte, 8*t.Size())
	if err := t.Allgather(t.ctx, mine, all, t.counts(8)); err != nil {
		return nil, err
	}
	for p := range t.Size() {
		if string(all[8*p:8*p+8]) != string(all[:8]) {
			list = append(list, p)
		}
	}
	return list, nil
}

// same returns an error in all processes if some found something else in the file called name than
// the first one did.
func (t team) same(name string, what ...any) error {
	list, err := t.others(what...)
	if err != nil || len(list) == 0 {
		return err
	}
	numbers := make([]string, len(list))
	for i, p := range list {
		numbers[i] = strconv.Itoa(p)
	}
	have := "process " + numbers[0] + " has"
	if n := len(list) - 1; n > 0 {
		have = "processes " + strings.Join(numbers[:n], ", ") + " and " + numbers[n] + " have"
	}
	return fmt.Errorf("%s: %s another file of this name than process 0", name, have)
}

// Agree returns an error in all processes if one of them calls it with one: the error of the first
// that has one, with its number unless all have errors.
func Agree(ctx context.Context, to grid.Transport, err error) error {
	return team{Transport: to, ctx: ctx}.agreeWhere(err)
}

// Same returns an error in all processes, with the name of the file and the numbers of processes,
// if some call it with other values than the first one. Values are compared by a hash of what %#v
// prints of them.
func Same(ctx context.Context, to grid.Transport, name string, what ...any) error {
	return team{Transport: to, ctx: ctx}.same(name, what...)
}

// Decide returns nil in all processes, or an error in all of them. A process calls it when its part
// of the result is complete, with an error if there is one. The result is an error as well if the
// context of a process ends before all have come so far. Each process calls settle then, after
// which the end of its context comes too late; a process for which settle fails has to leave the
// others.
func Decide(ctx context.Context, to grid.Transport, err error, settle func() error) error {
	t := team{Transport: to, ctx: ctx}
	if err := t.agree(err); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	t.ctx = context.WithoutCancel(ctx)
	_, err = t.any(false)
	return err
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
