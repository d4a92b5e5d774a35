package grid

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/grid/gridtest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// places lists the entries of an order one by one.
func (o Order) places() (list [][2]int) {
	lines, length := o.lines()
	for l := range lines {
		from := 0
		if o.Below > 0 {
			from = l + o.Below - 1
		}
		for at := from; at < length; at++ {
			if o.ByRows {
				list = append(list, [2]int{l, at})
			} else {
				list = append(list, [2]int{at, l})
			}
		}
	}
	return list
}

// TestEntries puts numbers of ranges, in all orders, into matrices and gets them back.
func TestEntries(t *testing.T) {
	seed := testseed.Of(t)
	for trial := range 200 {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		o := Order{Rows: r.IntN(14), Cols: r.IntN(14), ByRows: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			o = Order{Rows: o.Rows, Cols: o.Rows, Below: 1 + r.IntN(2)}
		}
		mirrored := o
		mirrored.Mirrored = o.Below > 0
		rows, cols, block := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(5)
		name := fmt.Sprintf("seed %d, trial %d: %+v on %d x %d, blocks of %d", seed, trial, o, rows, cols, block)
		all := o.places()
		if o.Len() != len(all) {
			t.Fatalf("%s: %d entries, not %d", name, o.Len(), len(all))
		}
		var rounds [][]Range
		for at := 0; at < len(all); {
			ranges := make([]Range, rows*cols)
			for p := range ranges {
				n := r.IntN(1 + min(len(all)-at, 20))
				ranges[p] = Range{at, at + n}
				at += n
			}
			rounds = append(rounds, ranges)
		}
		f := []num.Format{num.Float32, num.Float64, num.TDouble, {Kind: num.MP, Prec: 100}}[r.IntN(4)]
		h := matrix(r, f, o.Rows, o.Cols, 5)
		gridtest.Run(t, rows*cols, func(to gridtest.Process) error {
			g, err := New(to, rows, cols, block, new(Local))
			if err != nil {
				return err
			}
			e, z, err := g.NewEntries(t.Context(), f, o.Rows, o.Cols)
			if err != nil {
				return err
			}
			for _, ranges := range rounds {
				me := ranges[to.Rank()]
				mine := num.New(f, me.Len())
				for k := range me.Len() {
					mine.CopyFrom(k, h.Arr, h.At(all[me.Lo+k][0], all[me.Lo+k][1]))
				}
				if err := e.Put(t.Context(), o, ranges, mine); err != nil {
					return err
				}
				if o.Below > 0 {
					if err := e.Put(t.Context(), mirrored, ranges, mine); err != nil {
						return err
					}
				}
				got := num.New(f, me.Len())
				if err := e.Get(t.Context(), o, ranges, got); err != nil {
					return err
				}
				for k := range me.Len() {
					if !got.SameBits(k, mine, k) {
						return fmt.Errorf("%s: entry %d is another one", name, me.Lo+k)
					}
				}
			}
			back, err := g.Get(t.Context(), z)
			if err != nil {
				return err
			}
			zero := num.New(f, 1)
			for i := range o.Rows {
				for j := range o.Cols {
					from, at := h.Arr, h.At(i, j)
					switch {
					case o.Below > 0 && i < j:
						at = h.At(j, i)
						fallthrough
					case o.Below == 2 && i == j:
						if i == j {
							from, at = zero, 0
						}
					}
					if !back.Arr.SameBits(back.At(i, j), from, at) {
						return fmt.Errorf("%s: entry (%d, %d) is another one", name, i, j)
					}
				}
			}
			return nil
		})
	}
}

// TestEntriesOf gets the entries of parts of matrices.
func TestEntriesOf(t *testing.T) {
	seed := testseed.Of(t)
	for trial := range 60 {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		rows, cols, block := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(3)
		h := matrix(r, num.Float64, 1+r.IntN(12), 1+r.IntN(12), 5)
		want := h
		if trial%3 > 0 {
			want = viewOf(r, h)
		}
		gridtest.Run(t, rows*cols, func(to gridtest.Process) error {
			g, err := New(to, rows, cols, block, new(Local))
			if err != nil {
				return err
			}
			v := want
			v.Arr = there(t, g, h).Arr
			e, err := g.EntriesOf(t.Context(), v)
			if err != nil {
				return err
			}
			if want == h && e.s != v.Arr.Away {
				return fmt.Errorf("seed %d, trial %d: copied for no reason", seed, trial)
			}
			ranges := make([]Range, to.Size())
			me := &ranges[to.Size()-1]
			*me = Range{0, want.Rows * want.Cols}
			if to.Rank() < to.Size()-1 {
				return e.Get(t.Context(), Order{Rows: want.Rows, Cols: want.Cols}, ranges, num.New(num.Float64, 0))
			}
			got := num.New(num.Float64, me.Len())
			if err := e.Get(t.Context(), Order{Rows: want.Rows, Cols: want.Cols}, ranges, got); err != nil {
				return err
			}
			for k := range got.Len() {
				if !got.SameBits(k, h.Arr, want.At(k%want.Rows, k/want.Rows)) {
					return fmt.Errorf("seed %d, trial %d: entry %d is another one", seed, trial, k)
				}
			}
			return nil
		})
	}
}

// TestFirstSpecial finds the first entry that is infinite or NaN.
func TestFirstSpecial(t *testing.T) {
	seed := testseed.Of(t)
	for trial := range 100 {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		rows, cols, block := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(3)
		f := []num.Format{num.Float64, num.DDouble, {Kind: num.MP, Prec: 70}}[r.IntN(3)]
		h := matrix(r, f, 1+r.IntN(12), 1+r.IntN(12), 5)
		first, want := h.Rows*h.Cols, num.Cls(0)
		for range r.IntN(4) {
			k := r.IntN(h.Rows * h.Cols)
			x := num.Real{Class: []num.Class{num.Inf, num.NaN}[r.IntN(2)], Neg: r.IntN(2) == 0}
			if h.Arr.Set(k, x); k <= first {
				first, want = k, num.MakeCls(x.Neg, x.Class)
			}
		}
		gridtest.Run(t, rows*cols, func(to gridtest.Process) error {
			g, err := New(to, rows, cols, block, new(Local))
			if err != nil {
				return err
			}
			e, err := g.EntriesOf(t.Context(), there(t, g, h))
			if err != nil {
				return err
			}
			i, j, c, ok, err := e.FirstSpecial(t.Context())
			if ok != (first < h.Rows*h.Cols) || err != nil || ok && (j*h.Rows+i != first || c != want) {
				return fmt.Errorf("seed %d, trial %d: (%d, %d) is %d, %v, %v; want %d of %d", seed, trial, i, j, c, ok, err, want, first)
			}
			return nil
		})
	}
}
