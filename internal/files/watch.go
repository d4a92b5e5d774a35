package files

import (
	"context"
	"errors"
	"os"
	"time"
)

// errChanged is the error for a file that was changed while it was read.
var errChanged = errors.New("the file was changed while it was read")

// A Watch detects changes of a regular file while it is read.
type Watch struct {
	file   *os.File
	shown  string
	before stamp
}

// settledSize is the size, in bytes, from which on NewWatch waits after a recent change.
const settledSize = 1 << 16

// NewWatch begins to watch f; errors contain name. After a recent change of a large file it waits
// until the clock of the file system has advanced, so that another change gets a different time. It
// returns nil for files that are not regular.
func NewWatch(ctx context.Context, f *os.File, name string) (*Watch, error) {
	i, err := f.Stat()
	if err != nil || !i.Mode().IsRegular() {
		return nil, err
	}
	if i.Size() >= settledSize {
		if err := settle(ctx, i.ModTime()); err != nil {
			return nil, err
		}
	}
	w := &Watch{file: f, shown: name}
	w.before, err = stampOf(f)
	return w, err
}

// Size returns the size of the file, in bytes, when NewWatch was called.
func (w *Watch) Size() int64 { return w.before.size }

// Check returns an error if the file has changed. A nil *Watch has none.
func (w *Watch) Check() error {
	if w == nil {
		return nil
	}
	after, err := stampOf(w.file)
	if err == nil && !w.before.same(after) {
		err = errChanged
	}
	return Named(Shown(w.shown), err)
}

// stamp is the system's record of a file's content.
type stamp struct {
	size     int64
	modified time.Time
	inode    inode
}

func stampOf(f *os.File) (stamp, error) {
	i, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stamp{i.Size(), i.ModTime(), inodeOf(i)}, nil
}

func (s stamp) same(t stamp) bool {
	return s.size == t.size && s.modified.Equal(t.modified) && s.inode.same(t.inode)
}

// Grains of the times of files: ticks of a kernel last up to 10 ms, and file systems whose times
// are whole seconds count up to two at a time.
const tickGrain, secondGrain = 20 * time.Millisecond, 2 * time.Second

// settle waits until a change of a file that was changed at a time is noted as a later one.
func settle(ctx context.Context, changed time.Time) error {
	grain := tickGrain
	if changed.Nanosecond() == 0 {
		grain = secondGrain
	}
	age := time.Since(changed)
	if age < 0 || age >= grain {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(grain - age):
		return nil
	}
}
