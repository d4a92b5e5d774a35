package cuda_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// fetchSeveral has copies on their way at a time, whose sources change behind them, some of which
// nobody waits for.
func fetchSeveral(s *cuda.Stream) error {
	var list []*cuda.Fetch
	var want [][]int32
	defer func() {
		for _, f := range list {
			f.Drop()
		}
	}()
	for i, n := range []int{1, 3000, 17, 100000, 5} {
		x := make([]int32, n)
		for k := range x {
			x[k] = int32(k*i + i)
		}
		m, err := cuda.NewCopy(s, x)
		if err != nil {
			return err
		}
		defer m.Free()
		f, err := s.Fetch(m.Pointer(), 4*n)
		if err != nil {
			return err
		}
		list, want = append(list, f), append(want, x)
		if err := s.Zero(m.Pointer(), int64(4*n)); err != nil {
			return err
		}
	}
	list[2].Drop()
	for _, i := range []int{4, 3, 1, 0} {
		got := make([]int32, len(want[i]))
		if err := cuda.Arrive(list[i], got); err != nil {
			return err
		}
		if !slices.Equal(got, want[i]) {
			return fmt.Errorf("copy %d of %d numbers differs", i, len(got))
		}
	}
	return nil
}

func checkFetch(t *testing.T, dev *cuda.Device) {
	t.Helper()
	for range 40 { // when buffers are large enough
		do(t, dev, fetchSeveral)
	}
	before := dev.Counters()
	for range 10 {
		do(t, dev, fetchSeveral)
	}
	if after := dev.Counters(); after != before {
		t.Errorf("%+v after fetches, %+v before", after, before)
	}
}

// TestFetch lets each call in turn fail as well: the error comes out, no buffer is lost, and the
// device works on.
func TestFetch(t *testing.T) {
	drv := new(fake.Driver)
	dev := open(t, drv)
	checkFetch(t, dev)
	for n := 0; ; n++ {
		drv := new(fake.Driver)
		dev := open(t, drv)
		drv.ForgetCalls()
		drv.Fail("", n, cudadrv.InvalidValue)
		err := dev.Do(background, fetchSeveral)
		if len(drv.Calls()) <= n {
			return
		}
		if cudadrv.CodeOf(err) != cudadrv.InvalidValue {
			t.Errorf("call %d, %s, failed: error %v", n, drv.Calls()[n], err)
		}
		do(t, dev, fetchSeveral)
		do(t, dev, (*cuda.Stream).Trim)
		if l := drv.Live(); l.Memory != 0 || l.Events != l.Host {
			t.Errorf("call %d, %s, failed: left %+v", n, drv.Calls()[n], l)
		}
	}
}

// TestDownloadAll copies pieces of all sizes, none, one and several.
func TestDownloadAll(t *testing.T) {
	check := func(t *testing.T, dev *cuda.Device) {
		do(t, dev, func(s *cuda.Stream) error {
			for _, sizes := range [][]int{nil, {0}, {3}, {0, 0}, {5, 0}, {1, 64 << 10, 9}, {64<<10 + 1, 7, 3 << 20}, {2, 3 << 20, 0, 4}} {
				all := 0
				for _, n := range sizes {
					all += n
				}
				src := make([]byte, all)
				for i := range src {
					src[i] = byte(i ^ i>>8 ^ i>>16 + 1)
				}
				m, err := cuda.NewCopy(s, slices.Concat(src, []byte{0}))
				if err != nil {
					return err
				}
				defer m.Free()
				dst := make([]byte, all+1)
				var pieces []cuda.Piece
				for at := 0; len(sizes) > 0; sizes = sizes[1:] {
					pieces = append(pieces, cuda.To(dst[at:at+sizes[0]], m.At(int64(at))))
					at += sizes[0]
				}
				if err := cuda.DownloadAll(s, pieces...); err != nil {
					return err
				}
				if !slices.Equal(dst[:all], src) || dst[all] != 0 {
					t.Errorf("%d pieces of %d bytes are copied wrong", len(pieces), all)
				}
			}
			return nil
		})
	}
	check(t, open(t, new(fake.Driver)))
	t.Run("GPU", func(t *testing.T) { check(t, gpu(t)) })
}

// TestGPUFetch fetches on the machine's GPU.
func TestGPUFetch(t *testing.T) { checkFetch(t, gpu(t)) }
