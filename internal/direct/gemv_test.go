package direct

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestLoadTerms compares the quick way to an expansion's magnitude with its exact value, for any
// terms.
func TestLoadTerms(t *testing.T) {
	r := testseed.Rand(t, 1, 1)
	quick := 0
	for k := range 200000 {
		f := []num.Format{num.DDouble, num.TDouble, num.QDouble}[k%3]
		a := num.New(f, 1)
		e := r.IntN(40) - 20
		switch k % 11 {
		case 0:
			e = -1000 - r.IntN(74)
		case 1:
			e = 1000 + r.IntN(23)
		}
		for i := range f.Terms() {
			x := math.Ldexp(1+r.Float64(), e)
			switch r.IntN(12) {
			case 0:
				x = math.Ldexp(1, e)
			case 1:
				x = math.Ldexp(2-0x1p-52, e)
			case 2:
				x = 0
			case 3:
				x = math.Float64frombits(r.Uint64())
			}
			if r.IntN(2) == 0 {
				x = -x
			}
			a.F64[i][0] = x
			e -= []int{1, 52, 53, 54, 53 + r.IntN(12), 53 + r.IntN(12), 53, 54, 63 + r.IntN(3), 127 + r.IntN(3), r.IntN(200)}[r.IntN(11)]
		}
		z := make([]uint64, 2+r.IntN(6))
		top, ok := loadTerms(z, a, 0)
		if !ok {
			continue
		}
		quick++
		v := a.Value(0, make([]uint64, num.MaxValueWords))
		n := int64(num.BitLen(v.Mag))
		same := v.Class == num.Finite && v.Exp+n == top && v.Neg == (a.F64[0][0] < 0)
		for s := int64(0); s < n || s < int64(64*len(z)); s++ {
			same = same && num.WordAt(v.Mag, n-64-s) == num.WordAt(z, int64(64*len(z))-64-s)
		}
		if !same {
			t.Fatalf("%v terms %x: got %x 2^%d, value %+v", f, a.F64, z, top, v)
		}
	}
	if quick < 50000 {
		t.Errorf("%d expansions went the quick way", quick)
	}
}

// TestGemvOverlap multiplies by matrices of expansions whose terms overlap, or of which only the
// last is infinite: the first term says too little of them.
func TestGemvOverlap(t *testing.T) {
	r := testseed.Rand(t, 2, 2)
	n := 40
	work := Work{Run: par.Run{Ctx: t.Context(), Threads: 1}}
	for trial := range 60 {
		a, x := num.New(num.DDouble, n*n), num.New(num.DDouble, n)
		for i := range n * n {
			a.F64[0][i], a.F64[1][i] = r.NormFloat64(), r.NormFloat64()*0x1p-54
			if r.IntN(200) == 0 {
				a.F64[1][i] = math.Ldexp(r.NormFloat64(), []int{-1, 10, 60, 1020}[r.IntN(4)])
			}
			if r.IntN(2000) == 0 {
				a.F64[1][i] = math.Inf(1)
			}
		}
		for i := range n {
			x.F64[0][i] = r.NormFloat64()
		}
		m := num.Mat{Arr: a, RS: 1, CS: n, Rows: n, Cols: n}
		if trial%2 == 0 {
			m = m.T()
		}
		v := num.Vec{Arr: x, Inc: 1, N: n}
		got, want := num.New(num.DDouble, n), num.New(num.DDouble, n)
		unit := One(false)
		if _, err := Gemv(work, unit, m, v, num.Real{}, num.Vec{}, got, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		var acc superacc.Acc
		for i := range n {
			want.Set(i, acc.Entry(num.DDouble, unit, m.Row(i), v, num.Real{}, num.Real{}))
			if !got.SameBits(i, want, i) {
				t.Fatalf("trial %d row %d: got %x %x want %x %x", trial, i, got.F64[0][i], got.F64[1][i], want.F64[0][i], want.F64[1][i])
			}
		}
	}
}

// TestSumBound compares the bound of sums of digits with its formula, up to numbers of products
// that 64 bits do not hold.
func TestSumBound(t *testing.T) {
	for groups := 1; groups <= maxGroups; groups++ {
		for _, n := range []int64{1, 1000, 1 << 26, 1 << 27, 1<<27 + 1<<25, 1 << 29, 1<<29 + 1<<23, 1 << 31, 1 << 34, 1 << 36, 1<<36 + 1, 1 << 45} {
			if int64(int(n)) != n {
				continue
			}
			want := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(4*groups+3)))
			want.Lsh(want, digitBits)
			bound, ok := sumBound(int(n), groups)
			if small := want.BitLen() <= 62; ok != small || ok && want.Cmp(new(big.Int).SetUint64(bound)) != 0 {
				t.Errorf("%d products, %d groups: bound %d, %v, want %v", n, groups, bound, ok, want)
			}
		}
	}
}

// TestRoundPlainAtPowersOfTwo rounds 2^e, known up to a little more than a quarter of its last
// place: 2^e - bound is nearer to the number below 2^e.
func TestRoundPlainAtPowersOfTwo(t *testing.T) {
	for _, f := range []num.Format{num.Float64, num.Float32, {Kind: num.MP, Prec: 106}} {
		z := num.New(f, 2)
		w := newGemvWorker(&gemv{count: func(num.Flags) {}}, f)
		w.z = num.Vec{Arr: z, Inc: 1, N: 2}
		n := int(z.Prec) + 64
		mag := make([]uint64, (n+63)/64)
		mag[(n-1)/64] = 1 << ((n - 1) % 64)
		v := num.Real{Class: num.Finite, Exp: -100, Mag: mag}
		if !w.roundPlain(0, v, 1<<61) {
			t.Errorf("%v: 2^%d is left undecided by an eighth of its last place", f, n-1)
		}
		const bound = 1<<62 + 1<<40
		if !w.roundPlain(0, v, bound) {
			continue
		}
		num.SubShifted(mag, []uint64{bound})
		z.Set(1, v)
		if !z.SameBits(0, z, 1) {
			t.Errorf("%v: 2^%d up to %d was taken for exact", f, n-1, uint64(bound))
		}
	}
}

// TestReferences compares the exponents from the machine's kernels with the exponents from the
// loops in Go.
func TestReferences(t *testing.T) {
	r := testseed.Rand(t, 7, 7)
	for trial := range testlength.Trials(2000) {
		n := 1 + r.IntN(40)
		ref, scale, exp, cls := make([]int64, n), make([]int64, n), make([]int32, n), make([]num.Cls, n)
		for i := range ref {
			ref[i], scale[i] = math.MinInt64, r.Int64N(1<<40)-1<<39
			if r.IntN(2) == 0 {
				ref[i] = r.Int64N(1<<40) - 1<<39
			}
			exp[i] = int32(r.Uint32())
			cls[i] = num.MakeCls(r.IntN(2) == 0, num.Finite)
			if trial%2 == 0 && r.IntN(5) == 0 {
				cls[i] = num.MakeCls(r.IntN(2) == 0, num.Zero)
			}
			if trial%3 == 0 && r.IntN(20) == 0 {
				cls[i] = num.MakeCls(r.IntN(2) == 0, num.Class(r.IntN(4)))
			}
		}
		k, top, special := referRowFast(exp, cls, scale)
		if want, wantSpecial := referRow(exp[:k], cls[:k], scale[:k]); special != wantSpecial || !special && top != want {
			t.Fatalf("trial %d: of %d numbers in a row %d is the highest, special %v, want %d, %v", trial, k, top, special, want, wantSpecial)
		}
		got := slices.Clone(ref)
		k, special = referColumnFast(got, exp, cls, scale[0])
		wantSpecial := referColumn(ref[:k], exp[:k], cls[:k], scale[0])
		if special != wantSpecial || !special && !slices.Equal(got, ref) {
			t.Fatalf("trial %d: references of %d numbers are %d, special %v, want %d, %v", trial, k, got, special, ref, wantSpecial)
		}
	}
}
