package rns

import (
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// NewReference returns a fake device with the kernels for bases of several precisions. With
// spoil the sums of its blocks are wrong.
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
	dev, err := cuda.OpenDriver(drv, 0)
	must(t, err)
	return dev
}

// RememberSum makes blocks those that TuneSum finds for n numbers of the bases, in a cache
// directory of the test.
func RememberSum(t *testing.T, dev *cuda.Device, base func(p int) (*Base, error), precisions []int, n int, o Options) {
	t.Helper()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	known := readTunings()
	for _, p := range precisions {
		b, err := base(p)
		must(t, err)
		known[tuneKey(dev, "sum", b, tunedSize(n))] = tuning{o.Blocks, o.BlockSize}
	}
	writeTunings(known)
}
