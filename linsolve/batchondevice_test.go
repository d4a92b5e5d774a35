package linsolve

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// batchFormats are formats that the kernel takes, and DD.
var batchFormats = []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(424), halfulp.Float32, halfulp.MP(2), halfulp.MP(64), halfulp.DD}

// batchSystem returns a system of order n with k right-hand sides of one of batchKinds kinds.
func batchSystem(r *rand.Rand, f halfulp.Format, kind, n, k int) (a, b *halfulp.Matrix) {
	a, b = gallery.Random(f, n, n, 0, r.Uint64()), gallery.Random(f, n, k, 0, r.Uint64())
	power := func(m *halfulp.Matrix, i, j, e int) { m.SetBig(i, j, new(big.Float).SetMantExp(m.Big(i, j), e)) }
	wide := f != halfulp.Float32
	each := func(m *halfulp.Matrix, do func(i, j int)) {
		for i := range m.Rows() {
			for j := range m.Cols() {
				do(i, j)
			}
		}
	}
	switch kind {
	case 1: // small integers: ties, zeros, singular matrices
		each(a, func(i, j int) { a.SetFloat64(i, j, float64(r.IntN(7)-3)) })
		each(b, func(i, j int) { b.SetFloat64(i, j, float64(r.IntN(9)-4)) })
	case 2: // singular: two columns alike
		for i := range n {
			a.Set(i, 0, a.At(i, n-1))
		}
	case 3: // nearly singular
		for i := range n {
			x := a.Big(i, 0)
			a.SetBig(i, n-1, x.Add(x, new(big.Float).SetMantExp(a.Big(i, n-1), -min(20, f.Bits()/2))))
		}
	case 4: // rows of sizes far apart
		for i := range n {
			e := r.IntN(41) - 20
			if wide {
				e = r.IntN(2001) - 1000
			}
			for j := range n {
				power(a, i, j, e)
			}
			for j := range k {
				power(b, i, j, e)
			}
		}
	case 5: // exponents of entries far apart, beyond the integers now and then
		each(a, func(i, j int) { power(a, i, j, -r.IntN(1+4<<r.IntN(6))) })
	case 6: // subnormal, or at the ends of the range
		e := -1060
		if !wide {
			e = -140
		}
		each(a, func(i, j int) { power(a, i, j, e+r.IntN(3)) })
		each(b, func(i, j int) { power(b, i, j, e) })
	case 7: // infinities and NaN
		m, v := a, math.Inf(1)
		if r.IntN(2) == 0 {
			m, v = b, math.NaN()
		}
		m.SetFloat64(r.IntN(m.Rows()), r.IntN(m.Cols()), v)
	case 8: // zeros in B and in the solution, -0
		each(b, func(i, j int) {
			if j%2 == 0 || i%3 > 0 {
				b.SetFloat64(i, j, math.Copysign(0, -1))
			}
		})
		for i := range n {
			for j := range i {
				a.SetFloat64(i, j, 0)
			}
		}
	case 9: // solutions that are ties, numbers of the format, and a little more than these
		bits := min(f.Bits(), 24)
		each(a, func(i, j int) { a.SetFloat64(i, j, float64(r.IntN(3)-1)) })
		for i := range n {
			a.SetFloat64(i, i, float64(n+1))
		}
		for j := range k {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Ldexp(1, bits-6) + float64(r.IntN(4))/4
			}
			for i := range n {
				sum := 0.0
				for h := range n {
					v, _ := a.Big(i, h).Float64()
					sum += float64(v * x[h])
				}
				b.SetFloat64(i, j, sum)
			}
		}
	}
	return a, b
}

const batchKinds = 10

// strided returns the same matrix with other strides.
func strided(r *rand.Rand, m *halfulp.Matrix) *halfulp.Matrix {
	n, k := m.Rows(), m.Cols()
	var z *halfulp.Matrix
	switch r.IntN(3) {
	case 0:
		return m
	case 1:
		z = halfulp.NewMatrix(m.NumberFormat(), k, n).T()
	case 2:
		z = halfulp.NewMatrix(m.NumberFormat(), n+2, k+1).Slice(1, n+1, 1, k+1)
	}
	if err := z.CopyFrom(m); err != nil {
		panic(err)
	}
	return z
}

// exactSolution returns the exact solution rounded to format f, or nil if A is singular.
func exactSolution(a, b *halfulp.Matrix, f halfulp.Format) *halfulp.Matrix {
	n := a.Rows()
	m := make([][]*big.Rat, n)
	for i := range m {
		for j := range n + b.Cols() {
			x := new(big.Rat)
			if j < n {
				a.Big(i, j).Rat(x)
			} else {
				b.Big(i, j-n).Rat(x)
			}
			m[i] = append(m[i], x)
		}
	}
	for k := range n {
		p := k
		for p < n && m[p][k].Sign() == 0 {
			p++
		}
		if p == n {
			return nil
		}
		m[k], m[p] = m[p], m[k]
		for i := range n {
			if i == k || m[i][k].Sign() == 0 {
				continue
			}
			q := new(big.Rat).Quo(m[i][k], m[k][k])
			for j := k; j < len(m[i]); j++ {
				m[i][j].Sub(m[i][j], new(big.Rat).Mul(q, m[k][j]))
			}
		}
	}
	z := halfulp.NewMatrix(f, n, b.Cols())
	for i := range n {
		for j := range b.Cols() {
			// 6000 bits do not round to a tie that is none: both would be multiples of a number of
			// fewer bits.
			z.SetBig(i, j, new(big.Float).SetPrec(6000).SetRat(new(big.Rat).Quo(m[i][n+j], m[i][i])))
		}
	}
	return z
}

// compareBatch compares a batch on a device with single calls on the host, and small systems with
// exact solutions. The operands live on the host or on the device.
func compareBatch(t *testing.T, r *rand.Rand, most int, resident bool) {
	f := batchFormats[r.IntN(len(batchFormats))]
	var a, b, there, right []*halfulp.Matrix
	for range 12 {
		g, h := f, f
		if r.IntN(3) == 0 {
			g, h = batchFormats[r.IntN(len(batchFormats))], batchFormats[r.IntN(len(batchFormats))]
		}
		n, k := 1+r.IntN(most), 1+r.IntN(3)
		if r.IntN(3) > 0 {
			n = 1 + r.IntN(min(most, 9))
		}
		x, y := batchSystem(r, g, r.IntN(batchKinds), n, k)
		if h != g {
			_, y = batchSystem(r, h, r.IntN(2), n, k)
		}
		x, y = strided(r, x), strided(r, y)
		a, b = append(a, x), append(b, y)
		if resident {
			x, y = put(t, x), put(t, y)
		}
		there, right = append(there, x), append(right, y)
	}
	got, err := SolveBatch(there, right, f, &halfulp.Options{Device: where})
	var failed *halfulp.BatchError
	var bad []int
	if errors.As(err, &failed) {
		bad = failed.Indices
	} else if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		want, err := Solve(a[i], b[i], f, &halfulp.Options{Device: halfulp.CPU, Threads: 1})
		if (err != nil) != slices.Contains(bad, i) || (err != nil) != (got[i] == nil) {
			t.Fatalf("system %d, %v: error %v on the host, %v on the device", i, f, err, bad)
		}
		if err != nil {
			continue
		}
		if got[i].Device() != there[i].Device() {
			t.Fatalf("system %d: solution on %s", i, got[i].Device())
		}
		z, err := got[i].Host()
		if err != nil {
			t.Fatal(err)
		}
		got[i].Free()
		if !z.Same(want) {
			t.Fatalf("system %d of order %d, %v, %v, %v:\n%v\nnot the host's\n%v", i, a[i].Rows(), a[i].NumberFormat(), b[i].NumberFormat(), f, z, want)
		}
		if a[i].Rows() <= 4 && f != halfulp.DD {
			if exact := exactSolution(a[i], b[i], f); exact == nil || !z.Same(exact) {
				t.Fatalf("system %d of order %d, %v:\n%v\nnot the exact solution rounded\n%v", i, a[i].Rows(), f, z, exact)
			}
		}
	}
}

// TestSolveBatchThere compares batches on devices with single calls on the host.
func TestSolveBatchThere(t *testing.T) {
	t.Setenv(gputest.Emulate, "newton/small")
	gputest.OnDevices(t, 20, 64, func(t *testing.T, most int) {
		r := testseed.Rand(t, 7, uint64(most))
		for trial := range testlength.Of(4, 10, 400) {
			compareBatch(t, r, most, trial%2 == 1)
		}
	})
}

// TestSolveBatchDecided checks that the kernel itself decides ordinary systems.
func TestSolveBatchDecided(t *testing.T) {
	t.Setenv(gputest.Emulate, "newton/small")
	gputest.OnDevices(t, 1, 20, func(t *testing.T, count int) {
		for _, f := range batchFormats[:3] {
			for _, n := range []int{1, 3, 8, 16, 31, 64}[:testlength.Of(5, 6, 6)] {
				var a, b []num.Mat
				for i := range uint64(count) {
					a, b = append(a, gallery.Random(f, n, n, 0, 2*i+uint64(n)).View()), append(b, gallery.Random(f, n, 2, 0, 2*i+1).View())
				}
				p, err := place.Home(string(where))
				if err != nil {
					t.Fatal(err)
				}
				batches, ok := place.Part[place.SystemBatches](p)
				if !ok {
					t.Fatal("no batches")
				}
				x, err := batches.SolveBatch(place.Config{Run: par.Run{Ctx: t.Context()}}, a, b, f.View())
				if err != nil {
					t.Fatal(err)
				}
				decided := 0
				for _, m := range x {
					if m.Arr != nil {
						decided++
					}
				}
				if decided < count-count/10 {
					t.Errorf("%v, order %d: %d of %d are decided", f, n, decided, count)
				}
			}
		}
	})
}

// TestSolveBatchFails lets the device's memory be short: the systems are solved one by one.
func TestSolveBatchFails(t *testing.T) {
	for after := range 4 {
		devs, drivers := gputest.References(t, 1)
		restore := mem.Substitute(devs...)
		a, b := gallery.Random(halfulp.MP(106), 5, 5, 0, 1), gallery.Random(halfulp.MP(106), 5, 1, 0, 2)
		want, err := Solve(a, b, halfulp.Float64, nil)
		if err != nil {
			t.Fatal(err)
		}
		drivers[0].Fail("MemAlloc", after, cudadrv.OutOfMemory)
		x, err := SolveBatch([]*halfulp.Matrix{a, a}, []*halfulp.Matrix{b, b}, halfulp.Float64, &halfulp.Options{Device: where})
		if err != nil || !x[0].Same(want) || !x[1].Same(want) {
			t.Errorf("after %d allocations: %v", after, err)
		}
		restore()
	}
}

// TestSolveBatchCancelled cancels a batch whose systems a device has solved: it frees the
// solutions.
func TestSolveBatchCancelled(t *testing.T) {
	t.Setenv(gputest.Emulate, "newton/small")
	devs, _ := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	var a, b []*halfulp.Matrix
	for i := range uint64(4) {
		for list, m := range map[*[]*halfulp.Matrix]*halfulp.Matrix{&a: gallery.Random(halfulp.MP(106), 5, 5, 0, i+1), &b: gallery.Random(halfulp.MP(106), 5, 1, 0, i+9)} {
			there, err := m.On(where)
			if err != nil {
				t.Fatal(err)
			}
			defer there.Free()
			*list = append(*list, there)
		}
	}
	before := devs[0].Counters().InUse
	ctx, cancel := context.WithCancel(t.Context())
	solved := 0.0
	x, err := SolveBatch(a, b, halfulp.Float64, &halfulp.Options{Context: ctx, Progress: func(done float64) {
		solved = done
		cancel()
	}})
	if x != nil || !errors.Is(err, context.Canceled) || solved != 1 {
		t.Errorf("%v, error %v, %v solved", x, err, solved)
	}
	if after := devs[0].Counters().InUse; after != before {
		t.Errorf("%d bytes in use, %d before", after, before)
	}
}
