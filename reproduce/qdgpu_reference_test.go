package reproduce

import (
	"errors"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// refEntries is struct entries of kernels/expansion/expansion.cuh.
type refEntries struct {
	W      [4]cuda.Pointer
	RS, CS int64
}

// qdReference registers kernels of the operations, which compute as the CPU does, except the kernel
// of the given kind and operation, which errs in the last bit of a number.
func qdReference(drv *fake.Driver, wrong string) {
	suffixes := map[halfulp.Format]string{halfulp.Float64: "Double", halfulp.DD: "DD", halfulp.TD: "TD", halfulp.QD: "QD"}
	for _, f := range qdKinds {
		for _, op := range qdOperations {
			name := op.kernel
			switch {
			case f.method == qdExact:
				continue
			case f.method == expansion.Published:
				name = "Published" + name
			case f.format != halfulp.Float64 && op.isFunction() && op.name != "sqrt":
				name = "_" + name
			}
			drv.Kernel("expansion"+name+suffixes[f.format], func(l *fake.Launch, z, x, y, _ refEntries, rows, cols int64, _, _ int32) {
				n := int(rows * cols)
				var in [2]*halfulp.Vector
				for i, e := range []refEntries{x, y} {
					in[i] = halfulp.NewVector(f.format, n)
					a := in[i].View().Arr
					for t := range a.Terms() {
						if e.W[t] != 0 {
							copy(a.F64[t], fake.Slice[float64](l, e.W[t], n))
						}
					}
				}
				out := halfulp.NewVector(f.format, n)
				a := out.View().Arr
				if f.format == halfulp.Float64 {
					op.double(a.F64[0], in[0].View().Arr.F64[0], in[1].View().Arr.F64[0])
				} else if err := op.run(in[0], in[1], out, &halfulp.Options{Method: f.method}); err != nil {
					panic(err)
				}
				if wrong == f.name+" "+op.name {
					a.F64[0][n/2] *= 1 + 0x1p-52
				}
				for t := range a.Terms() {
					copy(fake.Slice[float64](l, z.W[t], n), a.F64[t])
				}
			})
		}
	}
}

// qdOnReference measures the operations on a fake GPU with these kernels.
func qdOnReference(t *testing.T, wrong string) (*Report, error) {
	t.Helper()
	defer func(n, length, many int, d time.Duration) { qdLong, qdLength, qdMany, qdEnough = n, length, many, d }(qdLong, qdLength, qdMany, qdEnough)
	qdLong, qdLength, qdMany, qdEnough = 200, 128, 512, time.Microsecond // 128 are compared
	devices, drivers := gputest.References(t, 1)
	defer mem.Substitute(devices...)()
	qdReference(drivers[0], wrong)
	e, err := (&Options{Device: "cuda:0", Threads: 1}).start(plan{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Name: qdName, GPU: e.gpuTitle()}
	for _, f := range qdKinds {
		if err := e.qdGPUOperations(r, f); err != nil {
			return r, err
		}
		if err := e.qdOperations(r, f); err != nil {
			return r, err
		}
	}
	r.qdRatios()
	return r, nil
}

// TestQDReference measures the operations on a fake GPU: all kinds and launch schemes have records,
// ratios follow from them, and results were compared.
func TestQDReference(t *testing.T) {
	r, err := qdOnReference(t, "")
	if err != nil {
		t.Fatal(err)
	}
	each, rounded := len(qdKinds)-2, 2
	for table, want := range map[string]int{
		tableQDFixed: 3 * each, tableQDSpread: 3*each + rounded, tableQDCompute: 2 * 3 * each, tableQDFunctions: 4 * each,
		tableQDCached: 2 * 4 * each, tableQDBits: each - 1, "table 5.1-2": 3 * each, "table 5.1-4": 3*each + rounded,
		"table 5.1-6": 2 * 3 * each, "table 5.2.5-2": 4 * each, "table 5.2.5-4": 2 * 4 * each,
	} {
		n := 0
		for _, k := range r.find(table) {
			if k.Device == r.GPU && *k.Here > 0 {
				n++
			}
		}
		if n != want {
			t.Errorf("%s has %d figures of the GPU, want %d", table, n, want)
		}
	}
	for _, k := range r.find(tableQDBits) {
		if want := 128.0 * (3*4 + 4*3); *k.Here != want { // in each launch
			t.Errorf("%s: %v results were compared, want %v", k.Case, *k.Here, want)
		}
	}
}

// TestQDReferenceWrong: a result with another last bit ends the experiment.
func TestQDReferenceWrong(t *testing.T) {
	for _, wrong := range []string{"qd, published *", "dd exp"} {
		if _, err := qdOnReference(t, wrong); !errors.Is(err, errBits) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
