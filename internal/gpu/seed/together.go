package seed

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// A Share is the columns of a matrix that a GPU stores, and the same columns of its inverse, which
// it is to store.
type Share struct {
	Device *cuda.Device
	A, X   mem.Matrix
}

// InverseTogether is Inverse on several GPUs, whose shares follow each other. It is possible if the
// GPUs can access each other's memory and all shares but the last consist of whole tiles of
// updates.
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

// reachable reports whether the GPUs can invert together.
func reachable(ctx context.Context, shares []Share) (bool, error) {
	var devs []*cuda.Device
	for k, share := range shares {
		if share.A.Rows > MaxOrder || share.A.Cols == 0 || share.A.Cols%wide != 0 && k < len(shares)-1 {
			return false, nil
		}
		devs = append(devs, share.Device)
	}
	return cuda.Linked(ctx, devs...)
}

func invertTogether(ctx context.Context, shares []Share, way search, width int) (rows, cols []int64, ok bool, err error) {
	var (
		t  team
		ws []*work
	)
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
			t, ws = append(t, w), append(ws, w)
			return w.tops(false)
		}); err != nil {
			return nil, nil, false, err
		}
		before += share.A.Cols
	}
	if err := joinRows(t, ws); err != nil {
		return nil, nil, false, err
	}
	if err := eachOf(t, ws, func(w *work, _ int) error {
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
	if err := eachOf(t, ws, func(w *work, k int) error {
		for _, other := range ws {
			if err := w.s.Wait(other.done); err != nil {
				return err
			}
			if err := w.unscramble(shares[k].X, other); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return nil, nil, false, err
	}
	fine, parts := make([]bool, len(ws)), make([][2][]int64, len(ws))
	err = atOnce(ws, func(w *work, k int) (err error) {
		parts[k][0], parts[k][1], fine[k], err = w.report()
		return err
	})
	for _, x := range parts {
		rows, cols = x[0], append(cols, x[1]...)
	}
	return rows, cols, !slices.Contains(fine, false), err
}

// eachOf is each for numbered works.
func eachOf[W any](t team, works []W, f func(w W, k int) error) error {
	k := 0
	return t.each(func(member) error {
		k++
		return f(works[k-1], k-1)
	})
}

// atOnce runs f, which waits, on the threads of all GPUs at the same time, and returns the first
// error. One after the other, the threads of the later GPUs would fall asleep.
func atOnce[W member](works []W, f func(w W, k int) error) error {
	errs := make([]error, len(works))
	var wg sync.WaitGroup
	for k, w := range works {
		run := func() { errs[k] = w.common().do(func() error { return f(w, k) }) }
		if k == len(works)-1 {
			run()
		} else {
			wg.Go(run)
		}
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// joinRows gives all GPUs the exponents of the largest entries of whole rows.
func joinRows(t team, ws []*work) error {
	list := make([][]int64, len(ws))
	if err := atOnce(ws, func(w *work, k int) error {
		list[k] = make([]int64, w.q.A.N)
		return cuda.Download(w.s, list[k], w.q.Rows)
	}); err != nil {
		return err
	}
	most := list[0]
	for _, tops := range list[1:] {
		for i, top := range tops {
			most[i] = max(most[i], top)
		}
	}
	return eachOf(t, ws, func(w *work, _ int) error { return cuda.Upload(w.s, w.q.Rows, most) })
}

// InverseRootTogether is InverseRoot on several GPUs, as InverseTogether is Inverse.
func InverseRootTogether(ctx context.Context, shares []Share) (exps []int64, ok, possible bool, err error) {
	if possible, err = reachable(ctx, shares); err != nil || !possible {
		return nil, false, false, err
	}
	exps, ok, err = inverseRootTogether(ctx, shares, panelWidth)
	return exps, ok, true, err
}

func inverseRootTogether(ctx context.Context, shares []Share, width int) (exps []int64, ok bool, err error) {
	var (
		t  team
		ws []*rootWork
	)
	defer func() {
		if e := t.free(context.WithoutCancel(ctx)); err == nil {
			err = e
		}
	}()
	n := shares[0].A.Rows
	cuts := rootCuts(shares)
	var all []placed
	before := 0
	for k, share := range shares {
		of := placed{share, before}
		if err := share.Device.Do(ctx, func(s *cuda.Stream) error {
			share.X.Changed()
			w, err := newRootWork(s, n, cuts[k], cuts[k+1]-cuts[k], width)
			if err != nil {
				return err
			}
			w.do = func(f func() error) error { return share.Device.Do(ctx, func(*cuda.Stream) error { return f() }) }
			t, ws = append(t, w), append(ws, w)
			return w.exponents(of)
		}); err != nil {
			return nil, false, err
		}
		all = append(all, of)
		before += share.A.Cols
	}
	// All GPUs get the exponents of all columns, and then their columns of F.
	exps = make([]int64, n)
	if err := atOnce(ws, func(w *rootWork, k int) error {
		of := all[k]
		return cuda.Download(w.s, exps[of.begin:of.begin+of.A.Cols], w.g.Exps+cuda.Pointer(8*of.begin))
	}); err != nil {
		return nil, false, err
	}
	if err := eachOf(t, ws, func(w *rootWork, _ int) error {
		if err := cuda.Upload(w.s, w.g.Exps, exps); err != nil {
			return err
		}
		return w.fill(all)
	}); err != nil {
		return nil, false, err
	}
	if err := t.eliminate(); err != nil {
		return nil, false, err
	}
	if err := eachOf(t, ws, func(w *rootWork, _ int) error { return w.store(all) }); err != nil {
		return nil, false, err
	}
	fine := make([]bool, len(ws))
	err = atOnce(ws, func(w *rootWork, k int) (err error) {
		_, fine[k], err = w.report()
		return err
	})
	return exps, !slices.Contains(fine, false), err
}

// rootCuts returns the first columns of the parts that GPUs work on, so that all parts take about
// the same time. For column c of n, each of the c columns before it updates n - c rows, and each
// column p behind it updates n - p rows: c (n - c) + (n - c)²/2 = (n² - c²)/2 in total. On two H100
// the inverse of a Cholesky factor of order 8192 took 10.6 ms with half of the columns each, 9.4 ms
// with the second part from 2816 or 3328 on (bench/records/h100-two.json.gz, "seeds").
func rootCuts(shares []Share) []int {
	n, count := shares[0].A.Rows, len(shares)
	cuts, even := []int{0}, []int{0}
	for d, share := range shares {
		even = append(even, even[d]+share.A.Cols)
		c := 0
		for x := 0.0; d < count-1 && x-x*x*x/3 < 2.0/3*float64(d+1)/float64(count); c += wide {
			x = float64(c+wide) / float64(n)
		}
		if d == count-1 {
			c = n
		}
		if c <= cuts[d] || c > n {
			return even
		}
		cuts = append(cuts, c)
	}
	return cuts
}

// free stops all GPUs, and frees the memory once no GPU reads another's any more.
func (t team) free(ctx context.Context) (err error) {
	each := func(f func(q *queue) error) {
		for _, m := range t {
			q := m.common()
			if e := q.s.Device().Do(ctx, func(*cuda.Stream) error { return f(q) }); err == nil {
				err = e
			}
		}
	}
	each((*queue).stop)
	each(func(q *queue) error { return q.s.Synchronize() })
	each(func(q *queue) error {
		q.free()
		return nil
	})
	return err
}
