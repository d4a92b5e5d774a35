package sym

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// signed returns the integer with the given words in two's complement.
func signed(z []uint64) *big.Int {
	x := num.ToInt(z)
	if int64(z[len(z)-1]) < 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(64*len(z))))
	}
	return x
}

// randomWords returns words with many zeros and ones.
func randomWords(rng *rand.Rand, n int) []uint64 {
	z := make([]uint64, n)
	for i := range z {
		switch rng.IntN(4) {
		case 0:
			z[i] = math.MaxUint64
		case 1:
			z[i] = rng.Uint64()
		case 2:
			z[i] = 1 << rng.IntN(64)
		}
	}
	return z
}

func TestQuickIntegers(t *testing.T) {
	rng := testseed.Rand(t, 71, 1)
	// reduced is x modulo 2^(64 words), with a sign.
	reduced := func(x *big.Int, words int) *big.Int {
		m := new(big.Int).Lsh(big.NewInt(1), uint(64*words))
		x = new(big.Int).Mod(x, m)
		if x.Bit(64*words-1) != 0 {
			x.Sub(x, m)
		}
		return x
	}
	for range testlength.Of(1000, 10000, 1000000) {
		x, y := randomWords(rng, 1+rng.IntN(5)), randomWords(rng, 1+rng.IntN(5))
		z := randomWords(rng, len(x)+len(y)+rng.IntN(2))
		x[len(x)-1] = uint64(rng.IntN(4) - 2) // an integer part
		before := signed(z)
		want := new(big.Int).Mul(signed(x), num.ToInt(y))
		slices.Reverse(y)
		subtractProduct(z, x, y)
		if signed(z).Cmp(reduced(want.Sub(before, want), len(z))) != 0 {
			t.Fatalf("%x times %x was not subtracted from %x: %x", x, y, before, z)
		}
		z = randomWords(rng, 1+rng.IntN(6))
		shift, words := uint(rng.IntN(300)), len(z)
		before = signed(z)
		addShifted(z, x, shift, true)
		if want.Lsh(signed(x), shift); signed(z).Cmp(reduced(want.Add(want, before), words)) != 0 {
			t.Fatalf("%x plus %x shifted by %d is %x", before, x, shift, z)
		}
		before = signed(z)
		addShifted(z, x, shift, false)
		if want := new(big.Int).Lsh(num.ToInt(x), shift); signed(z).Cmp(reduced(want.Add(want, before), words)) != 0 {
			t.Fatalf("%x plus %x without a sign, shifted by %d, is %x", before, x, shift, z)
		}
		before = signed(z)
		zeros := rng.IntN(3) // words, which may lie below the units
		real := num.Real{Class: num.Finite, Neg: rng.IntN(2) > 0, Mag: append(make([]uint64, zeros), x...), Exp: int64(shift) - 77}
		addReal(z, real, 77-64*int64(zeros))
		want.Lsh(num.ToInt(x), shift)
		if real.Neg {
			want.Neg(want)
		}
		if signed(z).Cmp(reduced(want.Add(want, before), words)) != 0 {
			t.Fatalf("%x plus %x shifted by %d, negative %v, is %x", before, x, shift, real.Neg, z)
		}
		m, e := leadingOf(x, 0)
		exact := new(big.Float).SetInt(signed(x))
		part := new(big.Float).SetMantExp(big.NewFloat(m), int(e))
		lost := new(big.Float).Sub(exact.Abs(exact), part.Abs(part))
		limit := new(big.Float).SetMantExp(exact, -52)
		if lost.Sign() < 0 || lost.Cmp(limit.Add(limit, big.NewFloat(1))) > 0 || m != 0 && (math.Abs(m) < 0.5 || math.Abs(m) >= 1) || (m < 0) != (signed(x).Sign() < 0) {
			t.Fatalf("leading part of %x: %v 2^%d", x, m, e)
		}
		k, sum := 1+rng.IntN(9), new(big.Int)
		lx, ly := 1+rng.IntN(4), 1+rng.IntN(4)
		xs, ys := randomWords(rng, k*lx), randomWords(rng, k*ly)
		for i := range k { // integer parts
			xs[i*lx+lx-1], ys[i*ly+ly-1] = uint64(rng.IntN(4)-2), uint64(rng.IntN(4)-2)
		}
		z = make([]uint64, lx+ly)
		square := rng.IntN(2) > 0
		if square {
			z, ys, ly = make([]uint64, 2*lx), xs, lx
			inner(z, xs, lx, nil, 0)
		} else {
			inner(z, xs, lx, ys, ly)
		}
		for i := range k {
			sum.Add(sum, new(big.Int).Mul(signed(xs[i*lx:][:lx]), signed(ys[i*ly:][:ly])))
		}
		if signed(z).Cmp(reduced(sum, lx+ly)) != 0 {
			t.Fatalf("the inner product of %x and %x, of %d and %d words, squares %v, is %x", xs, ys, lx, ly, square, z)
		}
	}
}

// randomize sets x to a random number from 0 to x.
func randomize(rng *rand.Rand, x *big.Int) {
	words := make([]uint64, x.BitLen()/64+1)
	for i := range words {
		words[i] = rng.Uint64()
	}
	x.And(x, num.ToInt(words)) // x is 2^k - 1
}

// TestSliced compares products by slices with exact ones, for the largest numbers among others.
func TestSliced(t *testing.T) {
	rng := testseed.Rand(t, 71, 3)
	for range testlength.Of(200, 1000, 50000) {
		n, span := 1+rng.IntN(20), rng.Int64N(300)
		m := slicedFor(n, span)
		m.negative = make([]float64, m.count*n*n)
		number := func(bits int64) *big.Int {
			x := new(big.Int).Lsh(big.NewInt(1), uint(bits))
			if x.Sub(x, big.NewInt(1)); rng.IntN(2) > 0 {
				randomize(rng, x)
			}
			if rng.IntN(2) > 0 {
				x.Neg(x)
			}
			return x
		}
		a, z := make([]*big.Int, n*n), make([]int64, n)
		low := rng.Int64N(100) - 50
		room := make([]uint64, span/64+2)
		for i := range n {
			for j := range i + 1 {
				x := number(span)
				a[i*n+j], a[j*n+i] = x, x
				v := num.RealOf(new(big.Float).SetInt(x))
				v.Exp += low
				m.set(i, j, v, low, room)
			}
		}
		digits, sums := make([]float64, 2*n), make([]float64, 2*m.count*n)
		for i := range z {
			z[i] = number(int64(m.bits)).Int64()
			digits[i], digits[n+i] = m.cut(z[i])
		}
		if err := dgemm.SubtractIntegers(t.Context(), m.count*n, 2, n, sums, m.negative, digits); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want, shift := new(big.Int), uint(rng.IntN(100))
			for j := range n {
				want.Add(want, new(big.Int).Mul(a[i*n+j], big.NewInt(z[j])))
			}
			y := make([]uint64, (span+200)/64+2)
			m.add(y, i, sums[:m.count*n], sums[m.count*n:], shift)
			if signed(y).Cmp(want.Lsh(want, shift)) != 0 {
				t.Fatalf("n = %d, %d bits: row %d of %v times %v is not %x", n, span, i, a, z, y)
			}
		}
	}
}

// TestQuick compares the enclosures of all rounds with eigenvalues in many more bits, of random
// matrices with entries of different exponents.
func TestQuick(t *testing.T) {
	rng := testseed.Rand(t, 71, 2)
	decided := 0
	defer func(n int) { quickProduct = n }(quickProduct)
	for trial := range testlength.Of(40, 100, 3000) {
		n, spread, bits := 1+rng.IntN(12), rng.IntN(60), []int{24, 53, 106, 300}[rng.IntN(4)]
		f := call.MP(53 + rng.IntN(60))
		a := num.NewMat(f, n, n)
		for i := range n {
			for j := range i + 1 {
				x := new(big.Float).SetInt64(rng.Int64() - rng.Int64())
				a.SetBig(i, j, x.SetMantExp(x, -62-rng.IntN(spread+1)))
				a.SetEntry(j, i, a.Entry(i, j))
			}
		}
		s := prooftest.Run(t, 1+rng.IntN(2))
		fine, err := Sym(s, a, call.MP(3000), Wanted{Last: n - 1}) // in rounds of run
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := floatSeed(s, a)
		if err != nil {
			t.Fatal(err)
		}
		quickProduct = 1000 * (trial % 2)
		q := newQuick(s, a, v.x, 1+bits/100)
		if q == nil {
			t.Fatal("no solver")
		}
		ok, err := q.start()
		for round := 0; ok && err == nil && round < 5; round++ {
			if err := q.residuals(); err != nil {
				t.Fatal(err)
			}
			radii, enough := q.radii(bits)
			if radii == nil {
				break
			}
			if enough {
				decided++
			}
			known, failed := enclosed(s, q, radii)
			if failed != nil {
				t.Fatal(failed)
			}
			for p, c := range known.clusters {
				lambda := fine.Values.Big(p, 0)
				distance := new(big.Float).SetPrec(64).Sub(c.center, lambda)
				limit := new(big.Float).SetPrec(64).Add(c.radius.big(), new(big.Float).SetMantExp(big.NewFloat(1), -2900))
				if distance.Abs(distance).Cmp(limit) > 0 {
					t.Fatalf("trial %d, n = %d, round %d: eigenvalue %d is %v, not in the interval of %v with radius %v\n%v", trial, n, round, p, lambda, c.center, c.radius.big(), a)
				}
			}
			ok, err = q.improve()
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Release()
	}
	if decided == 0 {
		t.Error("no enclosure is narrow")
	}
}

// TestExpansionsOfExactValues computes eigenvalues and singular values that are integers, in
// formats whose numbers may be as near to an integer as 2^-1074: few rounds prove them.
func TestExpansionsOfExactValues(t *testing.T) {
	const n = 4
	want := [n]float64{-4, -1, 2, 5}
	a := num.NewMat(num.Float64, n, n)
	for i := range n {
		for j := range n {
			x := 0.0 // H diag(want) H for the reflector H = I - E/2, where E has ones
			for k, v := range want {
				h := [2]float64{-0.5, -0.5}
				for c, at := range []int{i, j} {
					if at == k {
						h[c]++
					}
				}
				x += float64(float64(h[0]*v) * h[1])
			}
			a.SetFloat64(i, j, x)
		}
	}
	for _, f := range []num.Format{num.DDouble, num.TDouble, num.QDouble} {
		for _, vectors := range []bool{false, true} {
			s := prooftest.Run(t, 1)
			r, err := Sym(s, a, f, Wanted{Vectors: vectors, Last: n - 1})
			if err != nil {
				t.Fatal(err)
			}
			for p, v := range want {
				if got := r.Values.Big(p, 0); got.Cmp(big.NewFloat(v)) != 0 {
					t.Errorf("%v: eigenvalue %d is %v", f, p, got)
				}
			}
			if s.Stats.Steps > 10 || s.Stats.Ties != 0 {
				t.Errorf("%v, vectors %v: %d rounds, %d ties", f, vectors, s.Stats.Steps, s.Stats.Ties)
			}
			s.Release()
			s = prooftest.Run(t, 1)
			d, err := SVD(s, a, f, Wanted{Vectors: vectors, Last: n - 1}, false)
			if err != nil {
				t.Fatal(err)
			}
			for p, v := range [n]float64{1, 2, 4, 5} {
				if got := d.Values.Big(p, 0); got.Cmp(big.NewFloat(v)) != 0 {
					t.Errorf("%v: singular value %d is %v", f, p, got)
				}
			}
			if s.Stats.Steps > 10 || s.Stats.Ties != 0 {
				t.Errorf("%v, vectors %v: %d rounds for singular values, %d ties", f, vectors, s.Stats.Steps, s.Stats.Ties)
			}
			s.Release()
		}
	}
}
