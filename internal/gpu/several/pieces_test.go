package several

import (
	"reflect"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestPieces compares pieces of views with what a look at every column finds.
func TestPieces(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	whole := 0
	for range 20000 {
		p := &Place{parts: make([]GPU, 1+r.IntN(4))}
		s := &storage{p: p, start: []int{0}}
		each := 1 + r.IntN(6) // numbers of a column
		for range p.parts {
			s.start = append(s.start, s.start[len(s.start)-1]+each*r.IntN(5))
			s.parts = append(s.parts, &num.Array{})
		}
		n := s.start[len(p.parts)]
		m := num.Mat{Arr: &num.Array{Away: s}, RS: r.IntN(5) - 2, CS: []int{each, -each, 2 * each, r.IntN(9) - 4}[r.IntN(4)], Rows: 1 + r.IntN(each), Cols: 1 + r.IntN(8)}
		lo, hi := span(m)
		if hi-lo > n {
			continue
		}
		m.Off += r.IntN(n-(hi-lo)+1) - lo
		var want []piece
		good := true
		for j := 0; j < m.Cols && good; j++ {
			lo, hi := span(block(m, 0, m.Rows, j, j+1))
			d := s.owner(lo)
			good = hi <= s.start[d+1]
			if k := len(want); k > 0 && want[k-1].d == d {
				want[k-1].j1++
			} else {
				want = append(want, piece{d: d, i1: m.Rows, j0: j, j1: j + 1})
			}
		}
		got, ok := p.columns(m)
		if ok != good {
			t.Fatalf("%+v from %v: %v, want %v", m, s.start, ok, good)
		}
		if !ok {
			continue
		}
		whole++
		for k, q := range got {
			if at := q.of(m); q.m.Off != at.Off-s.start[q.d] || q.m.Arr != s.parts[q.d] {
				t.Fatalf("%+v from %v: piece %d lies at %d", m, s.start, k, q.m.Off)
			}
			got[k].m = num.Mat{}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v from %v: %+v, want %+v", m, s.start, got, want)
		}
	}
	if whole < 1000 {
		t.Errorf("only %d views in pieces", whole)
	}
}
