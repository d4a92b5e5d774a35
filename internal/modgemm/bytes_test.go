package modgemm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/amx"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testlength"
)

// byteKernels returns the kernels of bytes that run here, the emulated one always.
func byteKernels(t testing.TB) []*ByteKernel {
	ks := []*ByteKernel{ByteEmulation}
	if k := BestBytes(); k != nil {
		ks = append(ks, k)
	} else {
		t.Logf("level %v: no tiles, only the emulation runs", isa.Level())
	}
	return ks
}

// randomBytes fills s with residues modulo 256 or less of one kind: any, or the extremes.
func randomBytes(r *rand.Rand, s []int8, mod ByteModulus) {
	least := -math.MaxInt8
	if mod.m == 256 {
		least = math.MinInt8
	}
	kind := r.IntN(5)
	for i := range s {
		switch kind {
		case 0:
			s[i] = int8(least)
		case 1:
			s[i] = math.MaxInt8
		case 2:
			s[i] = int8(least + (math.MaxInt8-least)*r.IntN(2))
		default:
			s[i] = int8(max(least, int(int8(r.Uint32()))))
		}
	}
}

// splitAny fills planes, stride apart, with residues modulo Karatsuba moduli: random ones, or ones
// that make the largest products.
func splitAny(r *rand.Rand, s []int8, stride int) {
	n := len(s) - 2*stride
	extreme := r.IntN(2) == 0
	for i := range n {
		x0, x1 := splitResidue(int64(r.IntN(maxByteModulus) - maxByteModulus/2))
		if extreme {
			x1 = 127 * (2*int64(r.IntN(2)) - 1)
			x0 = -x1 * int64(r.IntN(2))
		}
		s[i], s[stride+i], s[2*stride+i] = int8(x0), int8(x1), int8(x0+x1)
	}
}

// TestLargestByteSums has all products of Karatsuba moduli alike, of bytes a0 and a1 for which the
// sums of a0 b0, a1 b1 or the mixed products are the largest there are.
func TestLargestByteSums(t *testing.T) {
	pool := ByteModuli()
	bytes := [][2]int64{{0, 127}, {0, -127}, {-127, 127}, {127, -127}}
	const steps, plane = karatsubaSteps, amx.StepBytes * karatsubaSteps
	operand := func(x [2]int64) bytePanels {
		s := AlignedBytes(make([]int8, karatsubaPlanes*plane+63), karatsubaPlanes*plane)
		for i := range plane {
			s[i], s[plane+i], s[2*plane+i] = int8(x[0]), int8(x[1]), int8(x[0]+x[1])
		}
		return bytePanels{data: s, stride: plane, plane: plane}
	}
	for _, k := range byteKernels(t) {
		for _, m := range []int{pool.Moduli[pool.Plain], pool.Moduli[len(pool.Moduli)-1]} {
			mod := NewByteModulus(m)
			for _, x := range bytes {
				for _, y := range bytes {
					old := int64(math.MinInt16)
					if x[1] > 0 {
						old = math.MaxInt16
					}
					c := slices.Repeat([]int16{int16(old)}, PanelVectors*PanelVectors)
					k.tiles(c, PanelVectors, operand(x), operand(y), 1, steps, &mod, true)
					want := int16(referenceMod(old+steps*StepNumbers*(128*x[1]+x[0])*(128*y[1]+y[0]), m))
					for i, v := range c {
						if v != want {
							t.Fatalf("%s, m %d: bytes %v by %v: c[%d] = %d, want %d", k.Name, m, x, y, i, v, want)
						}
					}
				}
			}
		}
	}
}

func guardedBytes(n int) ([]int8, func() bool) {
	const g = 128
	all := AlignedBytes(make([]int8, n+2*g+63), n+2*g)
	for i := range all {
		all[i] = 0x5a
	}
	return all[g : g+n : g+n], func() bool {
		for i := range g {
			if all[i] != 0x5a || all[g+n+i] != 0x5a {
				return false
			}
		}
		return true
	}
}

// TestByteTiles compares blocks with byteTilesGeneric.
func TestByteTiles(t *testing.T) {
	pool := ByteModuli()
	for _, k := range byteKernels(t) {
		t.Run(k.Name, func(t *testing.T) {
			r := newRand(t)
			trials := 400
			if k == ByteEmulation {
				trials = 40
			}
			for trial := range trials {
				m := pool.Moduli[r.IntN(len(pool.Moduli))]
				switch trial {
				case 0:
					m = 256
				case 1:
					m = pool.Moduli[pool.Plain]
				case 2:
					m = pool.Moduli[pool.Plain-1]
				}
				mod := NewByteModulus(m)
				most, planes := mod.steps(), mod.planes()
				steps, panels := 1+r.IntN(min(most, byteSteps)), 1+r.IntN(3)
				if trial < 5 {
					steps = most
				}
				accumulate := r.IntN(2) == 0
				stride := PanelBytes(steps) + 64*r.IntN(3)
				operand := func(panels int) (bytePanels, func() bool) {
					x := bytePanels{stride: stride, plane: stride*panels + 64*r.IntN(3), next: r.IntN(1 << 12)}
					s, ok := guardedBytes((planes-1)*x.plane + stride*panels)
					randomBytes(r, s, mod)
					if planes > 1 {
						splitAny(r, s, x.plane)
					}
					x.data = s
					return x, ok
				}
				a, aOK := operand(panels)
				b, bOK := operand(1)
				ldc := PanelVectors + r.IntN(40)
				c, cOK := guarded[int16]((panels*PanelVectors-1)*ldc + PanelVectors)
				fill(r, c, digitFillers[r.IntN(3)], 0)
				want := slices.Clone(c)
				byteTilesGeneric(want, ldc, a, b, panels, steps, &mod, accumulate)
				k.tiles(c, ldc, a, b, panels, steps, &mod, accumulate)
				if !aOK() || !bOK() || !cOK() {
					t.Fatalf("seed %d, trial %d: write outside", seed, trial)
				}
				for i := range c {
					if c[i] != want[i] {
						t.Fatalf("seed %d, trial %d: m %d, %d panels, %d steps, accumulate %v: c[%d,%d] = %d, want %d",
							seed, trial, m, panels, steps, accumulate, i/ldc, i%ldc, c[i], want[i])
					}
				}
			}
		})
	}
}

// TestByteMul multiplies whole matrices of residues by way of the packing functions, modulo plain
// and Karatsuba moduli.
func TestByteMul(t *testing.T) {
	pool := ByteModuli()
	for _, k := range byteKernels(t) {
		t.Run(k.Name, func(t *testing.T) {
			r := newRand(t)
			for _, s := range [][3]int{{1, 1, 1}, {3, 0, 2}, {33, 31, 64}, {20, 70, 65}, {40, 33, 1100}, {3, 2, 2100}, {(8+1)*32 + 1, 5, 10}} {
				for _, plain := range []bool{true, false} {
					m, n, kk := s[0], s[1], s[2]
					modulus := pool.Moduli[r.IntN(pool.Plain)]
					if !plain {
						modulus = pool.Moduli[pool.Plain+r.IntN(len(pool.Moduli)-pool.Plain)]
					}
					f := fillers[r.IntN(4)]
					x, y := make([]int16, m*kk), make([]int16, kk*n)
					fill(r, x, f, modulus/2)
					fill(r, y, fillers[r.IntN(4)], modulus/2)
					steps, mp, np := ByteSteps(kk), BytePanels(m), BytePanels(n)
					left := packPlanesOfBytes(k, x, true, m, kk, kk, 1, plain)
					right := packPlanesOfBytes(k, y, false, n, kk, 1, n, plain)
					ldc := np*PanelVectors + 3
					c, cOK := guarded[int16](max(0, (mp*PanelVectors-1)*ldc+np*PanelVectors))
					fill(r, c, digitFillers[0], 0)
					c0 := slices.Clone(c)
					accumulate := r.IntN(2) == 0
					mod := NewByteModulus(modulus)
					from, to := someRange(r, steps)
					planes := mod.planes()
					MulBytes(k, c, ldc, left, len(left)/planes, right, len(right)/planes, mp, np, steps, from, to, &mod, accumulate)
					what := fmt.Sprintf("seed %d, %d x %d x %d, steps %d to %d, modulo %d, accumulate %v", seed, m, n, kk, from, to, modulus, accumulate)
					if !cOK() {
						t.Fatalf("%s: write outside", what)
					}
					for i := range m {
						for j := range n {
							var sum int64
							if accumulate {
								sum = int64(c0[i*ldc+j])
							}
							for h := StepNumbers * from; h < min(StepNumbers*to, kk); h++ {
								sum += int64(x[i*kk+h]) * int64(y[h*n+j])
							}
							if want := referenceMod(sum, modulus); int64(c[i*ldc+j]) != want {
								t.Fatalf("%s: c[%d,%d] = %d, want %d", what, i, j, c[i*ldc+j], want)
							}
						}
					}
				}
			}
		})
	}
}

// packPlanesOfBytes returns an operand of residues as bytes: one plane, or three.
func packPlanesOfBytes(k *ByteKernel, x []int16, left bool, n, kk, vs, hs int, plain bool) []int8 {
	size := BytePanels(n) * PanelBytes(ByteSteps(kk))
	length := (len(x) + 63) / 64 * 64
	padded := append(slices.Clone(x), make([]int16, length-len(x))...)
	narrow := make([]int8, 3*length)
	planes := 3
	if plain {
		planes = 1
		k.Narrow(narrow, padded)
	} else {
		for i, x := range padded {
			x0, x1 := splitResidue(int64(x))
			narrow[i], narrow[length+i], narrow[2*length+i] = int8(x0), int8(x1), int8(x0+x1)
		}
	}
	out := make([]int8, planes*size)
	for p := range planes {
		wide := make([]int16, length)
		for i := range wide {
			wide[i] = int16(narrow[p*length+i])
		}
		PackBytes(out[p*size:], wide, left, n, kk, vs, hs)
	}
	return out
}

// TestByteStress multiplies on many goroutines, with garbage collections, preemption, and signals,
// which the runtime sends to threads that run long, and compares every result: tiles are part of a
// thread's state. Long, it takes a minute.
func TestByteStress(t *testing.T) {
	k := BestBytes()
	if k == nil {
		t.Skipf("level %v: no tiles", isa.Level())
	}
	limit := time.Second
	if testlength.Long() {
		limit = time.Minute
	}
	deadline := time.Now().Add(limit)
	pool := ByteModuli()
	var group sync.WaitGroup
	var stop, done atomic.Int64
	for id := range 8 * runtime.GOMAXPROCS(0) {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(id)))
			const panels, steps = 3, 15
			mod := NewByteModulus(pool.Moduli[r.IntN(len(pool.Moduli))])
			operand := func(panels int) bytePanels {
				x := bytePanels{stride: PanelBytes(steps), plane: panels * PanelBytes(steps)}
				x.data = make([]int8, mod.planes()*x.plane)
				randomBytes(r, x.data, mod)
				if mod.planes() > 1 {
					splitAny(r, x.data, x.plane)
				}
				return x
			}
			a, b := operand(panels), operand(1)
			want := make([]int16, panels*PanelVectors*PanelVectors)
			byteTilesGeneric(want, PanelVectors, a, b, panels, steps, &mod, false)
			for first := true; first || time.Now().Before(deadline) && stop.Load() == 0; first = false {
				for range 100 {
					c := make([]int16, len(want)) // garbage
					k.tiles(c, PanelVectors, a, b, panels, steps, &mod, false)
					if !slices.Equal(c, want) {
						t.Errorf("seed %d, goroutine %d: other numbers", seed, id)
						stop.Store(1)
						return
					}
					done.Add(1)
				}
				switch r.IntN(4) {
				case 0:
					runtime.Gosched()
				case 1:
					time.Sleep(time.Microsecond)
				}
			}
		})
	}
	group.Go(func() {
		for time.Now().Before(deadline) && stop.Load() == 0 {
			runtime.GC()
			signalSelf()
		}
	})
	group.Wait()
	t.Logf("%d products", done.Load())
}

// TestNarrowJoin takes every residue of the largest moduli to bytes and back.
func TestNarrowJoin(t *testing.T) {
	for _, k := range byteKernels(t) {
		t.Run(k.Name, func(t *testing.T) {
			const stride = 1<<15 + 64
			src, split := make([]int16, 1<<15), make([]int8, 2*stride)
			for i := range src {
				src[i] = int16(max(-maxSplit, min(maxSplit, i-1<<14)))
				x0, x1 := splitResidue(int64(src[i]))
				split[i], split[stride+i] = int8(x0), int8(x1)
			}
			joined, joinedOK := guarded[int16](len(src))
			k.Join(joined, split, stride)
			dst, ok := guardedBytes(len(src))
			k.Narrow(dst, src)
			for i, x := range src {
				if joined[i] != x {
					t.Fatalf("%d is joined to %d", x, joined[i])
				}
				if dst[i] != int8(x) {
					t.Fatalf("%d is narrowed to %d", x, dst[i])
				}
			}
			if !ok() || !joinedOK() {
				t.Fatal("write outside")
			}
		})
	}
}

// fma returns x y + z, rounded once.
func fma(x, y, z float32) float32 {
	s := new(big.Float).SetPrec(300).SetFloat64(float64(x))
	s.Mul(s, new(big.Float).SetFloat64(float64(y)))
	if z != 0 {
		s.Add(s, new(big.Float).SetFloat64(float64(z)))
	}
	f, _ := s.Float32()
	return f
}

// TestByteReduction follows the reduction of the assembly, float32 operation by operation, where it
// is hardest: sums next to half odd multiples of m, and the largest ones.
func TestByteReduction(t *testing.T) {
	const magic, bias = float32(1.5 * (1 << 23)), float32(1.0 / (1 << 15))
	coarse := func(x, inv, m float32) float32 { return fma(-(fma(x, inv, magic) - magic), m, x) }
	exact := func(x, inv, m float32) float32 {
		q := fma(x, inv, -bias) + magic
		return fma(-float32(q-magic), m, x)
	}
	const most = 1 << 24
	r := newRand(t)
	pool := ByteModuli()
	for i, m := range pool.Moduli {
		if i > 70 && i%97 != 0 && i != len(pool.Moduli)-1 {
			continue
		}
		mod := NewByteModulus(m)
		fm := float32(m)
		for range 200 {
			sum := int64(r.IntN(2*most+1) - most)
			switch r.IntN(4) {
			case 0: // next to half an odd multiple of m
				sum = sum/int64(m)*int64(m) + int64(m/2) + int64(r.IntN(3)-1)
			case 1:
				sum = int64(most - 2*most*r.IntN(2))
			}
			sum = max(-most, min(most, sum))
			if mod.planes() == 1 {
				x := coarse(float32(sum), mod.inv, fm)
				if math.Abs(float64(x)) > float64(m)/2+1.001 {
					t.Fatalf("coarse fold of %d modulo %d: %g", sum, m, x)
				}
				if got := int64(exact(x, mod.inv, fm)); got != referenceMod(sum, m) {
					t.Fatalf("%d mod %d = %d, want %d", sum, m, got, referenceMod(sum, m))
				}
				continue
			}
			// Modulo a Karatsuba modulus, from the largest sums.
			const steps = karatsubaSteps * StepNumbers
			some := func(most int) int64 {
				switch r.IntN(3) {
				case 0:
					return int64(most - 2*most*r.IntN(2))
				}
				return int64(r.IntN(2*most+1) - most)
			}
			low, high, mixed := some(steps*127*127), some(steps*127*127), some(2*steps*127*127)
			old := int64(int16(r.Uint32()))
			if r.IntN(2) == 0 {
				old = math.MinInt16
			}
			if r.IntN(2) == 0 { // next to half an odd multiple of m
				high, mixed = 0, 0
				low = low/int64(m)*int64(m) + int64(m/2) + int64(r.IntN(3)-1) - old
				low = max(-steps*127*127, min(steps*127*127, low))
			}
			fold := func(x int64) int64 { return wordFold(t, x, m) }
			y := fold(low + old + 128*fold(mixed+128*fold(high)))
			if max(y, -y) > int64(m/2+33) {
				t.Fatalf("a fold modulo %d leaves %d", m, y)
			}
			if y, want := fold(y), referenceMod(low+old+128*(mixed+128*high), m); y != want {
				t.Fatalf("%d + %d + 128 (%d + 128 %d) mod %d = %d, want %d", low, old, mixed, high, m, y, want)
			}
		}
	}
	if byteSteps*StepNumbers*127*127+1<<15 > most || evenSteps*StepNumbers<<14+1<<15 > most {
		t.Errorf("sums of %d steps, or %d, leave the bound", byteSteps, evenSteps)
	}
	if 2*karatsubaSteps*StepNumbers*127*127+128*(maxByteModulus/2+33) > 1<<28 {
		t.Errorf("sums of %d steps leave the bound modulo Karatsuba moduli", karatsubaSteps)
	}
}

// wordFold is the fold of int32 modulo Karatsuba moduli.
func wordFold(t *testing.T, x int64, m int) int64 {
	if max(x, -x) > 1<<28 {
		t.Fatalf("a sum of %d modulo %d", x, m)
	}
	return x - int64(m)*int64(int16(math.Float32bits(fma(float32(x), float32(1/float64(m)), 1.5*(1<<23)))))
}

// TestBytePool checks what the proofs take from the pool.
func TestBytePool(t *testing.T) {
	pool := ByteModuli()
	var bits float64
	for i, m := range pool.Moduli {
		if plain := i < pool.Plain; plain != (m <= 256) || m < minPlain || !plain && m <= minKaratsuba || m > maxByteModulus {
			t.Fatalf("modulus %d at %d", m, i)
		}
		for _, n := range pool.Moduli[:i] {
			if GCD(m, n) != 1 {
				t.Fatalf("GCD(%d, %d) = %d", m, n, GCD(m, n))
			}
		}
		bits += math.Log2(float64(m))
	}
	t.Logf("%d moduli, %d of them plain, of %.0f bits; %.0f in all", len(pool.Moduli), pool.Plain, pool.Bits[pool.Plain], bits)
	if d := bits - pool.Bits[len(pool.Moduli)]; d < 0 || d > 1e-6 {
		t.Errorf("bits %g, want %g", pool.Bits[len(pool.Moduli)], bits)
	}
	if len(pool.Moduli)-pool.Plain < 900 || maxByteModulus/2+9 > maxSplit {
		t.Errorf("%d Karatsuba moduli, up to %d", len(pool.Moduli)-pool.Plain, maxByteModulus)
	}
	for a := int64(-maxSplit); a <= maxSplit; a++ {
		x0, x1 := splitResidue(a)
		if 128*x1+x0 != a || max(x0, -x0, x1, -x1, x0+x1, -x0-x1) > 127 {
			t.Fatalf("%d is split into %d and %d", a, x0, x1)
		}
	}
	for a := int64(-8192); a <= 8192; a++ {
		x0, x1 := SplitByte(a)
		if 128*x1+x0 != a || x0 < -64 || x0 > 63 || max(x1, -x1) > 64 || x0+x1 != int64(int8(x0+x1)) {
			t.Fatalf("%d is split into %d and %d", a, x0, x1)
		}
	}
}
