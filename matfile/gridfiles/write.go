package gridfiles

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/internal/npy"
)

// Write writes a matrix that lives on g to the file called name, with the same bytes as
// matfile.Write. All processes must call it, and must find the folder of the file under the
// same name. The file appears under its name when all processes have written their parts, or not at
// all.
func Write(g *grid.Grid, name string, m *halfulp.Matrix, opt *matfile.Options) error {
	return newWriting(g, name, m, opt, roundSize).write()
}

// writing is the state of Write.
type writing struct {
	team
	g       *grid.Grid
	opt     matfile.Options
	name    string // name of the file
	kind    matfile.Kind
	m       *halfulp.Matrix
	format  num.Format
	order   grid.Order
	entries grid.Entries
	through func(io.WriterAt) io.WriterAt // wraps the output file, for tests
}

func newWriting(g *grid.Grid, name string, m *halfulp.Matrix, opt *matfile.Options, round int) *writing {
	o := filled(opt)
	v := m.View()
	w := &writing{
		team: team{g.Transport(), o.Context, round}, g: g, opt: o, name: name, kind: o.Kind, m: m,
		format: v.Arr.Format, order: grid.Order{Rows: v.Rows, Cols: v.Cols},
		through: func(to io.WriterAt) io.WriterAt { return to },
	}
	if w.kind == "" {
		w.kind = matfile.KindOf(name)
	}
	return w
}

func (w *writing) write() error {
	as := w.name
	if w.opt.Kind != "" {
		as = "." + string(w.kind)
	}
	err := w.agree(matfile.CheckName(as, w.m.NumberFormat()))
	if err != nil {
		return err
	}
	if w.entries, err = w.g.EntriesOf(w.ctx, w.m.View()); err != nil {
		return err
	}
	whole := w.name == files.Stdio || isPacked(w.name)
	if w.first() && !whole {
		i, err := os.Stat(w.name)
		whole = err == nil && !i.Mode().IsRegular() // a pipe, say, which has no offsets
	}
	if whole, err = w.any(whole); err != nil {
		return err
	}
	switch k := w.kind; {
	case whole:
	case k == matfile.NPY || k == matfile.NPZ:
		sink, err := npy.NewSink(w.m, k == matfile.NPZ, w.opt.Flat)
		if err != nil {
			return err
		}
		return w.draft(func(to io.WriterAt) error { return w.numpy(to, sink) })
	case k == matfile.MatrixMarket:
		return w.draft(w.market)
	}
	return w.alone()
}

// draft calls write in all processes, each of which writes its part of one temporary file, and then
// gives the file its name. All processes return the same error.
func (w *writing) draft(write func(to io.WriterAt) error) error {
	var d *files.Draft
	var err error
	name := make([]byte, maxText)
	if w.first() {
		if d, err = files.NewDraft(w.name); err == nil {
			defer d.Discard()
			copy(name, d.Temporary)
		}
	}
	if err := w.agree(files.Named(w.name, err)); err != nil {
		return err
	}
	if err := w.Bcast(w.ctx, name, 0); err != nil {
		return err
	}
	var to *os.File
	if w.first() {
		to = d.File
	} else {
		to, err = os.OpenFile(string(name[:max(0, strings.IndexByte(string(name), 0))]), os.O_WRONLY, 0)
	}
	if err := w.agreeWhere(files.Named(w.name, err)); err != nil {
		if to != nil && !w.first() {
			_ = to.Close()
		}
		return err
	}
	failed := write(w.through(to))
	if !w.first() {
		err = to.Close()
	}
	if failed != nil {
		return failed
	}
	if err := w.agree(w.named(err)); err != nil {
		return err
	}
	if err := w.last(); err != nil {
		return err
	}
	if w.first() {
		err = d.Commit()
	}
	return w.agree(w.named(err))
}

// last calls opt.Last in all processes when everything is written. Without opt.Last it lets the
// processes agree whether the context of one has ended.
func (w *writing) last() error {
	if w.opt.Last != nil {
		return w.opt.Last()
	}
	return Decide(w.ctx, w.Transport, nil, func() error {
		if err := w.ctx.Err(); err != nil {
			return errors.Join(err, w.Leave())
		}
		return nil
	})
}

// named is files.Named for all errors except errors of the context.
func (w *writing) named(err error) error {
	if err == nil || w.ctx.Err() != nil {
		return err
	}
	return files.Named(w.name, err)
}

// numpy writes a .npy or .npz file.
func (w *writing) numpy(to io.WriterAt, sink *npy.Sink) error {
	err := w.ranges(w.order, w.format, func(all []grid.Range, mine *num.Array) error {
		if err := w.entries.Get(w.ctx, w.order, all, mine); err != nil {
			return err
		}
		w.progress(all)
		return w.agree(w.named(sink.Write(to, all[w.Rank()].Lo, mine)))
	})
	if err != nil {
		return err
	}
	sums, err := w.together(sink.Shares())
	if err != nil {
		return err
	}
	if w.first() {
		err = sink.Finish(to, sums)
	}
	return w.agree(w.named(err))
}

// progress reports the fraction that is written after this round.
func (w *writing) progress(all []grid.Range) {
	if w.opt.Progress != nil {
		w.opt.Progress(float64(all[len(all)-1].Hi) / float64(w.order.Len()))
	}
}

// alone writes the file in the first process, which gets the whole matrix.
func (w *writing) alone() error {
	all := num.New(w.format, 0)
	if w.first() {
		all = num.New(w.format, w.order.Len())
	}
	err := w.owned(w.order, w.format, func(r []grid.Range) error {
		me := r[w.Rank()]
		return w.entries.Get(w.ctx, w.order, r, all.Slice(me.Lo, me.Hi))
	})
	if err != nil {
		return err
	}
	asked := false
	opt := w.opt
	opt.Last = func() error {
		asked = true
		if err := w.agree(nil); err != nil {
			return err
		}
		return w.last()
	}
	if w.first() {
		m := num.Mat{Arr: all, RS: 1, CS: max(w.order.Rows, 1), Rows: w.order.Rows, Cols: w.order.Cols}
		err = matfile.Write(w.name, halfulp.MatrixOf(m), &opt)
		if !asked {
			err = w.agree(err)
		}
	} else {
		err = opt.Last()
	}
	return w.agree(err)
}
