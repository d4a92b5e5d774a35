package cuda_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestCopies checks copies there and back by one and by several goroutines, in pieces that are as
// large as staging buffers, or smaller, and that nothing is written beside them.
func TestCopies(t *testing.T) {
	const share = 256 << 10
	for _, processors := range []int{1, 3, 7} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		restore := cuda.SetStaging(2*share + 100)
		dev, err := cuda.OpenDriver(new(fake.Driver), 0)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		do(t, dev, func(s *cuda.Stream) error {
			r := testseed.Rand(t, 1, 2)
			for _, n := range []int{1, 100, share, 2*share - 1, 2 * share, 3*share + 17, 7*share + 1, 40*share + 63} {
				src, dst := make([]byte, n), make([]byte, n+2)
				for i := range src {
					src[i] = byte(r.Uint32())
				}
				m, err := cuda.NewCopy(s, src)
				if err != nil {
					return err
				}
				if err := cuda.Download(s, dst[1:n+1], m.Pointer()); err != nil {
					return err
				}
				if !bytes.Equal(dst[1:n+1], src) || dst[0] != 0 || dst[n+1] != 0 {
					t.Errorf("%d processors: %d bytes are copied wrong", processors, n)
				}
				m.Free()
			}
			return nil
		})
	}
}
