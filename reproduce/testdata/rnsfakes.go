package rns

import (
	"testing"

	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
)

// NewReference returns a fake device with the kernels for bases of several precisions, and the
// kernels of package halfulp. With spoil the sums of its blocks are wrong.
func NewReference(t *testing.T, base func(p int) (*Base, error), precisions []int, spoil bool) *cuda.Device {
	t.Helper()
	of := map[int32]*reference{}
	for _, p := range precisions {
		b, err := base(p)
		must(t, err)
		if of[int32(b.bigM.BitLen())] != nil {
			t.Fatal("two bases of one length")
		}
		of[int32(b.bigM.BitLen())] = &reference{t, b, b.newScratch()}
	}
	drv := &fake.Driver{}
	gputest.Reference(t, drv) // of package halfulp
	gputest.ElementReference(t, drv)
	sums := func(l *fake.Launch, c refBase, s refSums) { of[c.Bits].partial(l, c, s) }
	pairs := func(l *fake.Launch, c refBase, s refPairs) { of[c.Bits].pairwise(l, c, s) }
	for _, name := range []string{"rnsSum", "rnsDot", "rnsRecursiveS", "rnsRecursiveP"} {
		drv.Kernel(name, sums)
	}
	for _, name := range []string{"rnsPairs", "rnsPairwiseS", "rnsPairwiseP"} {
		drv.Kernel(name, pairs)
	}
	drv.Kernel("rnsMap", func(l *fake.Launch, c refBase, k refMaps) { of[c.Bits].mapping(l, c, k) })
	drv.Kernel("rnsTree", func(l *fake.Launch, c refBase, s refTrees) {
		of[c.Bits].tree(l, c, s)
		if spoil {
			of[c.Bits].head(l, s.Z.A, s.Z.at(0, 0)).Exp++
		}
	})
	ofModuli := map[int32]*reference{}
	for _, r := range of {
		ofModuli[int32(r.b.n)] = r
	}
	for name, f := range publishedKernels(func(c refBase) *reference { return of[c.Bits] }, func(n int32) *reference { return ofModuli[n] }) {
		drv.Kernel(name, f)
	}
	dev, err := cuda.OpenDriver(drv, 0)
	must(t, err)
	return dev
}

// RememberBlocks makes blocks those that TuneSum finds for n numbers of the bases, and TuneGemv for
// matrices of order n, in a cache directory of the test.
func RememberBlocks(t *testing.T, dev *cuda.Device, base func(p int) (*Base, error), precisions []int, n int, o Options) {
	t.Helper()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	known := readTunings()
	for _, p := range precisions {
		b, err := base(p)
		must(t, err)
		known[tuneKey(dev.Info().Name, "sum", b, tunedSize(n))] = tuning{o.Blocks, o.BlockSize}
		known[tuneKey(dev.Info().Name, "gemv", b, tunedSize(n))] = tuning{BlockSize: o.BlockSize}
	}
	writeTunings(known)
}
