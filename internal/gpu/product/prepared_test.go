package product

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/rows"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// preparedRun multiplies prepared matrices on a device and on the host.
type preparedRun struct {
	t   *testing.T
	s   *cuda.Stream
	cfg Config
}

// on runs f with a run on dev.
func (r *preparedRun) on(dev *cuda.Device, f func() error) {
	r.t.Helper()
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		r.s = s
		return f()
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// upload returns a resident copy.
func (r *preparedRun) upload(h num.Mat) mem.Matrix {
	r.t.Helper()
	m, err := mem.UploadView(r.s, h)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// check multiplies a and b in format f and compares with the host's product of x and y.
func (r *preparedRun) check(what string, f num.Format, a, b mem.Matrix, x, y num.Mat) residue.Stats {
	r.t.Helper()
	m, n := a.Rows, b.Cols
	z, err := mem.NewArray(r.s, f, m*n)
	if err != nil {
		r.t.Fatal(err)
	}
	defer z.Free()
	c := mem.Matrix{Arr: z, RS: 1, CS: m, Rows: m, Cols: n}
	stats, err := GemmOnDevice(r.s, r.cfg, gputest.Scalar(1), a, b, num.Real{}, c, c)
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
	got, err := z.Host(r.s)
	if err != nil {
		r.t.Fatal(err)
	}
	want := num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}
	if _, err := hostGemm(Config{}.defaults(), gputest.Scalar(1), x, y, num.Real{}, want, want); err != nil {
		r.t.Fatal(err)
	}
	for i := range m * n {
		if !got.SameBits(i, want.Arr, i) {
			r.t.Errorf("%s: entry (%d, %d): got %v, want %v", what, i%m, i/m, gputest.Show(got, i), gputest.Show(want.Arr, i))
			break
		}
	}
	return stats
}

// keptRows returns what is kept of the rows of m, nil if m is not prepared.
func keptRows(m mem.Matrix) (v *keptVectors) {
	m.Kept(func(k mem.Kept, transposed bool) { v = &k.(*prepared)[abi.Flag(transposed)] })
	return v
}

// keptOf returns the residues that are kept of the rows of m.
func keptOf(m mem.Matrix, side int) *keptResidues {
	if k := keptRows(m); k != nil {
		return k.residues[side]
	}
	return nil
}

// TestPrepared multiplies a prepared matrix by others from both sides: the same bits, with the
// same residues as long as these serve.
func TestPrepared(t *testing.T) {
	t.Run("reference", func(t *testing.T) {
		testPrepared(t, gputest.Reference(t, &fake.Driver{}), 11)
	})
	t.Run("device", func(t *testing.T) { testPrepared(t, gputest.Machine(t), 300) })
}

func testPrepared(t *testing.T, dev *cuda.Device, n int) {
	r := &preparedRun{t: t}
	before := dev.Counters().InUse
	reused := 0
	for _, f := range []num.Format{num.Float64, num.DDouble, gputest.MP(106), gputest.MP(424)} {
		for _, memory := range []int64{0, int64(n) * 2 << 20} {
			r.cfg = Config{Limit: memory}.defaults()
			r.on(dev, func() error {
				rng := testseed.Rand(t, 1, uint64(n))
				x := gputest.RandomMat(rng, f, gputest.Spread, n, n+2)
				a := r.upload(x)
				defer a.Arr.Free()
				Prepare(a)
				Prepare(a)
				var kept *keptResidues
				kinds := []gputest.Family{gputest.Uniform, gputest.Uniform, gputest.Spread, gputest.Integers, gputest.Uniform, gputest.Special, gputest.Cancel, gputest.Scaled, gputest.Uniform}
				if !testlength.Long() {
					kinds = []gputest.Family{gputest.Uniform, gputest.Uniform, gputest.Special}
				}
				for i, kind := range kinds {
					y := gputest.RandomMat(rng, f, kind, n+2, 5+i)
					b := r.upload(y)
					what := fmt.Sprintf("%v, %v, memory %d", f, kind, memory)
					r.check(what, f, a, b, x, y)
					r.check(what+" by the transpose", f, b.T(), a.T(), y.T(), x.T())
					b.Arr.Free()
					now := keptOf(a, leftSide)
					if now == nil {
						t.Errorf("%s: nothing is kept", what)
					} else if now == kept {
						reused++
					}
					kept = now
				}
				// The columns of Aᵀ, the right factor of Bᵀ Aᵀ, are the rows of A.
				if keptOf(a, rightSide) == nil || keptOf(a.T(), leftSide) != nil || keptOf(a.T(), rightSide) != nil {
					t.Errorf("%v: residues of the wrong sides", f)
				}
				r.check(fmt.Sprintf("%v, A Aᵀ", f), f, a, a.T(), x, x.T())
				r.check(fmt.Sprintf("%v, Aᵀ A", f), f, a.T(), a, x.T(), x)
				// A part is another matrix, whose change drops what is kept of the whole.
				part := a
				part.Off, part.Rows, part.Cols = 1, n-3, 3
				y := gputest.RandomMat(rng, f, gputest.Uniform, 3, 4)
				b := r.upload(y)
				defer b.Arr.Free()
				xPart := x
				xPart.Off, xPart.Rows, xPart.Cols = 1, n-3, 3
				r.check(fmt.Sprintf("%v, a part", f), f, part, b, xPart, y)
				if keptOf(a, leftSide) == nil {
					t.Errorf("%v: reading drops residues", f)
				}
				fresh := gputest.RandomMat(rng, f, gputest.Uniform, n-3, 3)
				if err := part.Set(r.s, fresh); err != nil {
					return err
				}
				if k := keptRows(a); k == nil || k.scan != nil || k.residues != [2]*keptResidues{} {
					t.Errorf("%v: %+v is kept of a matrix that changed", f, k)
				}
				for j := range 3 {
					for i := range n - 3 {
						x.Arr.CopyFrom(x.At(i+1, j), fresh.Arr, fresh.At(i, j))
					}
				}
				r.check(fmt.Sprintf("%v after a change", f), f, a, a.T(), x, x.T())
				return nil
			})
		}
	}
	if reused < 4 {
		t.Errorf("residues reused %d times", reused)
	}
	r.on(dev, func() error {
		e := engineOf(r.s)
		if n := e.kept.Load(); n != 0 {
			t.Errorf("%d bytes count as kept", n)
		}
		return nil
	})
	if dev.Info().Name == "Fake GPU" {
		checkUnused(t, dev)
	} else if n := dev.Counters().InUse; n > before+16<<20 { // constants of bases
		t.Errorf("%d bytes in use, %d before", n, before)
	}
}

// TestPreparedResults checks that results drop what is kept of the matrix that they are stored in.
func TestPreparedResults(t *testing.T) {
	drv := &fake.Driver{}
	gputest.Reference(t, drv)
	dev := gputest.RowReference(t, drv)
	r := &preparedRun{t: t, cfg: Config{}.defaults()}
	rng := testseed.Rand(t, 1, 3)
	x, y := gputest.RandomMat(rng, num.Float64, gputest.Uniform, 4, 4), gputest.RandomMat(rng, num.Float64, gputest.Uniform, 4, 4)
	r.on(dev, func() error {
		a, b := r.upload(x), r.upload(y)
		defer a.Arr.Free()
		defer b.Arr.Free()
		Prepare(a)
		prepare := func() {
			r.check("A A", num.Float64, a, a, x, x)
			if keptOf(a, leftSide) == nil || keptOf(a.T(), rightSide) == nil {
				t.Error("nothing is kept")
			}
		}
		back := func() {
			h, err := a.Arr.Host(r.s)
			if err != nil {
				t.Fatal(err)
			}
			x.Arr = h
		}
		prepare()
		if _, err := GemmOnDevice(r.s, r.cfg, gputest.Scalar(1), b, b, num.Real{}, a, a); err != nil {
			return err
		}
		back()
		prepare()
		row := mem.Vector{Arr: a.Arr, Off: 1, Inc: 4, N: 4}
		col := mem.Vector{Arr: b.Arr, Inc: 1, N: 4}
		if _, err := rows.GemvOnDevice(r.s, par.Run{}, gputest.Scalar(1), b, col, num.Real{}, row, row, func(num.Flags) {}); err != nil {
			return err
		}
		back()
		prepare()
		return nil
	})
	checkUnused(t, dev)
}

// TestPreparedMemory checks that residues are not kept where there is little memory, and that a
// base too large for some products gives way.
func TestPreparedMemory(t *testing.T) {
	dev := gputest.Reference(t, &fake.Driver{TotalMemory: 7 << 19})
	r := &preparedRun{t: t}
	rng := testseed.Rand(t, 1, 4)
	x, y := gputest.RandomMat(rng, num.Float64, gputest.Uniform, 130, 3), gputest.RandomMat(rng, num.Float64, gputest.Uniform, 3, 4)
	for _, c := range []struct {
		memory int64
		kept   bool
	}{{0, true}, {3 << 19, false}, {5 << 19, true}} {
		r.cfg = Config{Limit: c.memory}.defaults()
		r.on(dev, func() error {
			a, b, more := r.upload(x), r.upload(y), r.upload(x)
			defer b.Arr.Free()
			Prepare(a)
			Prepare(more)
			r.check("first", num.Float64, a, b, x, y)
			if (keptOf(a, leftSide) != nil) != c.kept {
				t.Errorf("%+v: %+v is kept", c, keptOf(a, leftSide))
			}
			r.check("second", num.Float64, a, b, x, y)
			r.check("another", num.Float64, more, b, x, y)
			if c.kept && keptOf(more, leftSide) != nil {
				t.Errorf("%+v: more than a quarter of the memory is kept", c)
			}
			a.Arr.Free()
			r.check("another", num.Float64, more, b, x, y)
			if (keptOf(more, leftSide) != nil) != c.kept {
				t.Errorf("%+v: %+v is kept", c, keptOf(more, leftSide))
			}
			more.Arr.Free()
			return nil
		})
		checkUnused(t, dev)
	}
	dev = gputest.Reference(t, &fake.Driver{})
	r.cfg = Config{}.defaults()
	r.on(dev, func() error {
		x := gputest.RandomMat(rng, gputest.MP(300), gputest.Uniform, 5, 4)
		a, b := r.upload(x), r.upload(y.T())
		defer a.Arr.Free()
		defer b.Arr.Free()
		Prepare(a)
		r.check("wide", gputest.MP(300), a, a.T(), x, x.T())
		wide := keptOf(a, leftSide)
		z := gputest.RandomMat(rng, num.Float64, gputest.Integers, 4, 3)
		c := r.upload(z)
		defer c.Arr.Free()
		for i := range maxMissed {
			if keptOf(a, leftSide) != wide {
				t.Errorf("replaced after %d products", i)
			}
			r.check("narrow", num.Float32, a, c, x, z)
		}
		if k := keptOf(a, leftSide); k == wide || k.base.moduli >= wide.base.moduli {
			t.Errorf("%+v is still kept", k)
		}
		return nil
	})
}

// TestPreparedFailures lets calls of the driver fail: an error or the right product each time,
// and nothing kept but by the matrix.
func TestPreparedFailures(t *testing.T) {
	for _, call := range []string{"MemAlloc", "LaunchKernel", "MemcpyDtoHAsync", "EventRecord"} {
		for after := range 16 {
			if after%testlength.Of(3, 3, 1) != 0 {
				continue
			}
			drv := &fake.Driver{}
			dev := gputest.Reference(t, drv)
			r := &preparedRun{t: t, cfg: Config{}.defaults()}
			rng := testseed.Rand(t, 1, 5)
			x := gputest.RandomMat(rng, num.Float64, gputest.Uniform, 5, 5)
			r.on(dev, func() error {
				y := r.upload(x)
				r.check("loads the kernels", num.Float64, y, y, x, x)
				y.Arr.Free()
				a := r.upload(x)
				defer a.Arr.Free()
				Prepare(a)
				z, err := mem.NewArray(r.s, num.Float64, 25)
				if err != nil {
					return err
				}
				defer z.Free()
				c := mem.Matrix{Arr: z, RS: 1, CS: 5, Rows: 5, Cols: 5}
				if err := r.s.Trim(); err != nil {
					return err
				}
				for range 2 {
					drv.Fail(call, after, cudadrv.OutOfMemory)
				}
				_, err = GemmOnDevice(r.s, r.cfg, gputest.Scalar(1), a, a, num.Real{}, c, c)
				if call == "MemAlloc" && err != nil && !errors.Is(err, cuda.ErrMemory) {
					t.Errorf("%s %d: %v", call, after, err)
				}
				return nil
			})
			checkUnused(t, dev)
		}
	}
}

// BenchmarkPrepared measures products of resident matrices of which none, the left one or both are
// prepared: the median of seven, by the host's clock and stage by stage by the device's.
func BenchmarkPrepared(b *testing.B) {
	dev := gputest.Machine(b)
	for _, c := range []struct{ n, bits int }{{1000, 53}, {1000, 106}, {1000, 212}, {1000, 424}, {4096, 212}} {
		for i, name := range []string{"none", "left", "both"} {
			b.Run(fmt.Sprintf("n=%d/bits=%d/prepared=%s", c.n, c.bits, name), func(b *testing.B) {
				benchmarkPrepared(b, dev, c.n, c.bits, i)
			})
		}
	}
}

func benchmarkPrepared(b *testing.B, dev *cuda.Device, n, bits, prepared int) {
	f := gputest.MP(bits)
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		var m [2]mem.Matrix
		for i := range m {
			var err error
			if m[i], err = gputest.RandomOnDevice(s, f, n, 0, uint64(i)); err != nil {
				return err
			}
			defer m[i].Arr.Free()
			if i < prepared {
				Prepare(m[i])
			}
		}
		z, err := mem.NewArray(s, f, n*n)
		if err != nil {
			return err
		}
		defer z.Free()
		c := mem.Matrix{Arr: z, RS: 1, CS: n, Rows: n, Cols: n}
		run := func(timing bool) (residue.Stats, error) {
			return GemmOnDevice(s, Config{Timing: timing}, gputest.Scalar(1), m[0], m[1], num.Real{}, c, c)
		}
		if _, err := run(false); err != nil {
			return err
		}
		var times []time.Duration
		for b.Loop() {
			for range 7 {
				start := time.Now()
				if _, err := run(false); err != nil {
					return err
				}
				if err := s.Synchronize(); err != nil {
					return err
				}
				times = append(times, time.Since(start))
			}
		}
		slices.Sort(times)
		b.ReportMetric(ms(times[len(times)/2]), "host-ms")
		stats, err := run(true)
		if err != nil {
			return err
		}
		for _, st := range stats.Stages {
			b.ReportMetric(ms(st.Time), strings.ReplaceAll(st.Name, " ", "-")+"-ms")
		}
		b.ReportMetric(float64(stats.Moduli), "moduli")
		b.ReportMetric(0, "ns/op")
		return spotCheck(s, gputest.Scalar(1), m[0], m[1], num.Real{}, c, c)
	})
	if err != nil {
		b.Fatal(err)
	}
}
