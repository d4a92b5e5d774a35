package modgemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

// seed of all random tests; a failure prints what is needed to repeat it.
const seed = 20260

func newRand(t testing.TB) *rand.Rand { return testseed.Rand(t, seed, 0) }

// eachKernel runs f under every kernel of this machine.
func eachKernel(t *testing.T, f func(t *testing.T, k *Kernel)) {
	for _, k := range Kernels() {
		t.Run(k.Name, func(t *testing.T) { f(t, k) })
	}
}

// TestKernels lists the kernels that the other tests run under. Where the environment
// variable HALFULP_WANT_KERNELS holds names, comma-separated, they must be among them:
// for machines that are there to test just those.
func TestKernels(t *testing.T) {
	if err := isa.CheckEnv(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range Kernels() {
		names = append(names, k.Name)
		if got, err := Lookup(k.Name); got != k || err != nil {
			t.Errorf("Lookup(%q) = %v, %v", k.Name, got, err)
		}
		if k.MR%3 != 0 || k.MR > maxMR || k.MaxModulus != maxModulus || k.kc%k.ResiduePairs != 0 {
			t.Errorf("kernel %s: sizes %+v", k.Name, k)
		}
	}
	t.Logf("level %v, kernels run: %s", isa.Level(), strings.Join(names, ", "))
	if want := os.Getenv("HALFULP_WANT_KERNELS"); want != "" {
		for name := range strings.SplitSeq(want, ",") {
			if !slices.Contains(names, name) {
				t.Errorf("kernel %q does not run here", name)
			}
		}
	}
	if names[len(names)-1] != "generic" {
		t.Errorf("the last of %v is not generic", names)
	}
}

func TestLookup(t *testing.T) {
	if _, err := Lookup("sse2"); err == nil || !strings.Contains(err.Error(), `unknown kernel "sse2"`) || !strings.Contains(err.Error(), "generic") {
		t.Errorf("Lookup of an unknown kernel: %v", err)
	}
	defer isa.Force(isa.Portable)()
	for _, k := range kernels {
		_, err := Lookup(k.Name)
		if k.Name == "generic" {
			if err != nil {
				t.Error(err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "not available at level \"portable\"") {
			t.Errorf("Lookup(%q) at level portable: %v", k.Name, err)
		}
	}
	if ks := Kernels(); len(ks) != 1 || Best() != generic {
		t.Errorf("Kernels() at level portable: %d kernels, best %s", len(ks), Best().Name)
	}
}

// TestBounds checks the arithmetic of bounds.go.
func TestBounds(t *testing.T) {
	const most = math.MaxInt32 - (1<<foldBits - 1 + 1<<(31-foldBits)*maxResidue)
	for _, c := range []struct {
		name string
		sum  int64
		most int64
	}{
		{"residues", 2 * residuePairs * maxResidue * maxResidue, most},
		{"more residues", -2 * (residuePairs + 1) * maxResidue * maxResidue, -most - 1},
		{"digits", 2 * digitPairs * maxResidue * (1 << 15), most},
		{"more digits", -2 * (digitPairs + 1) * maxResidue * (1 << 15), -most - 1},
		{"combine", 2 * combinePairs * maxResidue * (1 << (combineBits - 1)), math.MaxInt32},
	} {
		if c.sum > c.most {
			t.Errorf("%s: %d > %d", c.name, c.sum, c.most)
		}
	}
}

const guardWord = 0x5aa5

// guarded returns n elements that are followed, and preceded, by guard words, and a
// function that reports whether those still stand. Elements start as garbage.
func guarded[T int16 | int64](n int) ([]T, func() bool) {
	const g = 64
	all := make([]T, n+2*g)
	for i := range all {
		all[i] = guardWord
	}
	return all[g : g+n : g+n], func() bool {
		for i := range g {
			if all[i] != guardWord || all[g+n+i] != guardWord {
				return false
			}
		}
		return true
	}
}

// A filler gives the elements of a test operand, within lim in magnitude.
type filler struct {
	name string
	at   func(r *rand.Rand, lim int) int16
}

var fillers = []filler{
	{"random", func(r *rand.Rand, lim int) int16 { return int16(r.IntN(2*lim+1) - lim) }},
	{"max", func(_ *rand.Rand, lim int) int16 { return int16(lim) }},
	{"min", func(_ *rand.Rand, lim int) int16 { return int16(-lim) }},
	{"signs", func(r *rand.Rand, lim int) int16 { return int16(lim - 2*lim*r.IntN(2)) }},
	{"zero", func(*rand.Rand, int) int16 { return 0 }},
}

// digits are the same for any int16.
var digitFillers = []filler{
	{"random", func(r *rand.Rand, _ int) int16 { return int16(r.Uint32()) }},
	{"max", func(*rand.Rand, int) int16 { return math.MaxInt16 }},
	{"min", func(*rand.Rand, int) int16 { return math.MinInt16 }},
}

func fill(r *rand.Rand, s []int16, f filler, lim int) {
	for i := range s {
		s[i] = f.at(r, lim)
	}
}

func randomModulus(r *rand.Rand) int {
	switch r.IntN(4) {
	case 0:
		return 2 + r.IntN(8)
	case 1:
		return maxModulus - r.IntN(3)
	}
	return 3 + r.IntN(maxModulus-2)
}

var tilePairs = []int{0, 1, 2, 3, 4, 5, 7, 8, 13, 14, 15, 16, 31, 62, 63, 64, 65, 70, 125, 126, 127, 200, 252}

// TestModTiles compares one or two tiles with sums in int64 and one %.
func TestModTiles(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *Kernel) {
		r := newRand(t)
		run := func(kPairs, block int, fa, fb filler, limB int, accumulate bool, moduli []int) {
			panels := len(moduli) / k.MR
			rows := NewRowModuli(k, moduli)
			a, aOK := guarded[int16](2 * k.MR * kPairs * panels)
			b, bOK := guarded[int16](2 * k.NR * kPairs)
			ldc := k.NR + r.IntN(5)
			c, cOK := guarded[int16]((panels*k.MR-1)*ldc + k.NR)
			fill(r, a, fa, maxResidue)
			fill(r, b, fb, limB)
			fill(r, c, fillers[r.IntN(4)], maxResidue)
			if r.IntN(4) == 0 {
				fill(r, c, digitFillers[r.IntN(3)], 0)
			}
			a0, b0, c0 := slices.Clone(a), slices.Clone(b), slices.Clone(c)
			k.modTiles(c, ldc, a, 2*k.MR*kPairs, b, panels, kPairs, block, rows.r.m, rows.r.inv, rows.r.step, k.MR, accumulate)
			what := fmt.Sprintf("seed %d, %d pairs, block %d, a %s, b %s, accumulate %v, moduli %v", seed, kPairs, block, fa.name, fb.name, accumulate, moduli)
			if !aOK() || !bOK() || !cOK() || !slices.Equal(a, a0) || !slices.Equal(b, b0) {
				t.Fatalf("%s: write outside the result", what)
			}
			for i := range c {
				row, col := i/ldc, i%ldc
				if col >= k.NR {
					if c[i] != c0[i] {
						t.Fatalf("%s: write between rows", what)
					}
					continue
				}
				var sum int64
				if accumulate {
					sum = int64(c0[i])
				}
				for h := range 2 * kPairs {
					sum += int64(a0[2*((row/k.MR*kPairs+h/2)*k.MR+row%k.MR)+h%2]) * int64(b0[h/2*2*k.NR+2*col+h%2])
				}
				if want := referenceMod(sum, moduli[row]); int64(c[i]) != want {
					t.Fatalf("%s: c[%d,%d] = %d, want %d = %d mod %d", what, row, col, c[i], want, sum, moduli[row])
				}
			}
		}
		randomModuli := func() []int {
			moduli := make([]int, k.MR*(1+r.IntN(2)))
			for i := range moduli {
				moduli[i] = randomModulus(r)
			}
			return moduli
		}
		for _, kPairs := range tilePairs {
			for _, fa := range fillers {
				for _, acc := range []bool{false, true} {
					for _, fb := range fillers {
						run(kPairs, k.ResiduePairs, fa, fb, maxResidue, acc, randomModuli())
					}
					for _, fb := range digitFillers {
						run(kPairs, k.DigitPairs, fa, fb, 0, acc, randomModuli())
					}
				}
			}
		}
		// Every modulus once, on sums of all sizes.
		for m := 2; m <= maxModulus; m += k.MR {
			moduli := make([]int, k.MR)
			for i := range moduli {
				moduli[i] = min(m+i, maxModulus)
			}
			f := fillers[:4]
			run(1+r.IntN(130), k.ResiduePairs, f[r.IntN(4)], f[r.IntN(4)], maxResidue, r.IntN(2) == 0, moduli)
		}
	})
}

// referenceMod is the representative of x in (-m/2, m/2], by search.
func referenceMod(x int64, m int) int64 {
	r := x % int64(m)
	for 2*r > int64(m) {
		r -= int64(m)
	}
	for 2*r <= -int64(m) {
		r += int64(m)
	}
	return r
}

// TestExactFold gives tiles sums that are, or are next to, odd multiples of m/2, where
// the rounding of the quotient is hardest, on top of large sums.
func TestExactFold(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *Kernel) {
		const kPairs = residuePairs
		a := make([]int16, 2*k.MR*kPairs)
		b := make([]int16, 2*k.NR*kPairs)
		c := make([]int16, k.MR*k.NR)
		r := newRand(t)
		for m := 2; m <= maxModulus; m++ {
			if m > 200 && m < maxModulus-200 && m%37 != 0 {
				continue
			}
			mod := NewModulus(m)
			clear(b)
			for i := range a {
				a[i] = maxResidue
			}
			// Column j: large s maxResidue plus old C, next to a multiple of m/2.
			var want [64]int64
			for j := range k.NR {
				var sum int64
				for h := range 2 * kPairs {
					x := int16(r.IntN(2*maxResidue+1) - maxResidue)
					if j%3 == 0 {
						x = int16(maxResidue - 2*maxResidue*(j%2))
					}
					b[h/2*2*k.NR+2*j+h%2] = x
					sum += int64(x) * maxResidue
				}
				half := int64(m/2 + j%3 - 1)
				d := (half - sum) % int64(m) // brings sum next to m/2 modulo m
				for i := range k.MR {
					c[i*k.NR+j] = int16(d)
				}
				want[j] = referenceMod(sum+d, m)
			}
			k.modTiles(c, k.NR, a, 0, b, 1, kPairs, k.ResiduePairs, mod.m, mod.inv, mod.step, 0, true)
			for i := range c {
				if int64(c[i]) != want[i%k.NR] {
					t.Fatalf("seed %d, m = %d: c[%d,%d] = %d, want %d", seed, m, i/k.NR, i%k.NR, c[i], want[i%k.NR])
				}
			}
		}
	})
}

// someRange returns a range of n: all of it, or another one, perhaps empty.
func someRange(r *rand.Rand, n int) (from, to int) {
	if r.IntN(2) == 0 {
		return 0, n
	}
	from, to = r.IntN(n+1), r.IntN(n+1)
	return min(from, to), max(from, to)
}

// TestMul multiplies ranges of whole matrices by way of the packing functions.
func TestMul(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *Kernel) {
		r := newRand(t)
		for _, s := range [][3]int{{1, 1, 1}, {1, 1, 0}, {0, 3, 2}, {3, 0, 2}, {7, 17, 3}, {13, 33, 129}, {30, 70, 511}, {25, 40, 1030}, {(k.mc + 2) * k.MR, 9, 6}} {
			m, n, kk := s[0], s[1], s[2]
			modulus := randomModulus(r)
			f := fillers[r.IntN(len(fillers))]
			a, b := make([]int16, m*kk), make([]int16, kk*n)
			fill(r, a, f, maxResidue)
			fill(r, b, fillers[r.IntN(4)], maxResidue)
			pa, paOK := guarded[int16](LeftLen(k, m, kk))
			pb, pbOK := guarded[int16](RightLen(k, kk, n))
			PackLeft(k, pa, a, m, kk, kk)
			PackRight(k, pb, b, kk, n, n)
			mp, np := LeftPanels(k, m), RightPanels(k, n)
			ldc := np*k.NR + 3
			c, cOK := guarded[int16](max(0, (mp*k.MR-1)*ldc+np*k.NR))
			from, to := someRange(r, Pairs(kk))
			Mul(k, c, ldc, pa, pb, mp, np, Pairs(kk), from, to, NewModulus(modulus))
			what := fmt.Sprintf("seed %d, %d x %d x %d, pairs %d to %d, modulo %d", seed, m, n, kk, from, to, modulus)
			if !paOK() || !pbOK() || !cOK() {
				t.Fatalf("%s: write outside", what)
			}
			for i := range mp * k.MR {
				for j := range np * k.NR {
					var sum int64
					if i < m && j < n {
						for h := 2 * from; h < min(2*to, kk); h++ {
							sum += int64(a[i*kk+h]) * int64(b[h*n+j])
						}
					}
					if want := referenceMod(sum, modulus); int64(c[i*ldc+j]) != want {
						t.Fatalf("%s: c[%d,%d] = %d, want %d", what, i, j, c[i*ldc+j], want)
					}
				}
			}
		}
	})
}

func TestConvert(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *Kernel) {
		r := newRand(t)
		pool := Moduli(13)
		for _, s := range [][3]int{{1, 1, 1}, {7, 40, 3}, {14, 33, 16}, {29, 65, 40}, {5, 20, 700}} {
			nm, ne, nd := s[0], s[1], s[2]
			moduli := make([]int, nm)
			for i := range moduli {
				moduli[i] = pool[r.IntN(len(pool))]
			}
			constants, digits := make([]int16, nm*nd), make([]int16, nd*ne)
			for i := range constants {
				constants[i] = int16(r.IntN(moduli[i/nd]) - (moduli[i/nd]-1)/2)
			}
			fill(r, digits, digitFillers[r.IntN(3)], 0)
			pc, pd := make([]int16, LeftLen(k, nm, nd)), make([]int16, RightLen(k, nd, ne))
			PackLeft(k, pc, constants, nm, nd, nd)
			PackRight(k, pd, digits, nd, ne, ne)
			mp, ep := LeftPanels(k, nm), RightPanels(k, ne)
			stride := ep*k.NR + 16
			out, ok := guarded[int16]((mp*k.MR-1)*stride + ep*k.NR)
			Convert(k, out, stride, pc, pd, mp, ep, Pairs(nd), NewRowModuli(k, moduli))
			if !ok() {
				t.Fatalf("seed %d, sizes %v: write outside", seed, s)
			}
			for i := range nm {
				for e := range ne {
					var sum int64
					for h := range nd {
						sum += int64(constants[i*nd+h]) * int64(digits[h*ne+e])
					}
					if want := referenceMod(sum, moduli[i]); int64(out[i*stride+e]) != want {
						t.Fatalf("seed %d, sizes %v: residue %d of entry %d modulo %d is %d, want %d", seed, s, i, e, moduli[i], out[i*stride+e], want)
					}
				}
			}
		}
	})
}

func TestCombine(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *Kernel) {
		r := newRand(t)
		for _, kPairs := range []int{0, 1, 2, 3, 5, 63, 64, 65, 130, 300} {
			for _, f := range fillers {
				wp, yp := 1+r.IntN(3), 1+r.IntN(3)
				w, wOK := guarded[int16](2 * k.MR * wp * kPairs)
				y, yOK := guarded[int16](2 * k.NR * yp * kPairs)
				fill(r, w, f, maxResidue+1)
				fill(r, y, fillers[r.IntN(4)], maxResidue)
				stride := yp*k.NR + r.IntN(4)
				out, outOK := guarded[int64]((wp*k.MR/3-1)*stride + yp*k.NR)
				Combine(k, out, stride, w, y, wp, yp, kPairs)
				what := fmt.Sprintf("seed %d, %d x %d panels, %d pairs, weights %s", seed, wp, yp, kPairs, f.name)
				if !wOK() || !yOK() || !outOK() {
					t.Fatalf("%s: write outside", what)
				}
				for i := range out {
					g, e := i/stride, i%stride
					want := int64(guardWord)
					if e < yp*k.NR {
						want = 0
						for d := range 3 {
							var sum int64
							row := 3*g + d
							for h := range 2 * kPairs {
								sum += int64(w[2*((row/k.MR*kPairs+h/2)*k.MR+row%k.MR)+h%2]) *
									int64(y[2*((e/k.NR*kPairs+h/2)*k.NR+e%k.NR)+h%2])
							}
							want += sum * int64(math.Pow(2, float64(13*d)))
						}
					}
					if out[i] != want {
						t.Fatalf("%s: out[%d,%d] = %d, want %d", what, g, e, out[i], want)
					}
				}
			}
		}
	})
}

func TestPackPlanes(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *Kernel) {
		r := newRand(t)
		for _, planes := range []int{0, 1, 2, 3, 4, 9, 30} {
			for _, panels := range []int{0, 1, 3} {
				entries := panels * k.NR
				stride := entries + r.IntN(9)
				src, srcOK := guarded[int16](max(0, (planes-1)*stride+entries))
				fill(r, src, digitFillers[0], 0)
				src0 := slices.Clone(src)
				dst, dstOK := guarded[int16](RightLen(k, planes, entries))
				want := make([]int16, len(dst))
				PackPlanes(k, dst, src, stride, planes, panels)
				PackRight(k, want, src0, planes, entries, stride)
				if !srcOK() || !dstOK() || !slices.Equal(src, src0) {
					t.Fatalf("seed %d, %d planes, %d panels: write outside", seed, planes, panels)
				}
				if !slices.Equal(dst, want) {
					t.Fatalf("seed %d, %d planes, %d panels: got %v, want %v", seed, planes, panels, dst, want)
				}
			}
		}
	})
}

// TestChecks looks at the arguments that must not reach assembly.
func TestChecks(t *testing.T) {
	k := Best()
	m := NewModulus(3)
	s := func(n int) []int16 { return make([]int16, n) }
	left, right, tile := 2*k.MR, 2*k.NR, k.MR*k.NR
	for _, c := range []struct {
		want string
		f    func()
	}{
		{shortOperand, func() { Mul(k, s(tile-1), k.NR, s(left), s(right), 1, 1, 1, 0, 1, m) }},
		{shortOperand, func() { Mul(k, s(tile), k.NR, s(left-1), s(right), 1, 1, 1, 0, 1, m) }},
		{shortOperand, func() { Mul(k, s(tile), k.NR, s(left), s(right-1), 1, 1, 1, 0, 1, m) }},
		{badStride, func() { Mul(k, s(tile), k.NR-1, s(left), s(right), 1, 1, 1, 0, 1, m) }},
		{badSize, func() { Mul(k, s(tile), k.NR, s(left), s(right), 1, 1, -1, 0, -1, m) }},
		{badRange, func() { Mul(k, s(tile), k.NR, s(left), s(right), 1, 1, 1, 0, 2, m) }},
		{badRange, func() { Mul(k, s(tile), k.NR, s(left), s(right), 1, 1, 1, 1, 0, m) }},
		{badRange, func() { MulAdd(k, s(tile), k.NR, s(left), s(right), 1, 1, 1, -1, 1, m) }},
		{badModuli, func() { Convert(k, s(tile), k.NR, s(left), s(right), 1, 1, 1, RowModuli{}) }},
		{shortOperand, func() { Combine(k, make([]int64, tile/3-1), k.NR, s(left), s(right), 1, 1, 1) }},
		{shortOperand, func() { Combine(k, make([]int64, tile/3), k.NR, s(left), s(right-1), 1, 1, 1) }},
		{badStride, func() { Combine(k, make([]int64, tile/3), 1, s(left), s(right), 1, 1, 1) }},
		{shortOperand, func() { PackPlanes(k, s(right-1), s(2*k.NR), k.NR, 2, 1) }},
		{shortOperand, func() { PackPlanes(k, s(right), s(2*k.NR-1), k.NR, 2, 1) }},
		{shortOperand, func() { PackLeft(k, s(left-1), s(2), 1, 2, 2) }},
		{shortOperand, func() { PackRight(k, s(right), s(1), 1, 2, 2) }},
		{badModulus, func() { NewModulus(1) }},
		{badModulus, func() { NewModulus(8192) }},
		{badModulus, func() { NewRowModuli(k, []int{3, 0}) }},
		{badWidth, func() { Moduli(14) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %q", got, c.want)
				}
			}()
			c.f()
		}()
	}
}

func TestModuli(t *testing.T) {
	for width := 2; width <= 13; width++ {
		moduli := Moduli(width)
		var bits float64
		for i, m := range moduli {
			if m < 2 || m >= 1<<width || i > 0 && m >= moduli[i-1] {
				t.Fatalf("width %d: modulus %d at %d", width, m, i)
			}
			for _, n := range moduli[:i] {
				if GCD(m, n) != 1 {
					t.Fatalf("width %d: GCD(%d, %d) = %d", width, m, n, GCD(m, n))
				}
			}
			bits += math.Log2(float64(m))
		}
		t.Logf("width %d: %d moduli, %.0f bits, from %d to %d", width, len(moduli), bits, moduli[0], moduli[len(moduli)-1])
		if width == 13 && bits < 11000 {
			t.Errorf("only %.0f bits", bits)
		}
	}
	moduli := Moduli(13)
	moduli[0] = 0
	if Moduli(13)[0] == 0 {
		t.Error("Moduli returns its cache")
	}
}
