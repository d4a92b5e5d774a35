package gridfiles

import (
	"bytes"
	"io"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
	"github.com/halfulp/halfulp/mpi"
)

// market reads an array file of Matrix Market in rounds. In each round every process takes a range
// of bytes, in the order of ranks, and reads the lines that begin there. The numbers of entries
// that the processes before it read determine the places of its entries.
func (r *reading) market() (*halfulp.Matrix, error) {
	a, err := matrixmarket.OpenParts(r.head, r.size, r.name, &matrixmarket.Options{In: r.opt.In, Threads: r.opt.Threads, Context: r.ctx})
	if err := r.agreeWhole(err); err != nil {
		return nil, err
	}
	passes := 0
	var extent decimal.Extent
	if a.Scanned() {
		err := r.rounds(a, func(t *matrixmarket.Text, _ []grid.Range, done float64) error {
			r.progress(done / 2)
			return r.agree(a.Scan(t, &extent))
		})
		if err != nil {
			return nil, err
		}
		all := extent.Values()
		if err := r.Allreduce(r.ctx, mpi.Max, all); err != nil {
			return nil, err
		}
		extent = decimal.ExtentOf(all)
		passes = 1
	}
	f, err := a.Choose(extent)
	if err := r.agree(err); err != nil {
		return nil, err
	}
	e, m, err := r.newMatrix(f, a.Rows(), a.Cols())
	if err != nil {
		return nil, err
	}
	o := grid.Order{Rows: a.Rows(), Cols: a.Cols(), Below: a.Below()}
	var room, negatives *num.Array
	var lost textio.Stats
	err = r.rounds(a, func(t *matrixmarket.Text, all []grid.Range, done float64) error {
		r.progress((float64(passes) + done) / float64(passes+1))
		if room == nil || room.Len() < t.Entries {
			room = num.New(f, t.Entries)
			if a.Skew() {
				negatives = num.New(f, t.Entries)
			}
		}
		mine := room.Slice(0, t.Entries)
		mirrored, negated := mine, (*num.Array)(nil)
		if a.Skew() {
			negated = negatives.Slice(0, t.Entries)
			mirrored = negated
		}
		stats, err := a.Read(t, mine, negated)
		if err := r.agree(err); err != nil {
			return err
		}
		lost.Add(stats)
		if err := e.Put(r.ctx, o, all, mine); err != nil || o.Below == 0 {
			return err
		}
		other := o
		other.Mirrored = true
		return e.Put(r.ctx, other, all, mirrored)
	})
	if err != nil {
		return nil, err
	}
	if r.opt.Info != nil {
		*r.opt.Info = matfile.Info{Kind: matfile.MatrixMarket}
	}
	digits, bits := a.Measure()
	return m, r.lost(halfulp.InputStats{
		ToInf: halfulp.Losses(lost.ToInf), ToZero: halfulp.Losses(lost.ToZero), Digits: digits, Bits: bits, Unended: r.unended,
	})
}

// rounds calls f in each round with the text that this process reads, and with the ranges of
// entries that all processes read. At the end it checks the number of entries.
func (r *reading) rounds(a *matrixmarket.Parts, f func(t *matrixmarket.Text, all []grid.Range, done float64) error) error {
	line, entries, last := a.Line(), 0, 0
	procs := int64(r.Size())
	for at := a.Begin(); at < r.size; {
		share := min(int64(r.round), (r.size-at+procs-1)/procs)
		from := at + int64(r.Rank())*share
		at += procs * share
		text, err := r.lines(a.Begin(), min(from, r.size), min(from+share, r.size))
		if err := r.agreeWhole(err); err != nil {
			return err
		}
		t := a.Count(text)
		const kinds = 3
		about := make([]int64, kinds*r.Size()) // of each process: entries, lines, the last line
		copy(about[kinds*r.Rank():], []int64{int64(t.Entries), int64(t.Lines), int64(t.Last)})
		if err := r.Allreduce(r.ctx, mpi.Sum, about); err != nil {
			return err
		}
		all := make([]grid.Range, r.Size())
		for p := range all {
			own := about[kinds*p:]
			if p == r.Rank() {
				t.Shift(line)
			}
			if own[2] > 0 {
				last = line + int(own[2]) - 1
			}
			all[p] = grid.Range{Lo: entries, Hi: entries + int(own[0])}
			entries += int(own[0])
			line += int(own[1])
		}
		if want, me := a.Entries(), all[r.Rank()]; entries > want {
			if a.Below() > 0 {
				return textio.ErrWhole // the error of a whole read says how many there are
			}
			if me.Lo <= want && want < me.Hi {
				err = a.TooMany(t, want-me.Lo)
			}
			return r.agree(err)
		}
		if err := f(t, all, float64(min(at, r.size))/float64(r.size)); err != nil {
			return err
		}
	}
	if entries < a.Entries() {
		return a.Truncated(last, entries)
	}
	r.unended = 0
	if !r.ended {
		r.unended = last
	}
	return nil
}

// lines returns the lines that begin at bytes from ≤ i < to of the file, where the first line
// begins at begin. The error is textio.ErrWhole for lines that are too long.
func (r *reading) lines(begin, from, to int64) ([]byte, error) {
	if from >= to {
		return nil, nil
	}
	at := from
	if from > begin {
		at-- // this byte may end the line before
	}
	text, err := r.bytes(nil, at, to-at)
	if err != nil {
		return nil, err
	}
	start := 0
	if from > begin {
		if start = bytes.IndexByte(text[:len(text)-1], '\n') + 1; start == 0 {
			return nil, nil
		}
	}
	const step = 1 << 12
	for end := len(text); text[len(text)-1] != '\n' && to < r.size; to += step {
		if len(text)-end > r.round {
			return nil, textio.ErrWhole
		}
		if text, err = r.bytes(text, to, min(step, r.size-to)); err != nil {
			return nil, err
		}
		if k := bytes.IndexByte(text[len(text)-int(min(step, r.size-to)):], '\n'); k >= 0 {
			text = text[:len(text)-int(min(step, r.size-to))+k+1]
		}
	}
	return text[start:], nil
}

// bytes appends n bytes of the file, from byte at on, to b.
func (r *reading) bytes(b []byte, at, n int64) ([]byte, error) {
	k := len(b)
	b = append(b, make([]byte, n)...)
	if got, err := r.file.ReadAt(b[k:], at); got < len(b)-k {
		return nil, shorter(err)
	}
	return b, nil
}

// market writes an array file of Matrix Market in rounds. The lengths of the texts in a round
// determine where each process writes, and where the next round begins.
func (w *writing) market(to io.WriterAt) error {
	head := matrixmarket.Head(w.format, w.order.Rows, w.order.Cols)
	at := int64(len(head))
	var err error
	if w.first() {
		_, err = to.WriteAt(head, 0)
	}
	if err := w.agree(w.named(err)); err != nil {
		return err
	}
	return w.ranges(w.order, w.format, func(all []grid.Range, mine *num.Array) error {
		if err := w.entries.Get(w.ctx, w.order, all, mine); err != nil {
			return err
		}
		w.progress(all)
		texts, length, err := w.texts(mine)
		if err := w.agree(err); err != nil {
			return err
		}
		lengths := make([]int64, w.Size())
		lengths[w.Rank()] = length
		if err := w.Allreduce(w.ctx, mpi.Sum, lengths); err != nil {
			return err
		}
		place := at
		for p, n := range lengths {
			if p < w.Rank() {
				place += n
			}
			at += n
		}
		for _, text := range texts {
			if _, e := to.WriteAt(text, place); e != nil && err == nil {
				err = e
			}
			place += int64(len(text))
		}
		return w.agree(w.named(err))
	})
}

// texts returns the lines of the numbers of a, in parts, and their total length.
func (w *writing) texts(a *num.Array) (texts [][]byte, length int64, err error) {
	n := a.Len()
	size := max(1, 1<<20/max(64, a.Bits()))
	texts = make([][]byte, (n+size-1)/size)
	column := num.Mat{Arr: a, RS: 1, CS: max(n, 1), Rows: n, Cols: 1}
	err = par.For(w.ctx, w.opt.Threads, len(texts), func(_, i int) {
		texts[i] = matrixmarket.AppendEntries(nil, column, i*size, min(n, (i+1)*size), w.opt.Digits)
	})
	for _, text := range texts {
		length += int64(len(text))
	}
	return texts, length, err
}
