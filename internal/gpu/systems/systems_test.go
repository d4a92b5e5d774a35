package systems

import (
	"bytes"
	"context"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestUploadParts copies parts of all lengths, of which some lie in several staging buffers.
func TestUploadParts(t *testing.T) {
	dev, err := cuda.OpenDriver(new(fake.Driver), 0)
	if err != nil {
		t.Fatal(err)
	}
	r := testseed.Rand(t, 1, 2)
	err = dev.Do(context.Background(), func(s *cuda.Stream) error {
		for _, n := range []int{1, 100, 1 << 20, 5<<20 + 1} {
			src, dst := make([]byte, n), make([]byte, n)
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			var parts [][]byte
			for rest := src; len(rest) > 0; {
				k := min(len(rest), r.IntN(n/3+2)) // 0 now and then
				parts, rest = append(parts, rest[:k]), rest[k:]
			}
			m, err := s.Alloc(int64(n))
			if err != nil {
				return err
			}
			defer m.Free()
			if err := uploadParts(s, m.Pointer(), parts); err != nil {
				return err
			}
			if err := cuda.Download(s, dst, m.Pointer()); err != nil {
				return err
			}
			if !bytes.Equal(dst, src) {
				t.Errorf("%d parts of %d bytes are copied wrong", len(parts), n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
