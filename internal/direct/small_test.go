package direct

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testseed"
)

// smallMatrix returns a matrix of the given kind of numbers, stored by rows, by columns, or with
// gaps.
func smallMatrix(r *rand.Rand, f num.Format, rows, cols, kind int) num.Mat {
	m := num.Mat{Arr: num.New(f, 3+2*rows*cols), Off: r.IntN(3), RS: 1, CS: rows, Rows: rows, Cols: cols}
	switch r.IntN(3) {
	case 0:
		m.RS, m.CS = cols, 1
	case 1:
		m.RS, m.CS = 2, 2*rows
	}
	words := f.Limbs() + 1
	for i := range rows {
		for j := range cols {
			x := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: make([]uint64, words), Exp: int64(-64 * words)}
			for k := range x.Mag {
				x.Mag[k] = r.Uint64()
			}
			switch kind {
			case 1: // short integers: exact sums, ties and zeros
				x.Mag, x.Exp = []uint64{uint64(r.IntN(4))}, int64(r.IntN(2))
			case 2: // wide
				x.Exp += int64(r.IntN(400) - 200)
			case 3:
				x.Class = num.Class(r.IntN(4))
			case 4: // just above and below numbers of the format
				x.Mag = []uint64{1 << uint(r.IntN(2))}
				x.Exp = int64(-r.IntN(2) * (f.Bits() + r.IntN(5)))
			case 5: // products near the ends of the range
				x.Exp += int64(math.MaxInt32/2 - r.IntN(6))
			case 7:
				x.Exp += int64(math.MinInt32/2 - 3 + r.IntN(10))
			case 6:
				x.Mag = nil
			}
			m.Arr.Set(m.At(i, j), x)
		}
	}
	return m
}

// TestSmall compares small products with exact sums, bit for bit, and counts events.
func TestSmall(t *testing.T) {
	if !superacc.Assembly() {
		t.Skip("plain Go has no small products")
	}
	defer func() { forceSmall = false }()
	forceSmall = true
	r := testseed.Rand(t, 1, 2)
	work := Work{Run: par.Run{Ctx: t.Context(), Threads: 1}}
	mp := func(p int) num.Format { return num.Format{Kind: num.MP, Prec: uint32(p)} }
	formats := []num.Format{mp(2), mp(24), mp(53), mp(63), mp(64), mp(65), mp(106), mp(128), mp(150), mp(192), mp(212), mp(256), mp(300), mp(384), mp(424), mp(448), num.Float64, num.Float32}
	quick := 0
	for trial := range 2400 {
		pick := func() num.Format { return formats[r.IntN(len(formats))] }
		a, b, c := pick(), pick(), pick()
		if trial%3 != 0 {
			b, c = a, a
		}
		m, n, k := 1+r.IntN(7), 1+r.IntN(7), 2+r.IntN(9)
		kind := trial % 8
		p := Product{
			Alpha: num.Real{Class: num.Finite, Neg: trial%2 == 0, Mag: []uint64{1 << uint(r.IntN(3))}, Exp: int64(r.IntN(3))},
			A:     smallMatrix(r, a, m, k, kind), B: smallMatrix(r, b, k, n, kind),
			C: smallMatrix(r, c, m, n, 0), Triangle: "\x00\x00UL"[trial%4],
		}
		p.Old = p.C
		switch trial % 5 {
		case 3:
			p.Alpha.Mag[0] = 3
		case 4:
			p.Beta, p.Old = num.Real{Class: num.Finite, Mag: []uint64{3}, Exp: -1}, smallMatrix(r, pick(), m, n, kind)
		}
		if _, ok := work.Small(&p); !ok {
			continue
		}
		want := p
		want.C = p.C
		want.C.Arr = num.New(c, p.C.Arr.Len())
		for i := range want.C.Arr.Len() {
			want.C.Arr.CopyFrom(i, p.C.Arr, i)
		}
		if p.Old.Arr == p.C.Arr {
			want.Old = want.C
		}
		var got, wanted [3]int
		counting := func(n *[3]int) func(num.Flags) { return func(f num.Flags) { n[f]++ } }
		exact, err := Gemm(work, p, 0, counting(&got))
		if err != nil {
			t.Fatal(err)
		}
		if err := Entries(work, want, counting(&wanted)); err != nil {
			t.Fatal(err)
		}
		if kind == 0 && p.Beta.Class == num.Zero && exact == 0 {
			quick++
		}
		for i := range p.C.Arr.Len() {
			if !p.C.Arr.SameBits(i, want.C.Arr, i) {
				t.Fatalf("trial %d, kind %d: %v times %v, %d x %d x %d, to %v: number %d is %v, want %v", trial, kind, a, b, m, k, n, c, i, p.C.Arr.Big(i), want.C.Arr.Big(i))
			}
		}
		if got != wanted {
			t.Fatalf("trial %d: events %v, want %v", trial, got, wanted)
		}
	}
	if quick < 100 {
		t.Errorf("only %d of the ordinary products were rounded without exact sums", quick)
	}
}

// TestSmallNearTies computes sums that lie much closer to a tie than the bits that the words of
// small products hold, on either side of it.
func TestSmallNearTies(t *testing.T) {
	if !superacc.Assembly() {
		t.Skip("plain Go has no small products")
	}
	defer func() { forceSmall = false }()
	forceSmall = true
	r := testseed.Rand(t, 3, 4)
	work := Work{Run: par.Run{Ctx: t.Context(), Threads: 1}}
	for trial := range 600 {
		prec := []uint32{64, 90, 106, 112, 128, 212, 424}[trial%7]
		f := num.Format{Kind: num.MP, Prec: prec}
		x, z := smallMatrix(r, f, 1, 1, 0), smallMatrix(r, f, 1, 1, 0)
		exact := new(big.Float).SetPrec(2*uint(prec)).Mul(x.Big(0, 0), z.Big(0, 0))
		if exact.Sign() == 0 {
			continue
		}
		low := new(big.Float).SetPrec(uint(prec)).SetMode(big.ToZero).Set(exact)
		tie := new(big.Float).SetPrec(uint(prec)+1).SetMantExp(big.NewFloat(0.5), exact.MantExp(nil)-int(prec))
		if exact.Sign() < 0 {
			tie.Neg(tie)
		}
		tie.SetPrec(uint(prec)+2).Add(low, tie)
		rest := new(big.Float).SetPrec(3*uint(prec)).Sub(tie, exact)
		shift := 1 + r.IntN(30)
		a, b := num.NewMat(f, 2, 2), num.NewMat(f, 2, 2)
		for i := range 2 {
			a.SetBig(i, 0, x.Big(0, 0))
			a.SetBig(i, 1, rest.SetMantExp(rest, shift*(1-i)))
			b.SetBig(0, i, z.Big(0, 0))
			b.SetBig(1, i, new(big.Float).SetMantExp(big.NewFloat(1), -shift))
		}
		p := Product{Alpha: num.Real{Class: num.Finite, Mag: []uint64{1}}, A: a, B: b, C: num.NewMat(f, 2, 2)}
		want := p
		want.C = num.NewMat(f, 2, 2)
		if _, err := Gemm(work, p, 0, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		if err := Entries(work, want, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			if !p.C.Arr.SameBits(i, want.C.Arr, i) {
				t.Fatalf("trial %d, %v: entry %d is %v, want %v", trial, f, i, p.C.Arr.Big(i), want.C.Arr.Big(i))
			}
		}
	}
}
