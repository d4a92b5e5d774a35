package seed

import (
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFailing has launches fail, one after the other: Tridiagonal and NewResiduals return the error
// and free their memory.
func TestFailing(t *testing.T) {
	const n = 3
	a := randomMP(testseed.Rand(t, 11, 12), 128, n, 0)
	for name, f := range map[string]func(s *cuda.Stream, m mem.Matrix) error{
		"Tridiagonal": func(s *cuda.Stream, m mem.Matrix) error {
			r, _, _, err := Tridiagonal(t.Context(), s, m)
			if err == nil {
				r.Free()
			}
			return err
		},
		"NewResiduals": func(s *cuda.Stream, m mem.Matrix) error {
			z, _, _, err := NewResiduals(s, m, m, make([]float64, n), make([]float64, n))
			if err == nil {
				z.Free()
			}
			return err
		},
	} {
		drv := new(fake.Driver)
		dev := gputest.SeedReference(t, drv)
		for after := 0; ; after++ {
			drv.Fail("LaunchKernel", after, cudadrv.NotSupported)
			var err error
			if err := dev.Do(t.Context(), func(s *cuda.Stream) error {
				m, failed := mem.UploadView(s, a)
				if failed != nil {
					return failed
				}
				defer m.Arr.Free()
				err = f(s, m)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if c := dev.Counters(); c.InUse != 0 {
				t.Fatalf("%s: launch %d: %d bytes are in use", name, after, c.InUse)
			}
			if err == nil {
				if after == 0 {
					t.Errorf("%s: no launch failed", name)
				}
				break
			}
			if cudadrv.CodeOf(err) != cudadrv.NotSupported {
				t.Fatalf("%s: launch %d: %v", name, after, err)
			}
		}
	}
}
