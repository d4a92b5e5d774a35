package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// TestFixed multiplies matrices in fixed point by vectors of the largest integers: the products are
// exact but for what each entry loses, less than 2^(2-64w) in w planes.
func TestFixed(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(40, 200, 2000) {
		n, planes := 1+r.IntN(5), 1+r.IntN(5)
		f := formats[r.IntN(len(formats))]
		spread := []int{0, 3, 30, 100}[r.IntN(4)]
		if trial%8 == 0 { // rows with few words in their second plane, and with many
			n, planes, f = 60+r.IntN(20), 2, halfulp.Float64
			spread = []int{0, 0, 6}[r.IntN(3)]
		}
		a := halfulp.Random(f, n, n, spread, r.Uint64())
		for range r.IntN(n) {
			a.SetFloat64(r.IntN(n), r.IntN(n), 0)
		}
		if trial%16 > 7 {
			a = a.T()
		}
		if r.IntN(3) == 0 { // as near to 1 as it gets
			a.SetBig(0, 0, new(big.Float).SetPrec(uint(f.Bits())).Sub(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -f.Bits())))
		}
		by := scale.Unscaled(n, n)
		for i := range n {
			by.Rows[i], by.Cols[i] = -int64(spread)-int64(r.IntN(1+40*(trial%3))), -int64(r.IntN(3))
		}
		if far := r.Int64N(1500) - 750; r.IntN(4) == 0 { // beyond what scale.NearPower has
			for i := range n {
				by.Rows[i] += far
				by.Cols[i] -= far
			}
		}
		s := prooftest.Run(t, 1+trial%2)
		m, err := fixed.New(&s.Call, a.View(), by, planes)
		if err != nil {
			t.Fatal(err)
		}
		c := make([]int64, n)
		for j := range c {
			c[j] = []int64{fixed.Shifted - 1, 1 - fixed.Shifted, 0, 1, -1, r.Int64N(fixed.Shifted), -r.Int64N(fixed.Shifted)}[r.IntN(7)]
		}
		v := fixed.NewVector(c)
		for i := range n {
			for w := 1; w <= planes; w++ {
				z := make([]uint64, w+2)
				m.Row(z, i, v, w)
				difference := numtest.Scaled(numtest.Signed(z), 1-64*w)
				most := new(big.Rat)
				for j, c := range c {
					x, _ := a.Big(i, j).Rat(nil)
					x.Mul(x, numtest.Scaled(big.NewInt(c), int(by.Rows[i]+by.Cols[j])))
					difference.Sub(difference, x)
					most.Add(most, numtest.Scaled(new(big.Int).Abs(big.NewInt(c)), 2-64*w))
				}
				if difference.Abs(difference).Cmp(most) > 0 {
					t.Fatalf("seed %d, trial %d, %v, n = %d: row %d by %v in %d of %d planes is off by %s, bound %s", seed, trial, f, n, i, c, w, planes, difference.FloatString(30), most.FloatString(30))
				}
			}
			if low := scale.LowestBit(a.View(), by); low <= int64(64*planes-1) {
				z := make([]uint64, planes+2)
				m.Row(z, i, v, planes)
				exact := numtest.Scaled(numtest.Signed(z), 1-64*planes)
				for j, c := range c {
					x, _ := a.Big(i, j).Rat(nil)
					exact.Sub(exact, x.Mul(x, numtest.Scaled(big.NewInt(c), int(by.Rows[i]+by.Cols[j]))))
				}
				if exact.Sign() != 0 {
					t.Fatalf("seed %d, trial %d, %v: row %d by %v is off by %s, and F is a multiple of 2^-%d", seed, trial, f, i, c, exact.FloatString(30), low)
				}
			}
		}
	}
}

// TestFixedWords compares operations on words with those of package big.
func TestFixedWords(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	random := func(words int) []uint64 {
		x := make([]uint64, words)
		top := r.IntN(64*words + 1)
		for k := range x {
			switch x[k] = r.Uint64(); {
			case 64*k >= top:
				x[k] = 0
			case 64*k+64 > top:
				x[k] &= 1<<uint(top-64*k) - 1
			}
		}
		if r.IntN(2) == 0 { // -x, or -x - 1
			for k := range x {
				x[k] = ^x[k]
			}
		}
		return x
	}
	for trial := range testlength.Of(20000, 100000, 1000000) {
		x, y, shift := random(1+r.IntN(4)), random(1+r.IntN(4)), r.IntN(600)-300
		want := numtest.Signed(y)
		if shift >= 0 {
			want.Lsh(want, uint(shift))
		} else {
			want.Rsh(want, uint(-shift)) // downwards
		}
		want.Sub(numtest.Signed(x), want)
		ring := new(big.Int).Lsh(big.NewInt(1), uint(64*len(x)))
		z := append([]uint64(nil), x...)
		fixed.SubtractShifted(z, y, shift)
		if got := numtest.Signed(z); want.Sub(want, got).Mod(want, ring).Sign() != 0 {
			t.Fatalf("seed %d, trial %d: %x - %x 2^%d = %x", seed, trial, x, y, shift, z)
		}

		top := fixed.BitLen(x)
		v := numtest.Signed(x)
		if one := big.NewInt(1); int64(x[len(x)-1]) < 0 && new(big.Int).Neg(v).Cmp(one.Lsh(one, uint(top))) > 0 || v.Sign() > 0 && v.BitLen() != top {
			t.Fatalf("seed %d, trial %d: the length of %x is %d", seed, trial, x, top)
		}
		top += r.IntN(3) * r.IntN(64)
		if top <= 64*len(x) {
			lead := numtest.Exact(fixed.Leading(x, top))
			d, _ := lead.Sub(lead, numtest.Scaled(v, -top)).Float64()
			if math.Abs(d) > 0x1p-51 {
				t.Fatalf("seed %d, trial %d: %x is %g 2^%d", seed, trial, x, fixed.Leading(x, top), top)
			}
			// What pieces leave is less than a bit of the last one.
			sum, pieces := new(big.Rat), 1+r.IntN(6)
			for m := range pieces {
				sum.Add(sum, numtest.Scaled(big.NewInt(fixed.Piece(x, top, m)), -fixed.PieceBits*(m+1)))
			}
			left := sum.Sub(numtest.Scaled(v, -top), sum)
			if left.Sign() < 0 || left.Cmp(numtest.Scaled(big.NewInt(1), -fixed.PieceBits*pieces)) >= 0 {
				t.Fatalf("seed %d, trial %d: %d pieces of %x, top %d, leave %s", seed, trial, pieces, x, top, left.FloatString(100))
			}
		}
	}
}

// TestTriangles compares rho and the bound of ‖R‖ with I - F R and R, computed exactly, at every
// level.
func TestTriangles(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	good, bad := 0, 0
	enough := func() bool { return good > 0 && bad > 0 }
	for trial := range testlength.Until(testlength.Of(60, 200, 2000), enough) {
		n := 1 + r.IntN(30)
		f := formats[r.IntN(len(formats))]
		a := lintest.Ill(r, f, n, r.IntN(50))
		level := isa.Portable
		if trial%2 == 0 {
			level = isa.Best()
		}
		restore := isa.Force(level)
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		cut := 1 + r.IntN(n)
		v, err := seed.TrianglesOf(s, lu, cut)
		if err == nil && v != nil && trial%3 == 0 {
			err = v.InvertUpper(s, n)
		}
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if v == nil || !(v.Rho <= seed.MostRho) {
			bad++
			continue
		}
		good++
		inverse := make([][]*big.Rat, n)
		for i := range inverse {
			inverse[i] = make([]*big.Rat, n)
		}
		for j := range n { // R = Z X P
			x := make([]*big.Rat, n)
			for k := range x {
				if x[k] = new(big.Rat); k >= j {
					x[k] = numtest.Exact(v.X[k+j*n])
				}
			}
			for i, z := range upperInverse(v, x) {
				inverse[i][v.Perm[j]] = z
			}
		}
		prooftest.CheckInverse(t, fmt.Sprintf("seed %d, trial %d, n = %d", draw, trial, n), lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols), inverse, v.Rho, v.Norm)
	}
	if !enough() {
		t.Fatalf("%d good and %d bad inverses", good, bad)
	}
}

// upperInverse returns Z x.
func upperInverse(t *seed.Triangles, x []*big.Rat) []*big.Rat {
	n, z := t.N, make([]*big.Rat, t.N)
	first, second := t.Blocks()
	sum := func(y []float64, ld, i int, x []*big.Rat) *big.Rat {
		z := new(big.Rat)
		for k := i; k < len(x); k++ {
			z.Add(z, new(big.Rat).Mul(numtest.Exact(y[i+k*ld]), x[k]))
		}
		return z
	}
	for i := t.Cut; i < n; i++ {
		z[i] = sum(second, n-t.Cut, i-t.Cut, x[t.Cut:])
	}
	above := make([]*big.Rat, t.Cut)
	for i := range above {
		above[i] = new(big.Rat).Set(x[i])
		for k := t.Cut; k < n; k++ {
			above[i].Sub(above[i], new(big.Rat).Mul(numtest.Exact(t.LU[i+k*n]), z[k]))
		}
	}
	for i := range t.Cut {
		z[i] = sum(first, t.Cut, i, above)
	}
	return z
}

// wrong is an inverse that corrects wrongly.
type wrong struct {
	seed.Inverse
	rand *rand.Rand
	how  int
	c    []float64
}

func (w *wrong) Correct(r *seed.Residual) ([][]float64, error) {
	pieces, err := w.Inverse.Correct(r)
	if err != nil {
		return nil, err
	}
	w.c = pieces[0]
	for p := range pieces {
		pieces[p] = w.spoil(pieces[p])
	}
	return pieces, nil
}

func (w *wrong) spoil(c []float64) []float64 {
	z := append([]float64(nil), c...)
	for i := range z {
		switch w.how {
		case 0:
			z[i] *= 1 + 0.2*w.rand.Float64()
		case 1:
			z[i] = w.rand.NormFloat64()
		case 2:
			z[i] = 0
		case 3:
			z[i] *= math.Ldexp(1, w.rand.IntN(2000)-1000)
		case 4:
			z[i] = []float64{z[i], math.NaN(), math.Inf(1)}[w.rand.IntN(3)]
		}
	}
	return z
}

func (w *wrong) Radius(r *seed.Residual, _ []float64) []float64 { return w.Inverse.Radius(r, w.c) }

// TestWrongCorrections solves with corrections that are anything but R r: what is decided is right
// all the same.
func TestWrongCorrections(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	decided := map[string]int{}
	kinds := []string{"triangles0", "float0", "wide0", "triangles5", "float5", "wide5", "blocks"}
	if lanes.Bits() > 0 {
		kinds = append(kinds, "digits")
	}
	enough := func() bool {
		return !slices.ContainsFunc(kinds, func(kind string) bool { return decided[kind] == 0 })
	}
	for trial := range testlength.Until(testlength.Of(160, 500, 20000), enough) {
		n := 1 + r.IntN(6)
		f, g := formats[r.IntN(len(formats))], formats[r.IntN(len(formats))]
		a, b := lintest.Ill(r, g, n, r.IntN(40)), halfulp.Random(g, n, 1, 0, r.Uint64())
		if trial%4 == 0 {
			a, b = lintest.Integers(r, n, n, 9), lintest.Integers(r, n, 1, 9)
		}
		want := lintest.Of(a).Solve(lintest.Of(b))
		if want == nil {
			continue
		}
		s := prooftest.Run(t, 1)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		w := &wrong{rand: r, how: trial / 12 % 6} // with inverses of all kinds; 5: not wrong
		kind := "triangles"
		cut := n
		if trial%3 == 1 {
			cut = 1 + r.IntN(n)
		}
		if v, err := seed.TrianglesOf(s, lu, cut); err != nil {
			t.Fatal(err)
		} else if v != nil && v.Rho <= seed.MostRho && trial%3 > 0 {
			w.Inverse = v
			if trial%3 > 1 {
				kind = "float"
				z, err := seed.NewFloatInverse(s, a.View(), v)
				if err != nil {
					t.Fatal(err)
				}
				if !(z.Rho <= seed.MostRho) { // its bounds of roundings are larger for small orders
					continue
				}
				w.Inverse = z
			}
		} else if v := digitsOf(t, s, a, lu, 400); v != nil && trial%4 == 1 {
			kind = "digits"
			w.Inverse = v
		} else if v, _, err := blocks.Eliminate(s, a.View(), lu, 400, 1+r.IntN(3)); err == nil && trial%2 == 0 {
			kind = "blocks"
			w.Inverse = v
		} else {
			kind = "wide"
			p, err := solve.InvertBy(s, a.View(), lu)
			if err != nil {
				t.Fatal(err)
			}
			if w.Inverse, err = refine.NewWideInverse(s, p); err != nil {
				t.Fatal(err)
			}
		}
		z := halfulp.NewMatrix(f, n, 1)
		todo := ziv.NewEntries(s, a.View(), b.View(), z.View())
		left := map[int]bool{}
		open := todo[0]
		if err := refine.SolveFew(s, a.View(), b.View(), z.View(), w, todo); err != nil {
			t.Fatal(err)
		}
		for _, i := range open.Open {
			left[i] = true
		}
		for i := range n {
			if left[i] {
				continue
			}
			decided[fmt.Sprint(kind, w.how)]++
			decided[kind]++
			if x := lintest.Nearest(f, want[i][0]); !z.At(i, 0).Same(x) {
				t.Fatalf("seed %d, trial %d, %v, n = %d, %s, corrections wrong by %d: x[%d] = %s, want %s", draw, trial, f, n, kind, w.how, i, z.At(i, 0).Hex(), x.Hex())
			}
		}
	}
	if !enough() {
		t.Errorf("nothing was decided of one of %v (%v)", kinds, decided)
	}
}

// TestSolveIll has condition numbers up to 2^400, and right-hand sides of several columns.
func TestSolveIll(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(10, 100, 3000) {
		n, k := 2+r.IntN(12), 1+r.IntN(3)
		f := formats[r.IntN(len(formats))]
		a := lintest.Ill(r, halfulp.MP(uint(60+r.IntN(400))), n, r.IntN(400))
		b := halfulp.Random(formats[r.IntN(len(formats))], n, k, r.IntN(100), r.Uint64())
		if r.IntN(4) == 0 { // an entry far below the others
			b = halfulp.NewMatrix(halfulp.Float64, n, k)
			b.SetFloat64(r.IntN(n), 0, 1)
		}
		check(t, fmt.Sprintf("seed %d, trial %d, %v, n = %d", seed, trial, f, n), a, b, f)
	}
}

// idle is an inverse whose corrections vanish after the first one.
type idle struct{ seed.Inverse }

func (t idle) Correct(r *seed.Residual) ([][]float64, error) {
	z, err := t.Inverse.Correct(r)
	if r.X != nil {
		clear(z[0])
	}
	return z, err
}

// TestNoCorrection gives up where corrections vanish and the residual does not.
func TestNoCorrection(t *testing.T) {
	const n = 5
	a, b := halfulp.Random(halfulp.Float64, n, n, 0, 1), halfulp.Random(halfulp.Float64, n, 1, 0, 2)
	z := halfulp.NewMatrix(halfulp.Float64, n, 1)
	s, _, err := begin("Solve", nil)
	if err != nil {
		t.Fatal(err)
	}
	lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := seed.InvertTriangles(s, lu)
	if err != nil || r == nil {
		t.Fatalf("no inverse: %v", err)
	}
	todo := ziv.NewEntries(s, a.View(), b.View(), z.View())
	if err := refine.SolveFew(s, a.View(), b.View(), z.View(), idle{r}, todo); err != nil || ziv.CountOpen(todo) != n {
		t.Errorf("%d entries are left, %v", ziv.CountOpen(todo), err)
	}
}
