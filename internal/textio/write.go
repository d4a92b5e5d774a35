package textio

import (
	"bufio"
	"context"
	"io"

	"github.com/halfulp/halfulp/internal/par"
)

// Write writes blocks of text in order. fill appends block i to dst; it is called
// on up to threads goroutines, while earlier blocks are written. progress, if not
// nil, is called with the share written.
func Write(ctx context.Context, w io.Writer, threads, blocks int, fill func(dst []byte, i int) []byte, progress func(float64)) error {
	batch := 4 * max(min(threads, blocks), 1)
	var buffers [2][][]byte
	for k := range buffers {
		buffers[k] = make([][]byte, batch)
	}
	written := make(chan error, 1)
	written <- nil
	for start, k := 0, 0; start < blocks; start, k = start+batch, 1-k {
		n := min(batch, blocks-start)
		b := buffers[k]
		err := par.For(ctx, threads, n, func(_, i int) { b[i] = fill(b[i][:0], start+i) })
		if e := <-written; e != nil {
			return e
		}
		if err != nil {
			return err
		}
		go func() { written <- writeAll(w, b[:n]) }()
		if progress != nil {
			progress(float64(start) / float64(blocks))
		}
	}
	if err := <-written; err != nil {
		return err
	}
	if progress != nil {
		progress(1)
	}
	return nil
}

func writeAll(w io.Writer, blocks [][]byte) error {
	if b, ok := w.(*bufio.Writer); ok { // blocks pass an empty one without being copied
		if err := b.Flush(); err != nil {
			return err
		}
	}
	for _, b := range blocks {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
