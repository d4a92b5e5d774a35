package reproduce

import (
	"math/big"

	"github.com/halfulp/halfulp/rns"
)

// The quantities that are counted.
const (
	lengthOf   = "length"
	residuesOf = "residues computed apart"
	entriesOf  = "entries in their places"
	roundoff   = "largest rounding error, in u"
	minBlock   = "MinBS"
	peak       = "peak bandwidth"
	multiplied = "product"
	summed     = "sum"
)

// paperPeak is (20) of 001 in GB/s, paperMinBS its example of (8).
const (
	paperPeak  = 320.3
	paperMinBS = 64
)

// roundedNumbers is the number of products, and of sums, that addRoundoff examines.
const roundedNumbers = 256

// addChecks records the facts of the paper that can be counted: the layout, the arithmetic, the
// unit roundoff.
func (r *Report) addChecks(d *gemvData) error {
	if d.inputs == whole {
		return r.addRoundoff(d)
	}
	if !d.stagesBelong() {
		return nil
	}
	r.addLayout(d)
	// (20): the memory of the GTX 1080.
	k := d.record(tablePeak, "1251 MHz, 256 bits, 8 transfers a cycle", peak, 1251e6*(256/8)*8/1e9)
	k.Device, k.Unit, k.Paper = paperGPU, "GB/s", known(paperPeak)
	r.add(k)
	return nil
}

// addLayout records table 2, and figures 1 and 2.
func (r *Report) addLayout(d *gemvData) {
	a, _, _ := d.ar.Array()
	n, length := d.b.Len(), a.Len()
	for _, k := range []struct {
		member string
		here   int
		want   int
	}{
		{"digits", len(a.Digits), n * length}, {"sign", len(a.Sign), length}, {"exp", len(a.Exp), length}, {"eval", len(a.Eval), 2 * length},
	} {
		q := d.record(tableLayout, k.member, lengthOf, 100*float64(k.here)/float64(k.want))
		q.Moduli, q.Unit = n, "% of the formula"
		r.add(q)
	}
	// Residues of sums and products are the sums and products of the operands' residues.
	x, y := d.b.NewNumber().SetInt64(123456789), d.b.NewNumber().SetInt64(987654321)
	for _, name := range []string{summed, multiplied} {
		z, right := d.b.NewNumber().Add(x, y), 0
		if name == multiplied {
			z.Mul(x, y)
		}
		for i, m := range d.b.Moduli() {
			u, v := uint64(x.Significand()[i]), uint64(y.Significand()[i])
			want := (u + v) % uint64(m)
			if name == multiplied {
				want = u * v % uint64(m)
			}
			if uint64(z.Significand()[i]) == want {
				right++
			}
		}
		q := d.record(tableFigure1, name, residuesOf, 100*float64(right)/float64(n))
		q.Moduli, q.Unit = n, "%"
		r.add(q)
	}
	// The 3 x 4 matrix of figure 2, LDA = 4, four digits a number.
	b, err := rns.NewBase([]uint32{251, 253, 255, 256})
	if err != nil {
		return
	}
	const rows, cols, ld = 3, 4, 4
	m, right := b.NewMatrixLD(rows, cols, ld), 0
	for j := range cols {
		for i := range rows {
			m.Set(i, j, b.NewNumber().SetInt64(int64(10*i+j+1)))
		}
	}
	stored, _, _ := m.Array()
	for j := range cols {
		for i := range rows {
			at, ok := i+j*ld, true
			for k, want := range m.At(i, j).Significand() {
				ok = ok && stored.Digits[4*at+k] == want
			}
			ev := m.At(i, j).Evaluation()
			if ok && stored.Eval[at] == ev.Lo && stored.Eval[stored.Len()+at] == ev.Up {
				right++
			}
		}
	}
	q := d.record(tableFigure2, "3 x 4 matrix, LDA = 4, n = 4", entriesOf, 100*float64(right)/(rows*cols))
	q.Moduli, q.Bits, q.Unit = 4, b.Precision(), "%"
	r.add(q)
}

// addRoundoff records the largest rounding errors of products and sums of entries of A and x, in u.
func (r *Report) addRoundoff(d *gemvData) error {
	rows, cols := d.ar.Dims()
	u := d.b.UnitRoundoff().Big()
	for _, name := range []string{multiplied, summed} {
		most := new(big.Float)
		for k := range min(roundedNumbers, rows*cols) {
			x, y := d.ar.At(k%rows, k/rows), d.xr.At(k%cols)
			z := d.b.NewNumber()
			p, q, exact := new(big.Float), new(big.Float), new(big.Float).SetPrec(exactBits)
			for _, v := range []struct {
				from *rns.Number
				to   **big.Float
			}{{x, &p}, {y, &q}} {
				var err error
				if *v.to, err = v.from.Big(); err != nil {
					return err
				}
			}
			if name == multiplied {
				z.Mul(x, y)
				exact.Mul(p, q)
			} else {
				z.Add(x, y)
				exact.Add(p, q)
			}
			got, err := z.Big()
			if err != nil {
				return err
			}
			if exact.Sign() == 0 {
				continue
			}
			e := new(big.Float).SetPrec(exactBits).Sub(got, exact)
			if e = e.Quo(e.Abs(e), exact.Abs(exact)); most.Cmp(e) < 0 {
				most = e
			}
		}
		share, _ := new(big.Float).Quo(most, u).Float64()
		k := d.record(tableRoundoff, name, roundoff, share)
		k.Moduli = d.b.Len()
		r.add(k)
	}
	return nil
}
