package seed

import (
	"context"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// A Share is what a GPU has of a matrix and is to have of its inverse: the same columns.
type Share struct {
	Device *cuda.Device
	A, X   mem.Matrix
}

// InverseTogether is Inverse on several GPUs, whose shares are one beside the other. It is possible
// if they reach each other's memory, and all but the last one have multiples of SeedBlock columns.
func InverseTogether(ctx context.Context, shares []Share) (rows, cols []int64, ok, possible bool, err error) {
	if possible, err = reachable(ctx, shares); err != nil || !possible {
		return nil, nil, false, false, err
	}
	for _, way := range searches {
		if rows, cols, ok, err = invertTogether(ctx, shares, way, panelWidth); ok || err != nil {
			break
		}
	}
	return rows, cols, ok, true, err
}

// reachable reports whether GPUs may invert together.
func reachable(ctx context.Context, shares []Share) (can bool, err error) {
	can = true
	for k, share := range shares {
		can = can && share.A.Rows <= MaxOrder && share.A.Cols > 0 && (share.A.Cols%block == 0 || k == len(shares)-1)
		err := share.Device.Do(ctx, func(s *cuda.Stream) error {
			for _, other := range shares {
				if other.Device == share.Device {
					continue
				}
				there, err := s.Reaches(other.Device)
				if err != nil {
					return err
				}
				can = can && there
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return can, nil
}

func invertTogether(ctx context.Context, shares []Share, way search, width int) (rows, cols []int64, ok bool, err error) {
	var t team
	defer func() {
		if e := t.free(context.WithoutCancel(ctx)); err == nil {
			err = e
		}
	}()
	all := 0
	for _, share := range shares {
		all += share.A.Cols
	}
	before := 0
	for _, share := range shares {
		if err := share.Device.Do(ctx, func(s *cuda.Stream) error {
			share.X.Changed()
			w, err := newWork(s, share.A, before, all, way, width)
			if err != nil {
				return err
			}
			w.do = func(f func() error) error { return share.Device.Do(ctx, func(*cuda.Stream) error { return f() }) }
			t = append(t, w)
			return w.tops(false)
		}); err != nil {
			return nil, nil, false, err
		}
		before += share.A.Cols
	}
	if err := t.joinRows(); err != nil {
		return nil, nil, false, err
	}
	if err := t.each(func(w *work) error {
		if err := w.tops(true); err != nil {
			return err
		}
		return w.fill()
	}); err != nil {
		return nil, nil, false, err
	}
	if err := t.eliminate(); err != nil {
		return nil, nil, false, err
	}
	k := 0
	if err := t.each(func(w *work) error {
		for _, other := range t {
			if err := w.s.Wait(other.done); err != nil {
				return err
			}
			if err := w.unscramble(shares[k].X, other); err != nil {
				return err
			}
		}
		k++
		return nil
	}); err != nil {
		return nil, nil, false, err
	}
	ok = true
	err = t.each(func(w *work) error {
		r, c, fine, err := w.report()
		rows, cols, ok = r, append(cols, c...), ok && fine
		return err
	})
	return rows, cols, ok, err
}

// joinRows lets all GPUs know the largest entries of whole rows.
func (t team) joinRows() error {
	var most []int64
	if err := t.each(func(w *work) error {
		tops := make([]int64, w.q.A.N)
		if err := cuda.Download(w.s, tops, w.q.Rows); err != nil {
			return err
		}
		if most == nil {
			most = tops
		}
		for i, top := range tops {
			most[i] = max(most[i], top)
		}
		return nil
	}); err != nil {
		return err
	}
	return t.each(func(w *work) error { return cuda.Upload(w.s, w.q.Rows, most) })
}

// free ends all, and frees the memory when no GPU reads another's any more.
func (t team) free(ctx context.Context) (err error) {
	each := func(f func(w *work) error) {
		for _, w := range t {
			if e := w.s.Device().Do(ctx, func(*cuda.Stream) error { return f(w) }); err == nil {
				err = e
			}
		}
	}
	each(func(w *work) error { return w.stop() })
	each(func(w *work) error { return w.s.Synchronize() })
	each(func(w *work) error {
		w.free()
		return nil
	})
	return err
}
