package gpu_test

import (
	"errors"
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

// TestGemmBatch compares batches on a GPU with single products on the CPU, bit for bit.
func TestGemmBatch(t *testing.T) {
	gputest.OnDevices(t, 10, 70, func(t *testing.T, most int) {
		seed := testseed.Of(t)
		r := rand.New(rand.NewPCG(seed, 0))
		launched := 0
		for trial := range testlength.Of(10, 20, 1000) {
			what, together := compareBatch(r, most)
			if what != "" {
				t.Fatalf("seed %d, trial %d: %s", seed, trial, what)
			}
			launched += together
		}
		if launched == 0 {
			t.Error("nothing was computed together")
		}
	})
}

// batchFamilies make numbers: of like size; spread by some 30 and 60 octaves, and by 1000; small
// integers, which cancel to zeros of both signs and give ties; around the ends of the range; with
// infinities and NaN in some problems.
var batchFamilies = []string{"uniform", "spread 30", "spread 60", "spread 1000", "integers", "edges", "special"}

func batchMatrix(r *rand.Rand, f Format, rows, cols, family, problem int) *Matrix {
	m := gallery.Random(f, rows, cols, 0, r.Uint64())
	scale := func(i, j, e int) {
		x := m.Big(i, j)
		m.SetBig(i, j, x.SetMantExp(x, e))
	}
	for i := range rows {
		for j := range cols {
			switch batchFamilies[family] {
			case "spread 30":
				scale(i, j, r.IntN(30))
			case "spread 60":
				scale(i, j, r.IntN(60))
			case "spread 1000":
				if f != Float32 {
					scale(i, j, r.IntN(1000)-500)
				}
			case "integers":
				m.SetFloat64(i, j, float64(r.IntN(5)-2))
				switch r.IntN(6) {
				case 0:
					m.SetFloat64(i, j, math.Copysign(0, -1))
				case 1:
					m.SetFloat64(i, j, float64(r.IntN(1<<26)-1<<25))
				}
			case "edges":
				scale(i, j, []int{500, 511, -530, -537}[problem%4]/map[bool]int{false: 1, true: 8}[f == Float32])
			case "special":
				if problem%5 == 0 && r.IntN(10) == 0 {
					m.SetFloat64(i, j, []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0}[r.IntN(4)])
				}
			}
		}
	}
	return m
}

// compareBatch returns what differs in a random batch, and how many products were computed
// together.
func compareBatch(r *rand.Rand, most int) (what string, together int) {
	formats := []Format{Float64, Float32, MP(2), MP(24), MP(64), MP(106), MP(212), MP(424), MP(500), DD, TD, QD}
	f := formats[r.IntN(len(formats))]
	fc := f
	if r.IntN(3) == 0 {
		fc = formats[r.IntN(len(formats))]
	}
	m, n, k, count, family := 1+r.IntN(most), 1+r.IntN(most), 1+r.IntN(most), 1+r.IntN(40), r.IntN(len(batchFamilies))
	if r.IntN(4) == 0 {
		n = 1
	}
	if r.IntN(8) == 0 {
		k = r.IntN(3)
	}
	tA, tB, away := []Transpose{NoTrans, Trans}[r.IntN(2)], []Transpose{NoTrans, Trans}[r.IntN(2)], r.IntN(2) == 0
	alpha, beta := []Scalar{Float(1), Float(1), Float(-1), Float(0x1p-30), Float(3)}[r.IntN(5)], Float(0)
	if r.IntN(6) == 0 {
		beta = Float(-1)
	}
	parts := r.IntN(2) == 0 // of larger matrices
	var devices []*Matrix
	defer func() {
		for _, d := range devices {
			d.Free()
		}
	}()
	var lists, there [3][]*Matrix
	for i := range count {
		for o, s := range [...]struct {
			t          Transpose
			f          Format
			rows, cols int
		}{{tA, f, m, k}, {tB, f, k, n}, {NoTrans, fc, m, n}} {
			if s.t == Trans {
				s.rows, s.cols = s.cols, s.rows
			}
			if o < 2 && i > 0 && r.IntN(5) == 0 {
				lists[o], there[o] = append(lists[o], lists[o][i-1]), append(there[o], there[o][i-1])
				continue
			}
			gap := 0
			if parts {
				gap = 2
			}
			whole := batchMatrix(r, s.f, s.rows+gap, s.cols+gap, family, i)
			copied := whole.Clone()
			if away {
				copied = must(whole.On("cuda:0"))
				devices = append(devices, copied)
			}
			lists[o] = append(lists[o], whole.Slice(gap/2, gap/2+s.rows, gap/2, gap/2+s.cols))
			there[o] = append(there[o], copied.Slice(gap/2, gap/2+s.rows, gap/2, gap/2+s.cols))
		}
	}
	// Results that are operands of their own problem or of the next one.
	if f == fc && m == n && n == k && tA == NoTrans && r.IntN(2) == 0 {
		i := r.IntN(count)
		j := min(i+r.IntN(2), count-1)
		lists[2][i], there[2][i] = lists[0][j], there[0][j]
	}
	opt := &Options{Device: "cuda:0"}
	var got Stats
	opt.Stats = &got
	ok(GemmBatch(tA, tB, alpha, there[0], there[1], beta, there[2], opt))
	if got.Method == Direct {
		together = got.Blocks
	}
	var sum Stats
	for i := range count {
		var one Stats
		ok(Gemm(tA, tB, alpha, lists[0][i], lists[1][i], beta, lists[2][i], onCPU.WithStats(&one)))
		sum.Overflow += one.Overflow
		sum.Underflow += one.Underflow
	}
	for i := range count {
		z := there[2][i]
		if away {
			z = must(z.Host())
		}
		if !z.Same(lists[2][i]) {
			what = fmt.Sprintf("problem %d of %d has other bits: got %v, want %v", i, count, z, lists[2][i])
			break
		}
	}
	if sum.Overflow != got.Overflow || sum.Underflow != got.Underflow {
		what += fmt.Sprintf("; counts %d and %d, want %d and %d", got.Overflow, got.Underflow, sum.Overflow, sum.Underflow)
	}
	if what != "" {
		what = fmt.Sprintf("%v to %v, %d x %d x %d, %v, %v, alpha %v, beta %v, %s, away %v, parts %v: %s", f, fc, m, n, k, tA, tB, alpha, beta, batchFamilies[family], away, parts, what)
	}
	return what, together
}

// TestGemmBatchLimit computes products of the host in parts, whose memory keeps to a limit, and
// refuses a limit below the memory of one product.
func TestGemmBatchLimit(t *testing.T) {
	gputest.OnDevices(t, 0, 0, func(t *testing.T, _ int) {
		const count, n = 20, 8
		var a, b, c, want []*Matrix
		for i := range uint64(count) {
			a, b = append(a, gallery.Random(MP(106), n, n, 0, 2*i+1)), append(b, gallery.Random(MP(106), n, n, 0, 2*i+2))
			c, want = append(c, NewMatrix(MP(106), n, n)), append(want, NewMatrix(MP(106), n, n))
			ok(Gemm(NoTrans, NoTrans, Float(1), a[i], b[i], Float(0), want[i], onCPU))
		}
		var st Stats
		ok(GemmBatch(NoTrans, NoTrans, Float(1), a, b, Float(0), c, &Options{Device: "cuda:0", MemoryLimit: 10_000, Stats: &st}))
		if st.Method != Direct || st.Blocks != count {
			t.Errorf("%d of %d products together, by %v", st.Blocks, count, st.Method)
		}
		for i := range c {
			if !c[i].Same(want[i]) {
				t.Errorf("product %d has other bits", i)
			}
		}
		if err := GemmBatch(NoTrans, NoTrans, Float(1), a, b, Float(0), c, &Options{Device: "cuda:0", MemoryLimit: 1000}); !errors.Is(err, ErrMemory) {
			t.Errorf("a limit of 1000 bytes: %v", err)
		}
	})
}
