package product

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/cudadrv/trace"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestForesee repeats products of a shape. Residues are computed by the plan of the products
// before; if the numbers need another plan, they are computed again, and the next products wait
// longer before they trust a plan. Results are right in every case.
func TestForesee(t *testing.T) {
	dev, drv := gputest.Traced(t, false)
	checkForesee(t, dev, func() (residues int) {
		calls, err := drv.Calls()
		if err != nil {
			t.Fatal(err)
		}
		drv.Reset()
		for _, c := range calls {
			if c.Name == "LaunchKernel" && strings.HasPrefix(c.What, "residues") {
				residues++
			}
		}
		return residues
	})
}

// TestDeviceForesee is TestForesee on the machine's GPU.
func TestDeviceForesee(t *testing.T) { checkForesee(t, gputest.Machine(t), nil) }

func checkForesee(t *testing.T, dev *cuda.Device, launches func() (residues int)) {
	const m, n, k = 30, 20, 25
	rng := testseed.Rand(t, 11, 11)
	zero := num.Mat{Arr: num.New(num.Float64, m*k), RS: 1, CS: m, Rows: m, Cols: k}
	// kinds of the left factor in turn, and whether the forecast for it was wrong
	type step struct {
		a     string
		wrong bool
	}
	steps := slices.Concat(slices.Repeat([]step{{"plain", false}}, 5), []step{{"wide", true}, {"plain", false}, {"zero", false}},
		slices.Repeat([]step{{"plain", false}}, 10), []step{{"zero", true}})
	plain, wide := gputest.RandomMat(rng, num.Float64, gputest.Integers, m, k), gputest.RandomMat(rng, num.Float64, gputest.Spread, m, k)
	right := gputest.RandomMat(rng, num.Float64, gputest.Integers, k, n)
	for i, step := range steps {
		err := dev.Do(context.Background(), func(s *cuda.Stream) error {
			var v [2]mem.Matrix
			for i, x := range []num.Mat{map[string]num.Mat{"plain": plain, "wide": wide, "zero": zero}[step.a], right} {
				var err error
				if v[i], err = mem.UploadView(s, x); err != nil {
					return err
				}
				defer v[i].Arr.Free()
			}
			z, err := mem.NewArray(s, num.Float64, m*n)
			if err != nil {
				return err
			}
			defer z.Free()
			c := mem.Matrix{Arr: z, RS: 1, CS: m, Rows: m, Cols: n}
			if launches != nil {
				launches()
			}
			stats, err := GemmOnDevice(s, Config{}, gputest.Scalar(1), v[0], v[1], num.Real{}, c, c)
			if err != nil {
				return err
			}
			key := shape{m: m, n: n, k: k, a: num.Float64, b: num.Float64, c: num.Float64}
			f := engineOf(s).forecasts[key]
			if f.moduli != stats.Moduli || int64(stats.Moduli) != stats.Products {
				t.Errorf("step %d: forecast %+v after %d moduli, %d products", i, f, stats.Moduli, stats.Products)
			}
			if launches != nil {
				want := 1
				if step.wrong {
					want = 2
				}
				if residues := launches(); residues != want {
					t.Errorf("step %d: %d conversions, want %d", i, residues, want)
				}
			}
			return spotCheck(s, gputest.Scalar(1), v[0], v[1], num.Real{}, c, c)
		})
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// TestForeseeBlocks repeats a product of a shape until its plan is trusted, and then once more with
// so little memory that it takes several blocks: it is scanned again. So is a product without room
// for the trusted plan, which needs less.
func TestForeseeBlocks(t *testing.T) {
	fakes := &fake.Driver{TotalMemory: 4200 << 10}
	gputest.Kernels(t, fakes)
	drv := &trace.Driver{Driver: fakes}
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	const n, k = 200, 20
	rng := testseed.Rand(t, 12, 12)
	err = dev.Do(context.Background(), func(s *cuda.Stream) error {
		var v [2]mem.Matrix
		for i, x := range []num.Mat{gputest.RandomMat(rng, num.Float64, gputest.Uniform, n, k), gputest.RandomMat(rng, num.Float64, gputest.Uniform, k, n)} {
			var err error
			if v[i], err = mem.UploadView(s, x); err != nil {
				return err
			}
		}
		z, err := mem.NewArray(s, num.Float64, n*n)
		if err != nil {
			return err
		}
		c := mem.Matrix{Arr: z, RS: 1, CS: n, Rows: n, Cols: n}
		for i := range 5 {
			last := i >= 3
			switch i {
			case 3:
				if _, err := s.Alloc(1 << 20); err != nil {
					return err
				}
			case 4:
				most := len(machine(false).Bits) - 1
				key := shape{m: n, n: n, k: k, a: num.Float64, b: num.Float64, c: num.Float64}
				engineOf(s).forecasts[key] = forecast{moduli: most, widthL: 53, widthR: 53, same: 9}
			}
			drv.Reset()
			stats, err := GemmOnDevice(s, Config{}, gputest.Scalar(1), v[0], v[1], num.Real{}, c, c)
			if err != nil {
				return err
			}
			calls, err := drv.Calls()
			if err != nil {
				return err
			}
			scans := 0
			for _, c := range calls {
				if c.Name == "LaunchKernel" && strings.HasPrefix(c.What, "scan ") {
					scans++
				}
			}
			if want := 1 + int(abi.Flag(last)); scans != want || stats.Blocks > 1 != last {
				t.Errorf("product %d: %d scans, want %d; %d blocks", i, scans, want, stats.Blocks)
			}
			if err := spotCheck(s, gputest.Scalar(1), v[0], v[1], num.Real{}, c, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestForeseeLong repeats a product whose integers are so long that kernel settle rounds them. Its
// residues are not foreseen.
func TestForeseeLong(t *testing.T) {
	dev := gputest.Reference(t, new(fake.Driver))
	f := gputest.MP(3200)
	for range 4 {
		check(t, dev, problem{in: f, inB: f, out: f, m: 3, n: 2, k: 2, alpha: 1})
	}
}
