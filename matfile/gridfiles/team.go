// Package gridfiles reads and writes files of matrices that live on a grid of processes. Each
// process reads and writes a part of the file, with as many entries or bytes as the others, and no
// process holds the whole matrix. A process reads in rounds and sends the entries of a round to the
// processes that keep them, so reading takes little more memory than the matrix.
//
// Files read and written in parts are .npy files, .npz files that are not compressed, and arrays of
// Matrix Market. The first process reads and writes all other files alone.
package gridfiles

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"runtime"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/mpi"
)

// roundSize is the number of bytes that a process reads and sends in one round.
const roundSize = 1 << 22

// A team is the processes that read or write a file together.
type team struct {
	grid.Transport
	ctx   context.Context
	round int // roundSize, less in tests
}

// first reports whether this process is process 0, which does the work that one process does alone.
func (t team) first() bool { return t.Rank() == 0 }

// kinds are the errors that errors.Is also finds in the other processes.
var kinds = []error{nil, context.Canceled, context.DeadlineExceeded, fs.ErrNotExist, fs.ErrPermission, halfulp.ErrMemory}

// told is an error that another process reported.
type told struct {
	text string
	kind error
}

func (e *told) Error() string { return e.text }
func (e *told) Unwrap() error { return e.kind }

// maxText bounds the length of a message between processes, in bytes.
const maxText = 4096

// agree returns the same error in all processes: the error of the first process that has one.
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

// agreeWhere is agree for errors that depend on where a process runs: the error names the process
// unless all processes have errors.
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

// any reports whether x is true in at least one process.
func (t team) any(x bool) (bool, error) {
	some := []int64{0}
	if x {
		some[0] = 1
	}
	err := t.Allreduce(t.ctx, mpi.Max, some)
	return some[0] > 0, err
}

// others returns the processes whose values differ from the values of process 0.
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

// same returns an error in all processes if the values of some differ from the values of process 0.
// The error says that they have another file called name.
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

// Agree returns an error in all processes if at least one process passes an error: the error of the
// first such process, with its number unless all processes pass errors.
func Agree(ctx context.Context, to grid.Transport, err error) error {
	return team{Transport: to, ctx: ctx}.agreeWhere(err)
}

// Same returns an error in all processes if the values of some differ from the values of process 0.
// The error has the name of the file and the numbers of these processes. Same compares hashes of
// the values as %#v prints them.
func Same(ctx context.Context, to grid.Transport, name string, what ...any) error {
	return team{Transport: to, ctx: ctx}.same(name, what...)
}

// Decide returns nil in all processes, or an error in all of them. A process calls it when its part
// of the result is complete, with its error or nil. The result is also an error if the context of a
// process ends before all processes have called it. Then each process calls settle; afterwards the
// end of its context has no effect. A process whose settle fails has to leave the others.
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

// counts returns the lengths of messages of n bytes from each process.
func (t team) counts(n int) []int {
	list := make([]int, t.Size())
	for p := range list {
		list[p] = n
	}
	return list
}

// together returns, in every process, the exclusive or of the shares of all processes, element by
// element.
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

// ranges calls each, in rounds, for all entries of order o. all are the ranges of the processes in
// this round, and mine has room for the range of this process.
func (t team) ranges(o grid.Order, f num.Format, each func(all []grid.Range, mine *num.Array) error) error {
	n, most := o.Len(), max(1, t.round/int(num.SizeOf(f)))
	var room *num.Array
	for at := 0; at < n; {
		all := make([]grid.Range, t.Size())
		share := min(most, (n-at+t.Size()-1)/t.Size()) // equal shares in the last round too
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

// owned calls each, in rounds, for all entries of order o, with all entries of a round in process
// 0.
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

// filled returns the options with defaults for the fields that this package uses.
func filled(opt *matfile.Options) (o matfile.Options) {
	if opt != nil {
		o = *opt
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.MemoryLimit <= 0 {
		o.MemoryLimit = halfulp.DefaultMemoryLimit()
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	return o
}
