package cuda_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/kernels"
)

// wantGPU names the environment variable that makes a missing GPU a failure.
const wantGPU = "HALFULP_WANT_GPU"

// gpu opens the machine's first GPU. Without one the test is left out, unless it must
// not be.
func gpu(t testing.TB) *cuda.Device {
	t.Helper()
	dev, err := cuda.Open(0)
	switch {
	case err == nil:
		return dev
	case os.Getenv(wantGPU) != "":
		t.Fatal(err)
	case errors.Is(err, cuda.ErrNoDevice):
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return nil
}

// TestSanitizeGPU is small enough for compute-sanitizer.
func TestSanitizeGPU(t *testing.T) {
	dev := gpu(t)
	checkArguments(t, dev)
	checkReverse(t, dev)
	checkMailbox(t, dev)
	checkWords(t, dev)
	checkScaleAdd(t, dev, 1000)
}

func TestGPU(t *testing.T) {
	dev := gpu(t)
	t.Log(dev.Info(), "driver", dev.Info().Driver, dev.Info().UUID)
	for _, n := range aroundStages(16 << 20 / 8) {
		checkScaleAdd(t, dev, n)
	}
}

// TestGPUNoLeak creates, computes and frees many times; what the process holds stays.
// Free memory is compared under HALFULP_WANT_GPU alone: other processes may use the GPU.
func TestGPUNoLeak(t *testing.T) {
	dev := gpu(t)
	free := func() (bytes uint64) {
		do(t, dev, func(s *cuda.Stream) (err error) {
			if err = s.Trim(); err == nil {
				bytes, _, err = s.MemInfo()
			}
			return err
		})
		return bytes
	}
	for range 10 {
		checkScaleAdd(t, dev, 10000)
	}
	before, counters := free(), dev.Counters()
	for range cycles {
		checkScaleAdd(t, dev, 10000)
	}
	if after := free(); after != before && os.Getenv(wantGPU) != "" {
		t.Errorf("%d bytes of device memory free, %d cycles ago %d", after, cycles, before)
	}
	if after := dev.Counters(); after != counters {
		t.Errorf("holds %+v, %d cycles ago %+v", after, cycles, counters)
	}
}

// TestGPUOutOfMemory asks for more than there is.
func TestGPUOutOfMemory(t *testing.T) {
	dev := gpu(t)
	do(t, dev, func(s *cuda.Stream) error {
		_, err := s.Alloc(int64(2 * dev.Info().Memory))
		if !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "asked for ") {
			t.Errorf("error %v", err)
		}
		t.Log(err)
		return nil
	})
	checkScaleAdd(t, dev, 1000)
}

func TestGPUNoSuchDevice(t *testing.T) {
	gpu(t)
	if _, err := cuda.Open(999); !errors.Is(err, cuda.ErrNoDevice) {
		t.Error(err)
	}
}

// TestGPUBadPTX checks that the compiler's words are in the error.
func TestGPUBadPTX(t *testing.T) {
	dev := gpu(t)
	do(t, dev, func(s *cuda.Stream) error {
		text := strings.Replace(string(kernels.PTX("selftest/selftest")), "ld.param.u64", "ld.param.nonsense", 1)
		_, err := s.Load([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("error %v", err)
		}
		return nil
	})
}

// TestGPULost runs wander, after which the process cannot use the device any more, in a
// process of its own.
func TestGPULost(t *testing.T) {
	const child = "HALFULP_CUDA_CHILD"
	dev := gpu(t)
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGPULost$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestGPULost") {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	err := dev.Do(background, func(s *cuda.Stream) error {
		f, err := selftest(s, "wander")
		if err != nil {
			return err
		}
		if err := f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0, uint64(16)); err != nil {
			return fmt.Errorf("launch: %w", err)
		}
		return s.Synchronize()
	})
	again := dev.Do(background, func(s *cuda.Stream) error { return s.Synchronize() })
	if !errors.Is(err, cuda.ErrLost) || !errors.Is(again, cuda.ErrLost) {
		t.Errorf("%v; %v", err, again)
	}
	t.Log(err)
}

func selftest(s *cuda.Stream, name string) (*cuda.Function, error) {
	m, err := s.Load(kernels.PTX("selftest/selftest"))
	if err != nil {
		return nil, err
	}
	return m.Function(name)
}

// bench runs f, which does something b.N times.
func bench(b *testing.B, f func(s *cuda.Stream) error) {
	b.Helper()
	dev := gpu(b)
	err := dev.Do(background, func(s *cuda.Stream) error {
		if err := s.Synchronize(); err != nil {
			return err
		}
		b.ResetTimer()
		return errors.Join(f(s), s.Synchronize())
	})
	if err != nil {
		b.Fatal(err)
	}
}

// TestGPURepeated starts a kernel many times with other arguments and grids, before the first ends,
// so that the driver starts it by a graph (package cudadrv), and once more after its module was
// unloaded and loaded again.
func TestGPURepeated(t *testing.T) {
	dev := gpu(t)
	const most, count = 1000, 20
	x := make([]float64, 2*most)
	for i := range x {
		x[i] = float64(i)
	}
	for range 3 {
		do(t, dev, func(s *cuda.Stream) error {
			m, err := s.Load(kernels.PTX("selftest/selftest"))
			if err != nil {
				return err
			}
			defer m.Unload()
			f, err := m.Function("scale_add")
			if err != nil {
				return err
			}
			from, err := cuda.NewCopy(s, x)
			if err != nil {
				return err
			}
			defer from.Free()
			to, err := s.Alloc(8 * most * count)
			if err != nil {
				return err
			}
			defer to.Free()
			if err := s.Zero(to.Pointer(), to.Size()); err != nil {
				return err
			}
			for k := range count {
				n := most - 40*k
				if err := f.Launch(s, cuda.Dim{X: (n + 127) / 128}, cuda.Dim{X: 128}, 0,
					float64(k), from.At(0), from.At(8*most), to.At(int64(8*most*k)), uint32(n)); err != nil {
					return err
				}
			}
			z := make([]float64, most*count)
			if err := cuda.Download(s, z, to.Pointer()); err != nil {
				return err
			}
			for i, got := range z {
				k, j := i/most, i%most
				want := 0.0
				if j < most-40*k {
					want = float64(k*j + most + j)
				}
				if got != want {
					return fmt.Errorf("launch %d: number %d is %v, want %v", k, j, got, want)
				}
			}
			return nil
		})
	}
}

// BenchmarkLaunch measures the launch of a kernel that does nothing: the longer of the
// times that the host and the device take for it.
func BenchmarkLaunch(b *testing.B) {
	bench(b, func(s *cuda.Stream) error {
		f, err := selftest(s, "empty")
		if err != nil {
			return err
		}
		b.ResetTimer()
		for range b.N {
			if err := f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkLaunchHost measures the host's time alone: 100 launches at a time, which the
// driver queues.
func BenchmarkLaunchHost(b *testing.B) {
	bench(b, func(s *cuda.Stream) error {
		f, err := selftest(s, "scale_add")
		if err != nil {
			return err
		}
		m, err := s.Alloc(24 << 10)
		if err != nil {
			return err
		}
		defer m.Free()
		b.ResetTimer()
		for i := range b.N {
			if i%100 == 0 {
				b.StopTimer()
				if err := s.Synchronize(); err != nil {
					return err
				}
				b.StartTimer()
			}
			if err := f.Launch(s, cuda.Dim{}, cuda.Dim{X: 128}, 0, 1.0, m, m.At(8192), m.At(16384), uint32(100)); err != nil {
				return err
			}
		}
		b.StopTimer()
		return nil
	})
}

// BenchmarkLaunchWait measures a launch and the wait for it.
func BenchmarkLaunchWait(b *testing.B) {
	bench(b, func(s *cuda.Stream) error {
		f, err := selftest(s, "empty")
		if err != nil {
			return err
		}
		b.ResetTimer()
		for range b.N {
			if err := errors.Join(f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0), s.Synchronize()); err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkDo measures the way to the device's thread and back.
func BenchmarkDo(b *testing.B) {
	dev := gpu(b)
	for range b.N {
		if err := dev.Do(background, func(*cuda.Stream) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAlloc measures an allocation from the pool.
func BenchmarkAlloc(b *testing.B) {
	bench(b, func(s *cuda.Stream) error {
		for range b.N {
			m, err := s.Alloc(1 << 20)
			if err != nil {
				return err
			}
			m.Free()
		}
		return nil
	})
}

// BenchmarkAllocDriver measures an allocation that the driver makes.
func BenchmarkAllocDriver(b *testing.B) {
	bench(b, func(s *cuda.Stream) error {
		for range b.N {
			m, err := s.Alloc(64 << 20)
			if err != nil {
				return err
			}
			m.Free()
			if err := s.Trim(); err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkUpload(b *testing.B) {
	benchCopy(b, func(s *cuda.Stream, p cuda.Pointer, x []float64) error { return cuda.Upload(s, p, x) })
}

func BenchmarkDownload(b *testing.B) {
	benchCopy(b, func(s *cuda.Stream, p cuda.Pointer, x []float64) error { return cuda.Download(s, x, p) })
}

func benchCopy(b *testing.B, f func(*cuda.Stream, cuda.Pointer, []float64) error) {
	for _, bytes := range []int{8 << 10, 1 << 20, 32 << 20, 512 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", bytes), func(b *testing.B) {
			x := make([]float64, bytes/8)
			for i := range x {
				x[i] = float64(i)
			}
			b.SetBytes(int64(bytes))
			bench(b, func(s *cuda.Stream) error {
				m, err := s.Alloc(int64(bytes))
				if err != nil {
					return err
				}
				defer m.Free()
				b.ResetTimer()
				for range b.N {
					if err := f(s, m.Pointer(), x); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

func BenchmarkFill(b *testing.B) {
	const bytes = 1 << 30
	b.SetBytes(bytes)
	bench(b, func(s *cuda.Stream) error {
		m, err := s.Alloc(bytes)
		if err != nil {
			return err
		}
		defer m.Free()
		b.ResetTimer()
		for range b.N {
			if err := s.Zero(m.Pointer(), bytes); err != nil {
				return err
			}
		}
		return nil
	})
}
