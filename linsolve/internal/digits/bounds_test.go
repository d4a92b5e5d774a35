package digits_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// TestDigitTriangle compares bounds of inverses with exact ones, for triangles whose inverses have
// entries far larger than their own ones, with and without pivots, and with blocks of order 2.
func TestDigitTriangle(t *testing.T) {
	if lanes.Bits() == 0 {
		t.Skip("no lanes")
	}
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, large, short, again := 0, 0, 0, 0
	enough := func() bool { return good > 0 && large > 0 && short > 0 && again > 0 }
	for trial := range testlength.Until(testlength.Of(60, 60, 2000), enough) {
		n := 1 + r.IntN(6)
		if trial%6 == 0 { // more than one panel
			n = 9 + r.IntN(10)
		}
		d := 3 + r.IntN(12)
		lanes, _ := lanes.New(d)
		u := digits.Triangle{Numbers: digits.Numbers{Lanes: lanes, D: d}, Rows: make([][]uint64, n), Exp: []int{0, 2, 3}[trial%3]}
		start := call.All(n)
		if u.Exp == 3 {
			for i := 0; i < n; {
				size := 1 + r.IntN(min(2, n-i))
				for k := range size {
					start[i+k] = i
				}
				i += size
			}
		}
		u.Length = func(i int) int { return start[i] }
		places := d * u.Bits()
		below := func(bits int) *big.Int {
			x := new(big.Int)
			for range bits {
				x.Lsh(x, 1).SetBit(x, 0, uint(r.IntN(2)))
			}
			return x
		}
		exact := lintest.Identity(n)
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(places)))
		sums := make([]int64, u.Size())
		for i := range n {
			u.Rows[i] = make([]uint64, start[i]*d)
			for j := range start[i] {
				x := below(max(places-1-r.IntN(1+r.IntN(40)), 0))
				if r.IntN(2) == 0 {
					x.Neg(x)
				}
				if r.IntN(4) == 0 {
					x.SetInt64(0)
				}
				exact[i][j].SetInt(new(big.Int).Lsh(x, uint(u.Exp))).Mul(exact[i][j], unit)
				x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(places-1)))
				for c := d; c > 0; c-- {
					sums[c*u.Count()] = new(big.Int).And(x, big.NewInt(1<<u.Bits()-1)).Int64()
					x.Rsh(x, uint(u.Bits()))
				}
				u.Factor(u.Rows[i][j*d:], 1, sums, 0)
			}
		}
		if u.Exp == 0 {
			u.Inverse, u.Shift, u.Neg = make([]uint64, n*d), make([]int, n), make([]bool, n)
			for i := range n {
				few := 30
				if trial%4 == 0 { // inverses too large for so many digits
					few = places - 45
				}
				p := below(places - 1 - r.IntN(1+r.IntN(few)))
				p.SetBit(p, 40, 1)
				u.Shift[i], _ = u.Reciprocal(u.Inverse[i*d:], p)
				u.Neg[i] = trial%2 == 0 && r.IntN(2) == 0
				exact[i][i].SetInt(p).Mul(exact[i][i], unit)
				if u.Neg[i] {
					exact[i][i].Neg(exact[i][i])
				}
			}
			if trial%2 == 1 {
				u.Neg = nil
			}
		}
		inverse := exact.Solve(lintest.Identity(n))
		w := make([]float64, n)
		for i := range w {
			w[i] = math.Ldexp(r.Float64(), r.IntN(40))
		}
		rows, columns, most := make([]*big.Rat, n), make([]*big.Rat, n), new(big.Rat)
		for i := range n {
			rows[i], columns[i] = new(big.Rat), new(big.Rat)
		}
		for i := range n {
			for j := range n {
				x := new(big.Rat).Abs(inverse[i][j])
				if x.Cmp(most) > 0 {
					most = x
				}
				rows[i].Add(rows[i], x)
				columns[j].Add(columns[j], new(big.Rat).Mul(x, new(big.Rat).SetFloat64(w[i])))
			}
		}
		f, _ := new(big.Float).SetRat(most).Float64()
		top := new(big.Float).SetRat(most).MantExp(nil)
		if trial%5 == 0 { // float64 arithmetic found less
			top -= 30
			again++
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %d digits", draw, trial, n, d)
		s := prooftest.Run(t, 1+trial%2)
		for _, weights := range [][]float64{nil, w} {
			z, more, err := u.Sums(s, top, weights)
			if errors.Is(err, seed.ErrProof) {
				if short++; more <= 0 || top+digits.ScaleBits+80 < places {
					t.Fatalf("%s: %d more bits for an inverse of 2^%d", name, more, top)
				}
				continue
			}
			if errors.Is(err, call.ErrRange) && top+digits.ScaleBits+40 > 850 {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			good++
			if f > 0x1p100 {
				large++
			}
			want := rows
			if weights != nil {
				want = columns
			}
			for i, v := range z {
				x, _ := new(big.Float).SetRat(want[i]).Float64()
				slack := 0x1p-19 * x
				if top+digits.ScaleBits+100 > places { // close to the number of bits of the digits
					slack = 2 * (x + call.LargestOf(z))
				} else if weights != nil {
					slack += 0x1p-30 * call.LargestOf(z)
				}
				if v < x || v-x > slack {
					t.Fatalf("%s: bound %d is %g, exactly it is %g", name, i, v, x)
				}
			}
		}
	}
	if !enough() {
		t.Fatalf("%d bounds, %d of large inverses, %d of too few bits, %d again", good, large, short, again)
	}
}
