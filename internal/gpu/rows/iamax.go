package rows

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Iamax returns the index of the first entry of largest magnitude of a host vector, -1 if it is
// empty, like direct.LargestIndex.
func Iamax(dev *cuda.Device, cfg par.Run, x num.Vec) (int, Counts, error) {
	cfg = cfg.Filled()
	host := func() (num.Vec, error) { return x, nil }
	if !applies(x.N) {
		return largestOnHost(cfg, host)
	}
	best := -1
	var counts Counts
	err := dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
		v, err := mem.UploadVector(s, x)
		if err != nil {
			return err
		}
		defer v.Arr.Free()
		best, counts, err = largest(s, cfg, v, host)
		return err
	})
	return best, counts, err
}

// IamaxOnDevice is Iamax for a vector in the memory of the device of s.
func IamaxOnDevice(s *cuda.Stream, cfg par.Run, x mem.Vector) (int, Counts, error) {
	cfg = cfg.Filled()
	host := func() (num.Vec, error) {
		m, err := x.Col().Get(s)
		return m.Col(0), err
	}
	if !applies(x.N) {
		return largestOnHost(cfg, host)
	}
	return largest(s, cfg, x, host)
}

func largestOnHost(cfg par.Run, host func() (num.Vec, error)) (int, Counts, error) {
	x, err := host()
	if err != nil {
		return -1, Counts{Host: 1}, err
	}
	i, err := direct.LargestIndex(direct.Work{Run: cfg}, x)
	return i, Counts{Host: 1}, err
}

const (
	searchThreads = 256 // of a block of the kernel largest
	searchBatch   = 8   // entries that a thread examines in short vectors
)

// largest searches on the device. Each block finds one entry, and then a single block the largest
// of these.
func largest(s *cuda.Stream, cfg par.Run, x mem.Vector, host func() (num.Vec, error)) (int, Counts, error) {
	f, err := launch.KernelsOf(s).Function(s, "rows/elementwise", "largest")
	if err != nil {
		return -1, Counts{}, err
	}
	blocks := min((x.N+searchThreads*searchBatch-1)/(searchThreads*searchBatch), 8*s.Device().Info().Multiprocessors)
	m, err := s.Alloc(8 + 4*int64(blocks))
	if err != nil {
		return -1, Counts{}, err
	}
	defer m.Free()
	if err := s.Zero(m.At(4), 4); err != nil {
		return -1, Counts{}, err
	}
	k := abi.Searching{X: abi.RowsOf(x.Col()), To: m.At(8), Odd: m.At(4), N: int32(x.N)}
	if err := f.Launch(s, cuda.Dim{X: blocks}, cuda.Dim{X: searchThreads}, 0, k); err != nil {
		return -1, Counts{}, err
	}
	k.From, k.To, k.N = k.To, m.Pointer(), int32(blocks)
	if err := f.Launch(s, cuda.Dim{X: 1}, cuda.Dim{X: searchThreads}, 0, k); err != nil {
		return -1, Counts{}, err
	}
	var found [2]int32 // the index, and whether some numbers cannot be compared
	if err := cuda.Download(s, found[:], m.Pointer()); err != nil {
		return -1, Counts{}, err
	}
	if found[1] != 0 {
		return largestOnHost(cfg, host)
	}
	return int(found[0]), Counts{}, nil
}
