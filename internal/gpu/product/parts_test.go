package product

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testlength"
)

// A partsProblem is a product that several devices share.
type partsProblem struct {
	a, b, old num.Mat
	beta      float64
	triangle  byte
}

func newPartsProblem(m, n, k int) *partsProblem {
	rng := rand.New(rand.NewPCG(1, 2))
	return &partsProblem{a: gputest.RandomMat(rng, num.Float64, gputest.Spread, m, k), b: gputest.RandomMat(rng, num.Float64, gputest.Spread, k, n), old: gputest.RandomMat(rng, num.Float64, gputest.Uniform, m, n)}
}

// want is the host's product.
func (p *partsProblem) want(t *testing.T) num.Mat {
	c := p.result()
	cfg := Config{Pattern: place.Pattern{Triangle: p.triangle}}.defaults()
	if _, err := hostGemm(cfg, gputest.Scalar(2), p.a, p.b, gputest.Scalar(p.beta), p.old, c); err != nil {
		t.Fatal(err)
	}
	return c
}

func (p *partsProblem) result() num.Mat {
	m, n := p.old.Rows, p.old.Cols
	return num.Mat{Arr: num.New(num.Float64, m*n), RS: 1, CS: m, Rows: m, Cols: n}
}

func (p *partsProblem) run(devs []*cuda.Device, cfg Config, limit int64, least int) (num.Mat, residue.Stats, error) {
	c := p.result()
	cfg.Triangle = p.triangle
	q := parts{devs: devs, cfg: cfg.defaults(), limit: limit, least: least, alpha: gputest.Scalar(2), beta: gputest.Scalar(p.beta)}
	stats, err := q.run(p.a, p.b, p.old, c)
	return c, stats, err
}

// TestParts runs products in parts, on one device and on several, and compares them with the
// whole.
func TestParts(t *testing.T) {
	for devices := 1; devices <= 3; devices++ {
		if devices < testlength.Of(3, 2, 1) {
			continue
		}
		devs, _ := gputest.References(t, devices)
		for _, shape := range [][2]int{{13, 13}, {5, 40}, {40, 5}, {1, 9}} {
			for _, triangle := range []byte{0, 'U', 'L'} {
				if triangle != 0 && shape[0] != shape[1] {
					continue
				}
				for _, beta := range []float64{0, 1} {
					if beta != 0 && (devices != 2 || testing.Short()) {
						continue
					}
					p := newPartsProblem(shape[0], shape[1], 9)
					p.beta, p.triangle = beta, triangle
					want := p.want(t)
					for _, limit := range []int64{1200, 1 << 30} {
						what := fmt.Sprintf("%d devices, %v, triangle %c, beta %g, limit %d", devices, shape, triangle|' ', beta, limit)
						got, stats, err := p.run(devs, Config{}, limit, 3)
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						names := []string{"cuda:0", "cuda:0,1", "cuda:0,1,2"}[devices-1]
						if limit == 1200 && min(shape[0], shape[1]) > 1 && stats.Blocks < 2 || max(shape[0], shape[1]) >= 13 && stats.Device != names {
							t.Errorf("%s: %d blocks on %s", what, stats.Blocks, stats.Device)
						}
						for i := range shape[0] * shape[1] {
							if !got.Arr.SameBits(i, want.Arr, i) {
								t.Fatalf("%s: entry (%d, %d): got %v, want %v", what, i%shape[0], i/shape[0], gputest.Show(got.Arr, i), gputest.Show(want.Arr, i))
							}
						}
					}
				}
			}
		}
		for _, dev := range devs {
			checkUnused(t, dev)
		}
	}
}

// TestPartsShare checks that a factor which all parts share travels to a device once.
func TestPartsShare(t *testing.T) {
	devs, drivers := gputest.References(t, 2)
	// 8 parts of 5 columns, the same ones, so that all have the same plan
	p := newPartsProblem(5, 40, 9)
	for j := range 40 {
		for h := range 9 {
			p.b.Arr.CopyFrom(p.b.At(h, j), p.b.Arr, p.b.At(h, j%5))
		}
	}
	for n := 1; n <= 2; n++ {
		for range 2 { // the second time all constants are there
			for _, drv := range drivers {
				drv.ForgetCalls()
			}
			if _, stats, err := p.run(devs[:n], Config{}, 1200, 3); err != nil || stats.Blocks != 8 {
				t.Fatalf("%d blocks, %v", stats.Blocks, err)
			}
		}
		uploads := 0
		for _, drv := range drivers {
			for _, call := range drv.Calls() {
				if call == "MemcpyHtoDAsync" {
					uploads++
				}
			}
		}
		if uploads > 8+n {
			t.Errorf("%d uploads for 8 parts on %d devices", uploads, n)
		}
	}
	for _, dev := range devs {
		checkUnused(t, dev)
	}
}

// checkUnused fails if products left memory on a device, but for constants, or events.
func checkUnused(t *testing.T, dev *cuda.Device) {
	t.Helper()
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		engineOf(s).forget()
		return nil
	})
	if err != nil && !errors.Is(err, cuda.ErrLost) {
		t.Fatal(err)
	}
	if c := dev.Counters(); c.InUse != 0 || c.Events != 0 {
		t.Errorf("%v: %d bytes and %d events are left", dev, c.InUse, c.Events)
	}
}

// TestPartsBalance checks that parts of triangles differ little enough.
func TestPartsBalance(t *testing.T) {
	for devices := 2; devices <= 8; devices++ {
		q := part{triangle: 'U'}
		q.a.Rows, q.a.Cols, q.b.Rows, q.b.Cols, q.c.Rows, q.c.Cols = 1000, 10, 10, 1000, 1000, 1000
		arr := num.New(num.Float64, 0)
		q.a.Arr, q.b.Arr, q.c.Arr = arr, arr, arr
		p := parts{devs: make([]*cuda.Device, devices), limit: 1 << 40, least: 16}
		loads := make([]float64, devices)
		var sum float64
		for _, x := range p.list(q) { // to the first free device
			i := slices.Index(loads, slices.Min(loads))
			loads[i] += x.work()
			sum += x.work()
		}
		if sum != q.work() || slices.Max(loads) > 1.35*q.work()/float64(devices) {
			t.Errorf("%d devices: loads %.0f of %.0f", devices, loads, q.work())
		}
	}
}

// TestPartsFailures lets one of several devices fail: an error that says so, the others stop,
// and nothing is kept.
func TestPartsFailures(t *testing.T) {
	for _, c := range []struct {
		call string
		code cudadrv.Code
		is   error
		text string
	}{
		{"MemAlloc", cudadrv.OutOfMemory, cuda.ErrMemory, "cuda:1: out of memory: asked for "},
		{"MemcpyDtoHAsync", cudadrv.IllegalAddress, cuda.ErrLost, "cuda:1: device lost: "},
		{"LaunchKernel", cudadrv.IllegalAddress, cuda.ErrLost, "cuda:1: device lost: "},
		{"EventRecord", cudadrv.LaunchFailed, cuda.ErrLost, "cuda:1: device lost: "},
	} {
		for after := range 4 {
			if c.call == "MemcpyDtoHAsync" && after > 0 {
				break // a part copies its results once, and the device may get no other
			}
			if !testlength.Long() && after%3 != 1 {
				continue
			}
			devs, drivers := gputest.References(t, 3)
			p := newPartsProblem(24, 24, 9)
			if _, _, err := p.run(devs, Config{}, 1<<30, 3); err != nil { // loads the kernels
				t.Fatal(err)
			}
			if err := devs[1].Do(context.Background(), func(s *cuda.Stream) error { return s.Trim() }); err != nil {
				t.Fatal(err)
			}
			for range 2 { // once more after the pool is trimmed
				drivers[1].Fail(c.call, after, c.code)
			}
			_, _, err := p.run(devs, Config{}, 2000, 3)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s, call %d: %v", c.call, after, err)
			}
			for i, dev := range devs {
				if i != 1 || c.is != cuda.ErrLost {
					checkUnused(t, dev)
				}
			}
			// The others work on.
			if _, stats, err := p.run([]*cuda.Device{devs[0], devs[2]}, Config{}, 1<<30, 3); err != nil || stats.Device != "cuda:0,2" {
				t.Errorf("after it, on %s: %v", stats.Device, err)
			}
		}
	}
}

// TestProgress checks that what is told of parts and blocks rises to 1, by one goroutine at a
// time.
func TestProgress(t *testing.T) {
	devs, _ := gputest.References(t, 3)
	for _, c := range []struct {
		devices, m, n, k int
		memory           int64 // of a product on a device
		limit            int64
		calls            int // at least
	}{{1, 9, 9, 9, 0, 1 << 30, 1}, {3, 24, 24, 9, 0, 1 << 30, 3}, {3, 24, 24, 9, 0, 2000, 6}, {1, 140, 400, 5, 2 << 20, 1 << 30, 5}} {
		p := newPartsProblem(c.m, c.n, c.k)
		busy := make(chan bool, 1)
		var told []float64
		cfg := Config{
			Run: par.Run{Progress: func(done float64) {
				select {
				case busy <- true:
				default:
					t.Error("two calls at a time")
				}
				if done <= 0 || done > 1 || len(told) > 0 && done <= told[len(told)-1] {
					t.Errorf("%g after %g", done, told)
				}
				told = append(told, done)
				time.Sleep(time.Millisecond)
				<-busy
			}},
			Limit: c.memory,
		}
		if _, _, err := p.run(devs[:c.devices], cfg, c.limit, 3); err != nil {
			t.Fatal(err)
		}
		if len(told) < c.calls || told[len(told)-1] != 1 {
			t.Errorf("%+v: %g", c, told)
		}
	}
}

// TestCancel cancels products in mid-run.
func TestCancel(t *testing.T) {
	devs, _ := gputest.References(t, 2)
	for _, n := range []int{1, 2} {
		p := newPartsProblem(140, 400*n, 5)
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		_, _, err := p.run(devs[:n], Config{
			Run: par.Run{Ctx: ctx, Progress: func(float64) {
				calls++
				cancel()
			}},
			Limit: 2 << 20,
		}, 1<<30, 100)
		if !errors.Is(err, context.Canceled) || calls > n {
			t.Errorf("%d devices: %v after %d calls", n, err, calls)
		}
		for _, dev := range devs {
			checkUnused(t, dev)
		}
	}
}
