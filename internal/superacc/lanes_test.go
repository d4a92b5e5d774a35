package superacc

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// laneMatrix returns a matrix with exponents from -spread to spread, and few bits if few is true.
func laneMatrix(r *rand.Rand, prec uint32, rows, cols, lead, spread int, few bool) num.Mat {
	m := num.Mat{Arr: num.New(num.Format{Kind: num.MP, Prec: prec}, 3+lead*cols), Off: 3, RS: 1, CS: lead, Rows: rows, Cols: cols}
	for i := range rows {
		for j := range cols {
			mag := []uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
			switch {
			case few:
				mag = []uint64{1 + r.Uint64N(15)}
			case r.IntN(8) == 0:
				for k := range mag {
					mag[k] = -(r.Uint64() & 1)
				}
				mag[0] |= 1
			}
			e := int64(r.IntN(2*spread+1) - spread - 64*len(mag))
			if r.IntN(20) == 0 {
				continue // zero
			}
			m.Arr.Set(m.At(i, j), num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: mag, Exp: e})
		}
	}
	return m
}

// TestLanes compares products with exact sums.
func TestLanes(t *testing.T) {
	r := testseed.Rand(t, 31, 32)
	var p Lanes
	plain := Lanes{plain: true}
	decided, open := 0, 0
	for trial := range testlength.Of(150, 600, 20000) {
		prec := []uint32{106, 424, 100, 118, 400, 436}[trial%6]
		m, k, n := 5+r.IntN(20), 2+r.IntN(20), 1+r.IntN(12)
		pad := r.IntN(3)
		if trial%4 < 2 {
			m, k, n, pad = 4, 4, 2+2*r.IntN(3), 0
		}
		spread, few := r.IntN(18), trial%5 == 0
		a, b := laneMatrix(r, prec, m, k, m+pad, spread, few), laneMatrix(r, prec, k, n, k+pad, spread, few)
		c := laneMatrix(r, prec, m, n, m+pad, 1, false)
		shape := [3]int{m, k, n}
		before := make([]*big.Float, c.Arr.Len())
		for i := range before {
			before[i] = c.Arr.Big(i)
		}
		if !LanesApply(a.Arr.Format, b.Arr.Format, c.Arr.Format, k) {
			continue
		}
		e, negative := int64(r.IntN(100)-50), trial%3 == 0
		list, ok := p.Multiply(a, b, c, e, negative, nil)
		other := c
		other.Arr = num.New(c.Arr.Format, c.Arr.Len())
		same, fits := plain.Multiply(a, b, other, e, negative, nil)
		if ok != fits || !slices.Equal(list, same) {
			t.Fatalf("trial %d, %v, %d bits: applies %v, entries %v are open, in Go %v, %v", trial, shape, prec, ok, list, fits, same)
		}
		if !ok {
			continue
		}
		left := make(map[int]bool)
		for _, at := range list {
			left[at] = true
		}
		open += len(list)
		inside := make(map[int]bool)
		for i := range m {
			for j := range n {
				inside[c.At(i, j)] = true
				if left[i*n+j] {
					continue
				}
				if !c.Arr.SameBits(c.At(i, j), other.Arr, c.At(i, j)) {
					t.Fatalf("trial %d, %v, %d bits: entry %d, %d is %v, in Go %v", trial, shape, prec, i, j, c.Big(i, j).Text('p', 0), other.Big(i, j).Text('p', 0))
				}
				sum := new(big.Float).SetPrec(3000)
				for h := range k {
					sum.Add(sum, new(big.Float).SetPrec(3000).Mul(a.Big(i, h), b.Big(h, j)))
				}
				sum.SetMantExp(sum, int(e))
				if negative {
					sum.Neg(sum)
				}
				want := num.New(c.Arr.Format, 1)
				want.Set(0, num.RealOf(sum))
				decided++
				if !c.Arr.SameBits(c.At(i, j), want, 0) {
					t.Fatalf("trial %d, %v, %d bits, spread %d, few %v: entry %d, %d is %v, want %v", trial, shape, prec, spread, few, i, j, c.Big(i, j).Text('p', 0), want.Big(0).Text('p', 0))
				}
			}
		}
		for i, x := range before {
			if !inside[i] && x.Cmp(c.Arr.Big(i)) != 0 {
				t.Fatalf("trial %d, %v: number %d outside of the product has changed", trial, shape, i)
			}
		}
	}
	if decided < 2*open || decided == 0 {
		t.Errorf("%d entries decided, %d left open", decided, open)
	}
}
