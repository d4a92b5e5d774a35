package gpu

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
)

// Iamax returns the index of the first entry of largest magnitude of a vector of the host, -1 if it
// is empty, like direct.LargestIndex.
func Iamax(dev *cuda.Device, cfg Config, x num.Vec) (int, Counts, error) {
	cfg = cfg.defaults()
	host := func() (num.Vec, error) { return x, nil }
	if !applies(x.N) {
		return largestOnHost(cfg, host)
	}
	best := -1
	var counts Counts
	err := dev.Do(cfg.Ctx, func(s *cuda.Stream) error {
		v, err := uploadVector(s, x)
		if err != nil {
			return err
		}
		defer v.Arr.Free()
		best, counts, err = largest(s, cfg, v, host)
		return err
	})
	return best, counts, err
}

// IamaxResident is Iamax for a vector in the memory of the device of s.
func IamaxResident(s *cuda.Stream, cfg Config, x Vector) (int, Counts, error) {
	cfg = cfg.defaults()
	host := func() (num.Vec, error) {
		m, err := x.Col().Get(s)
		return m.Col(0), err
	}
	if !applies(x.N) {
		return largestOnHost(cfg, host)
	}
	return largest(s, cfg, x, host)
}

func largestOnHost(cfg Config, host func() (num.Vec, error)) (int, Counts, error) {
	x, err := host()
	if err != nil {
		return -1, Counts{Host: 1}, err
	}
	i, err := direct.LargestIndex(direct.Work{Context: cfg.Ctx, Threads: cfg.Threads}, x)
	return i, Counts{Host: 1}, err
}

const (
	searchThreads = 256 // of a block of the kernel largest
	searchBatch   = 8   // entries that a thread looks at, if there are few
)

// searching is what the kernel takes, laid out as in kernels/elementwise.cu.
type searching struct {
	x             vectors
	from, to, odd cuda.Pointer
	n             int32
}

// largest searches on the device. Blocks find one entry each, and a block one of those.
func largest(s *cuda.Stream, cfg Config, x Vector, host func() (num.Vec, error)) (int, Counts, error) {
	f, err := reducerOf(s).function(s, "elementwise", "largest")
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
	k := searching{x: x.Col().rows(), to: m.At(8), odd: m.At(4), n: int32(x.N)}
	if err := f.Launch(s, cuda.Dim{X: blocks}, cuda.Dim{X: searchThreads}, 0, k); err != nil {
		return -1, Counts{}, err
	}
	k.from, k.to, k.n = k.to, m.Pointer(), int32(blocks)
	if err := f.Launch(s, cuda.Dim{X: 1}, cuda.Dim{X: searchThreads}, 0, k); err != nil {
		return -1, Counts{}, err
	}
	var found [2]int32 // index, and whether there are numbers that cannot be compared
	if err := cuda.Download(s, found[:], m.Pointer()); err != nil {
		return -1, Counts{}, err
	}
	if found[1] != 0 {
		return largestOnHost(cfg, host)
	}
	return int(found[0]), Counts{}, nil
}
