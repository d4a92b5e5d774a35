package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestEmulated runs kernels themselves, compiled for the host, with the tests of their references.
// With HALFULP_EMULATE=all all tests do so.
func TestEmulated(t *testing.T) {
	t.Setenv(gputest.Emulate, "rows/structured rows/triangular exact/finish rows/batch")
	t.Run("structured", TestStructured)
	t.Run("check", TestCheck)
	t.Run("systems", TestSystems)
	t.Run("batches", TestGemmBatch)
}

// TestSystems compares solutions of triangular systems on a GPU with the CPU's: of numbers of like
// size, spread widely, and of small integers, whose quotients are ties or exact.
func TestSystems(t *testing.T) {
	gputest.OnDevices(t, 50, 150, func(t *testing.T, most int) {
		seed := testseed.Of(t)
		r := rand.New(rand.NewPCG(seed, 0))
		for trial := range testlength.Of(24, 30, 500) {
			if what := compareSystem(r, most); what != "" {
				t.Fatalf("seed %d, trial %d: %s", seed, trial, what)
			}
		}
	})
}

// compareSystem says what differs of a random system of an order up to most.
func compareSystem(r *rand.Rand, most int) string {
	n, k, family := 1+r.IntN(most), 1+r.IntN(4), r.IntN(5)
	formats := []Format{Float64, Float32, MP(2), MP(24), MP(33), MP(64), MP(106), MP(424), DD, QD}
	f := [3]Format{}
	for i := range f {
		f[i] = formats[r.IntN(len(formats))]
		if i > 0 && r.IntN(2) == 0 {
			f[i] = f[0]
		}
	}
	a, b := gallery.Random(f[0], n, n, []int{0, 40, 5, 5, 5}[family], r.Uint64()), gallery.Random(f[1], n, k, 30, r.Uint64())
	for i := range n {
		if family < 3 {
			break
		}
		for j := range n {
			a.SetFloat64(i, j, float64(r.IntN(5)-2))
		}
		a.SetFloat64(i, i, math.Ldexp(float64(1+2*r.IntN(2)*(family-3)), r.IntN(3)))
		for j := range k {
			b.SetFloat64(i, j, float64(r.IntN(1<<25)-1<<24))
			if r.IntN(4) == 0 {
				b.SetFloat64(i, j, math.Copysign(0, float64(r.IntN(2))-0.5))
			}
		}
	}
	alpha := []Scalar{Float(1), Float(-0.75), Float(0x1p-1000)}[r.IntN(3)]
	uplo, trans, diag := []Uplo{Upper, Lower}[r.IntN(2)], []Transpose{NoTrans, Trans}[r.IntN(2)], []Diag{Unit, NonUnit}[r.IntN(2)]
	want := NewMatrix(f[2], n, k)
	var sw Stats
	ok(TrsmTo(Left, uplo, trans, diag, alpha, a, b, want, onCPU.WithStats(&sw)))
	da, db, dx := must(a.On("cuda:0")), must(b.On("cuda:0")), must(NewMatrix(f[2], n, k).On("cuda:0"))
	defer da.Free()
	defer db.Free()
	defer dx.Free()
	var sx Stats
	ok(TrsmTo(Left, uplo, trans, diag, alpha, da, db, dx, &Options{Stats: &sx}))
	if must(dx.Host()).Same(want) && sx.Overflow == sw.Overflow && sx.Underflow == sw.Underflow {
		return ""
	}
	return fmt.Sprintf("T %v, B %v, X %v, n = %d, k = %d, %v, %v, %v, family %d, alpha %v: other bits than on the CPU, or counts: %+v, %+v",
		f[0], f[1], f[2], n, k, uplo, trans, diag, family, alpha, sx, sw)
}
