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

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

// benchArray returns n numbers of so many bits in [-1, 1], of which a few thousand differ.
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

func benchmarkDevice(b *testing.B, dev *cuda.Device, base *Base, bits int) {
	const n = 1000
	b.ReportMetric(0, "ns/op")
	host := benchArray(base, n*n, bits)
	arr, err := host.toDevice(dev)
	must(b, err)
	defer arr.Free()
	small, err := benchArray(base, 2*n, bits).toDevice(dev)
	must(b, err)
	defer small.Free()
	a := arr.Matrix(0, n, n, n)
	x, y, all := small.Vector(0, n, 1), small.Vector(n, n, 1), arr.Vector(0, n*n, 1)
	one := base.NewNumber().SetInt64(1)
	must(b, dev.Do(context.Background(), func(s *cuda.Stream) error {
		c, err := base.onDevice(s)
		must(b, err)
		v, free, err := base.deviceScalars(s, c, one, one)
		must(b, err)
		defer free()
		d := deviceTimer{b, s}
		for _, size := range []int{16, 32, 64, 128} {
			for _, trans := range []Transpose{NoTrans, Trans} {
				d.measure(fmt.Sprintf("gemv/trans=%v/size=%d", trans, size), func() error {
					return gemvOn(s, c, v, trans, one, a, x, one, y, size)
				})
			}
		}
		for _, trans := range []Transpose{NoTrans, Trans} {
			d.measure(fmt.Sprintf("basic/trans=%v", trans), func() error {
				return gemvBasicOn(s, c, v, trans, one, a, x, one, y)
			})
		}
		z, err := c.NewArray(s, 1)
		must(b, err)
		defer z.Free()
		d.measure("reduce2", func() error { return c.Reduce2Parallel(s, all.view(), n*n, z) })
		for _, k := range [][2]int{{64, 32}, {64, 256}, {64, 1024}, {128, 128}, {128, 512}, {256, 64}, {256, 256}} {
			sums, err := c.NewArray(s, k[0])
			must(b, err)
			h := base.NewArray(k[0])
			reduce := func(y rnsgpu.View) func() error {
				return func() error {
					if err := c.Reduce3(s, all.view(), y, n*n, k[1], false, sums); err != nil {
						return err
					}
					if err := h.download(s, c, sums); err != nil {
						return err
					}
					Reduce1(h.Vector(0, k[0], 1))
					return nil
				}
			}
			d.measure(fmt.Sprintf("reduce3/blocks=%d/size=%d", k[0], k[1]), reduce(none))
			d.measure(fmt.Sprintf("dot/blocks=%d/size=%d", k[0], k[1]), reduce(all.view()))
			sums.Free()
		}
		list, err := c.Kernels()
		must(b, err)
		b.Logf("%+v", list)
		if bits > 106 {
			return nil
		}
		few := 5000
		for team, name := range []string{"S", "P"} {
			d.measure(fmt.Sprint("reduce1", name, "/n=", few), func() error { return c.Reduce1(s, rnsgpu.Team(team), all.view(), few, z) })
			d.measure(fmt.Sprint("reduce2", name, "/n=", few), func() error { return c.Reduce2(s, rnsgpu.Team(team), all.view(), few, z) })
		}
		return nil
	}))
}
