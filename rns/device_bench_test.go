package rns

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

// benchArray returns n numbers of so many bits in [-1, 1], with a few thousand distinct ones.
func benchArray(b *Base, n, bits int) *Array {
	a, distinct := b.NewArray(n), min(n, 1<<13)
	var wait sync.WaitGroup
	const parts = 16
	for k := range parts {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			limit := new(big.Int).Lsh(big.NewInt(1), uint(bits))
			for i := k; i < distinct; i += parts {
				x := new(big.Int)
				for x.BitLen() < bits+64 {
					x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Uint64()|1))
				}
				v := a.val(i)
				b.setInt(&v, x.Mod(x, limit), int64(-bits), r.IntN(2) == 0)
				a.put(i, &v)
			}
		})
	}
	wait.Wait()
	for i := distinct; i < n; i++ {
		u, v := a.val(i%distinct), a.val(i)
		v.set(&u)
		a.put(i, &v)
	}
	return a
}

// deviceTimer measures on a stream.
type deviceTimer struct {
	b *testing.B
	s *cuda.Stream
}

// measure reports the median time of five runs of f, by the device's clock.
func (d deviceTimer) measure(name string, f func() error) {
	var times []time.Duration
	for i := range 6 {
		start, err := d.s.NewEvent()
		must(d.b, err)
		end, err := d.s.NewEvent()
		must(d.b, err)
		must(d.b, d.s.Record(start))
		must(d.b, f())
		must(d.b, d.s.Record(end))
		must(d.b, end.Synchronize())
		t, err := end.Since(start)
		must(d.b, err)
		if i > 0 {
			times = append(times, t)
		}
		_, _ = start.Close(), end.Close()
	}
	slices.Sort(times)
	d.b.ReportMetric(float64(times[len(times)/2])*1e-6, name+"-ms")
}

// BenchmarkDevice measures GEMV 1000 x 1000 and sums of 10^6 numbers, of p/4 bits, which
// round nowhere, and of p bits.
func BenchmarkDevice(b *testing.B) {
	dev := machine(b)
	for _, p := range GemvPrecisions {
		base, err := GemvBase(p)
		must(b, err)
		for _, bits := range []int{p / 4, p} {
			b.Run(fmt.Sprintf("p=%d/bits=%d", p, bits), func(b *testing.B) {
				benchmarkDevice(b, dev, base, bits)
			})
		}
	}
}

func benchmarkDevice(b *testing.B, dev place.Place, base *Base, bits int) {
	const n = 1000
	b.ReportMetric(0, "ns/op")
	arr := benchArray(base, n*n, bits).copyAt(b, dev)
	small := benchArray(base, 2*n, bits).copyAt(b, dev)
	a := arr.Matrix(0, n, n, n)
	x, y, all := small.Vector(0, n, 1), small.Vector(n, n, 1), arr.Vector(0, n*n, 1)
	one := base.NewNumber().SetInt64(1)
	c, err := base.on(context.Background(), dev)
	must(b, err)
	r, err := begin("benchmark", nil, base, a.view())
	must(b, err)
	must(b, backend.Do(context.Background(), dev, func(s *cuda.Stream) error {
		q, finish := c.(*rnsgpu.Base).Queue(s, 0)
		defer finish()
		v, err := base.loadScalars(q, []*Number{one})
		must(b, err)
		d := deviceTimer{b, s}
		gemv := func(trans bool, f func(place.RNSQueue, *run, bool, place.RNSView, *Matrix, place.RNSView, place.RNSView, place.RNSView) error) func() error {
			return func() error {
				z := y.view().native()
				if err := q.Map(n, 1, z, v[0], none, none, z, false); err != nil {
					return err
				}
				return f(q, r, trans, v[0], a, opView(trans, a.view().native()), x.view().native(), z)
			}
		}
		for _, r.BlockSize = range []int{16, 32, 64, 128} {
			for _, trans := range []bool{false, true} {
				d.measure(fmt.Sprintf("gemv/trans=%v/size=%d", trans, r.BlockSize), gemv(trans, gemvAway))
			}
		}
		for _, trans := range []bool{false, true} {
			d.measure(fmt.Sprintf("basic/trans=%v", trans), gemv(trans, gemvBasicAway))
		}
		sum, err := q.New(1)
		must(b, err)
		z, numbers := place.RNSView{Array: sum, RS: 1}, all.view().native()
		d.measure("reduce2", func() error { return q.Reduce2Parallel(numbers, n*n, z) })
		for _, k := range [][2]int{{64, 32}, {64, 256}, {64, 1024}, {128, 128}, {128, 512}, {256, 64}, {256, 256}} {
			sums, err := q.New(k[0])
			must(b, err)
			z, h := place.RNSView{Array: sums, RS: 1}, base.NewVector(k[0])
			reduce := func(y place.RNSView) func() error {
				return func() error {
					if err := q.Reduce3(numbers, y, n*n, k[0], k[1], false, z); err != nil {
						return err
					}
					if err := h.view().get(q, z); err != nil {
						return err
					}
					_, err := r.recursive(h, 0)
					return err
				}
			}
			d.measure(fmt.Sprintf("reduce3/blocks=%d/size=%d", k[0], k[1]), reduce(none))
			d.measure(fmt.Sprintf("dot/blocks=%d/size=%d", k[0], k[1]), reduce(numbers))
		}
		square := a.view().native()
		var results [2]place.RNSView
		for i := range results {
			t, err := q.New(n * n)
			must(b, err)
			results[i] = place.RNSView{Array: t, RS: 1, CS: n}
		}
		d.measure("symv", func() error {
			return q.SymmetricRowSums(place.RNSUpper, square, x.view().native(), n, r.BlockSize, y.view().native())
		})
		d.measure("quotient", func() error { return q.Apply(place.RNSQuotient, n, n, square, square.T(), none, results[0]) })
		d.measure("fma", func() error { return q.Apply(place.RNSFMA, n, n, square, square.T(), square, results[0]) })
		d.measure("product", func() error { return q.Map(n, n, square, square, none, none, results[0], false) })
		d.measure("root", func() error { return q.Apply(place.RNSRoot, n, n, results[0], none, none, results[1]) })
		if bits > 106 {
			return nil
		}
		few := 5000
		for team, name := range []string{"S", "P"} {
			d.measure(fmt.Sprint("reduce1", name, "/n=", few), func() error { return q.Reduce1(place.RNSTeam(team), numbers, few, z) })
			d.measure(fmt.Sprint("reduce2", name, "/n=", few), func() error { return q.Reduce2(place.RNSTeam(team), numbers, few, z) })
		}
		return nil
	}))
	list, err := c.Kernels(context.Background())
	must(b, err)
	b.Logf("%+v", list)
}
