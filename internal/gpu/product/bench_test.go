package product

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/superacc"
)

// BenchmarkGemm measures products of resident matrices with full random significands,
// nothing prepared, rounding included: the median of seven by the device's clock, stage by
// stage, and of seven by the host's, without stages. TOPS counts the additions and
// multiplications of bytes.
func BenchmarkGemm(b *testing.B) {
	dev := gputest.Machine(b)
	for _, n := range []int{1000, 4096, 8192} {
		for _, p := range []int{53, 106, 212, 424, 848, 1696} {
			if n > 4096 && p > 53 {
				break
			}
			f := gputest.MP(p)
			if p == 53 {
				f = num.Float64
			}
			for _, phi := range []float64{0, 0.5, 4} {
				if phi != 0 && (n <= 1000 || p != 53 && p != 424) {
					continue
				}
				b.Run(fmt.Sprintf("n=%d/bits=%d/spread=%g", n, p, phi), func(b *testing.B) {
					benchmarkGemm(b, dev, f, n, phi, gputest.Scalar(1), num.Real{})
				})
			}
		}
	}
}

// BenchmarkGemmExpressions measures products with old entries, a general alpha and beta of the
// format's precision, and results that are expansions.
func BenchmarkGemmExpressions(b *testing.B) {
	dev := gputest.Machine(b)
	for _, n := range []int{1000, 4096} {
		for _, f := range []num.Format{num.Float64, num.DDouble, num.QDouble, gputest.MP(424), gputest.MP(1696)} {
			for i, name := range []string{"AB", "AB+C", "aAB+bC"} {
				if i == 0 && f.Terms() <= 1 {
					continue
				}
				b.Run(fmt.Sprintf("n=%d/%v/%s", n, f, name), func(b *testing.B) {
					alpha, beta := gputest.Scalar(1), num.Real{}
					if i == 1 {
						beta = gputest.Scalar(1)
					} else if i == 2 {
						alpha, beta = problem{alpha: 1, beta: 1, bits: f.Bits()}.scalars(rand.New(rand.NewPCG(4, 4)))
					}
					benchmarkGemm(b, dev, f, n, 0, alpha, beta)
				})
			}
		}
	}
}

// BenchmarkGemmLong measures products whose integers take several passes of residues.
func BenchmarkGemmLong(b *testing.B) {
	dev := gputest.Machine(b)
	for _, p := range []int{3000, 5000, 10000} {
		b.Run(fmt.Sprintf("n=1000/bits=%d", p), func(b *testing.B) { benchmarkGemm(b, dev, gputest.MP(p), 1000, 0, gputest.Scalar(1), num.Real{}) })
	}
}

// BenchmarkExactPass measures the exact pass of a product with a few zeros.
func BenchmarkExactPass(b *testing.B) {
	dev := gputest.Machine(b)
	const n = 1000
	for _, f := range []num.Format{num.Float64, num.QDouble, gputest.MP(424), gputest.MP(1696)} {
		for _, rows := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%v/entries=%d", f, rows), func(b *testing.B) { benchmarkExactPass(b, dev, f, n, rows) })
		}
	}
}

func benchmarkExactPass(b *testing.B, dev *cuda.Device, f num.Format, n, rows int) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		rng := rand.New(rand.NewPCG(6, 6))
		x, y := gputest.RandomMat(rng, f, gputest.Spread, n, n), gputest.RandomMat(rng, f, gputest.Spread, n, n)
		// The second half of a row is the negative of the first. In column 0 it is equal to the
		// first.
		for h := range n / 2 {
			for i := range rows {
				x.Arr.CopyFrom(x.At(i, n/2+h), x.Arr, x.At(i, h))
				gputest.Negate(x.Arr, x.At(i, n/2+h))
			}
			y.Arr.CopyFrom(y.At(n/2+h, 0), y.Arr, y.At(h, 0))
		}
		var v [2]mem.Matrix
		for i, m := range []num.Mat{x, y} {
			var err error
			if v[i], err = mem.UploadView(s, m); err != nil {
				return err
			}
			defer v[i].Arr.Free()
		}
		z, err := mem.NewArray(s, f, n*n)
		if err != nil {
			return err
		}
		defer z.Free()
		c := mem.Matrix{Arr: z, RS: 1, CS: n, Rows: n, Cols: n}
		var times []time.Duration
		for b.Loop() {
			for range 7 {
				stats, err := GemmOnDevice(s, Config{Timing: true}, gputest.Scalar(1), v[0], v[1], num.Real{}, c, c)
				if err != nil {
					return err
				}
				if stats.Exact != int64(rows) {
					return fmt.Errorf("%d entries in the exact pass, want %d", stats.Exact, rows)
				}
				for _, st := range stats.Stages {
					if st.Name == "exact pass" {
						times = append(times, st.Time)
					}
				}
			}
		}
		slices.Sort(times)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ms(times[len(times)/2]), "ms")
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func benchmarkGemm(b *testing.B, dev *cuda.Device, f num.Format, n int, phi float64, alpha, beta num.Real) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		x, err := gputest.RandomOnDevice(s, f, n, phi, 1)
		if err != nil {
			return err
		}
		defer x.Arr.Free()
		y, err := gputest.RandomOnDevice(s, f, n, phi, 2)
		if err != nil {
			return err
		}
		defer y.Arr.Free()
		z, err := mem.NewArray(s, f, n*n)
		if err != nil {
			return err
		}
		defer z.Free()
		c := mem.Matrix{Arr: z, RS: 1, CS: n, Rows: n, Cols: n}
		old := c
		if beta.Class != num.Zero {
			if old, err = gputest.RandomOnDevice(s, f, n, phi, 3); err != nil {
				return err
			}
			defer old.Arr.Free()
		}
		type run struct {
			stats       residue.Stats
			device, all time.Duration
		}
		multiply := func(timing bool) (r run, err error) {
			start := time.Now()
			r.stats, err = GemmOnDevice(s, Config{Timing: timing}, alpha, x, y, beta, old, c)
			r.all = time.Since(start)
			for _, st := range r.stats.Stages {
				r.device += st.Time
			}
			return r, err
		}
		var timed, all []run
		for b.Loop() {
			for range 7 {
				r, err := multiply(true)
				if err != nil {
					return err
				}
				timed = append(timed, r)
			}
			for range 7 {
				r, err := multiply(false)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
		}
		slices.SortFunc(timed, func(a, b run) int { return cmp.Compare(a.device, b.device) })
		slices.SortFunc(all, func(a, b run) int { return cmp.Compare(a.all, b.all) })
		r := timed[len(timed)/2]
		flops := 2 * float64(n) * float64(n) * float64(n)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ms(r.device), "ms")
		b.ReportMetric(ms(all[len(all)/2].all), "host-ms")
		b.ReportMetric(flops/r.device.Seconds()*1e-12, "TFLOPS")
		b.ReportMetric(float64(r.stats.Moduli), "moduli")
		b.ReportMetric(float64(r.stats.Products), "products")
		b.ReportMetric(float64(r.stats.Exact), "exact-entries")
		for _, st := range r.stats.Stages {
			b.ReportMetric(ms(st.Time), strings.ReplaceAll(st.Name, " ", "-")+"-ms")
			if st.Name == "products" {
				b.ReportMetric(flops*float64(r.stats.Products)/st.Time.Seconds()*1e-12, "TOPS")
			}
		}
		return spotCheck(s, alpha, x, y, beta, old, c)
	})
	if err != nil {
		b.Fatal(err)
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// spotCheck compares entries of a product with their exact values.
func spotCheck(s *cuda.Stream, alpha num.Real, a, b mem.Matrix, beta num.Real, old, c mem.Matrix) error {
	var h [4]num.Mat
	for i, m := range []mem.Matrix{a, b, c, old} {
		x, err := m.Arr.Host(s)
		if err != nil {
			return err
		}
		h[i] = m.On(x)
	}
	one := num.New(c.Arr.Format, 1)
	var acc superacc.Acc
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		i, j := rng.IntN(c.Rows), rng.IntN(c.Cols)
		o := h[3].Arr.Value(h[3].At(i, j), make([]uint64, num.MaxValueWords))
		one.Set(0, acc.Entry(c.Arr.Format, alpha, h[0].Row(i), h[1].Col(j), beta, o))
		if !one.SameBits(0, h[2].Arr, h[2].At(i, j)) {
			return fmt.Errorf("%v: entry (%d, %d) of %d x %d is wrong", c.Arr.Format, i, j, c.Rows, c.Cols)
		}
	}
	return nil
}

// BenchmarkCheck measures products of resident matrices with and without Config.Check in turn: the
// medians of 31 by the host's clock, and their ratio.
func BenchmarkCheck(b *testing.B) {
	dev := gputest.Machine(b)
	for _, n := range []int{1000, 4096} {
		for _, p := range []int{53, 106, 212, 424, 848, 1696} {
			f := gputest.MP(p)
			if p == 53 {
				f = num.Float64
			}
			if n > 1000 && p != 424 {
				continue
			}
			b.Run(fmt.Sprintf("n=%d/bits=%d", n, p), func(b *testing.B) {
				err := dev.Do(context.Background(), func(s *cuda.Stream) error { return compareChecked(b, s, f, n) })
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func compareChecked(b *testing.B, s *cuda.Stream, f num.Format, n int) error {
	var list []mem.Matrix
	for i := range uint64(3) {
		x, err := gputest.RandomOnDevice(s, f, n, 0, i)
		if err != nil {
			return err
		}
		defer x.Arr.Free()
		list = append(list, x)
	}
	var times [2][]time.Duration
	for b.Loop() {
		for i := range 2 * 31 {
			start := time.Now()
			check := (i+i/2)%2 == 1 // each is first every other time
			st, err := GemmOnDevice(s, Config{Run: par.Run{Check: check}}, gputest.Scalar(1), list[0], list[1], num.Real{}, list[2], list[2])
			if err != nil {
				return err
			}
			if check != (st.Check.Compared == int64(n*n)) {
				return fmt.Errorf("compared %+v", st.Check)
			}
			k := 0
			if check {
				k = 1
			}
			times[k] = append(times[k], time.Since(start))
		}
	}
	for _, t := range times {
		slices.Sort(t)
	}
	plain, checked := times[0][len(times[0])/2], times[1][len(times[1])/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(plain), "ms-plain")
	b.ReportMetric(ms(checked), "ms-checked")
	b.ReportMetric(checked.Seconds()/plain.Seconds(), "ratio")
	return nil
}
