package halfulp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// sameMatrix reports whether two matrices have the same bits.
func sameMatrix(a, b *Matrix) bool {
	for j := range a.Cols() {
		for i := range a.Rows() {
			if !a.m.Arr.SameBits(a.m.At(i, j), b.m.Arr, b.m.At(i, j)) {
				return false
			}
		}
	}
	return true
}

// TestGemmBatch compares batches with single calls, bit for bit, and their statistics: shapes and
// formats alike or not, large problems between small ones, special values, shared and overlapping
// operands, too little memory for two at a time.
func TestGemmBatch(t *testing.T) {
	r := testseed.Rand(t, 3, 7)
	formats := []Format{Float32, Float64, DD, TD, QD, MP(20), MP(106), MP(424), MP(1000)}
	for trial := range 60 {
		count := []int{0, 1, 2, 30, 70}[trial%5]
		f := formats[trial%len(formats)]
		mixed := trial%4 == 3
		tA, tB := []Transpose{NoTrans, Trans}[trial%2], []Transpose{NoTrans, Trans}[trial/2%2]
		var a, b, c []*Matrix
		m, n, k := r.IntN(6), 1+r.IntN(6), r.IntN(7)
		shaped := func(t Transpose, f Format, rows, cols int) *Matrix {
			if t == Trans {
				rows, cols = cols, rows
			}
			z := randomMatrix(f, rows, cols, r.IntN(3), r.Uint64())
			if rows*cols > 0 && r.IntN(20) == 0 {
				z.SetFloat64(r.IntN(rows), r.IntN(cols), []float64{0, 1 / zero, zero / zero, -1 / zero}[r.IntN(4)])
			}
			return z
		}
		for i := range count {
			if mixed {
				f, m, n, k = formats[r.IntN(len(formats))], r.IntN(7), r.IntN(7), r.IntN(7)
				if i == 9 {
					f, m, n, k = Float64, 70, 60, 3000
				}
			}
			a, b, c = append(a, shaped(tA, f, m, k)), append(b, shaped(tB, f, k, n)), append(c, shaped(NoTrans, f, m, n))
			if i > 0 && !mixed && r.IntN(3) == 0 {
				b[i] = b[r.IntN(i)]
			}
		}
		chain := trial%6 == 5 && m == n && n == k // each result is a factor of the next problem
		if trial%6 == 5 && !mixed {
			m = n
			k = n
			chain = true
			for i := range c {
				a[i], b[i], c[i] = shaped(tA, f, n, n), shaped(tB, f, n, n), shaped(NoTrans, f, n, n)
				if i > 0 {
					b[i] = c[i-1]
				}
				if i%3 == 1 {
					c[i] = a[i]
				}
			}
		}
		alpha, beta := Float(1), Float([]float64{0, 0, 1, -1.5}[trial%4])
		if trial%5 == 3 {
			alpha = Float(-3)
		}
		// Copies with the same sharing.
		copies := map[*Matrix]*Matrix{}
		copied := func(list []*Matrix) (z []*Matrix) {
			for _, m := range list {
				if copies[m] == nil {
					copies[m] = m.Clone()
				}
				z = append(z, copies[m])
			}
			return z
		}
		a2, b2, c2 := copied(a), copied(b), copied(c)
		var got, want, one Stats
		opt := &Options{Threads: 1 + trial%3, Stats: &got}
		if trial%7 == 6 {
			opt.MemoryLimit = 1 << 20
		}
		share, calls := 0.0, 0
		opt.Progress = func(done float64) {
			if done <= share || done > 1 {
				t.Errorf("trial %d: progress %g after %g", trial, done, share)
			}
			share = done
			calls++
		}
		if err := GemmBatch(tA, tB, alpha, a, b, beta, c, opt); err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		if count > 0 && share != 1 {
			t.Errorf("trial %d: progress ended at %g", trial, share)
		}
		for i := range c2 {
			if err := Gemm(tA, tB, alpha, a2[i], b2[i], beta, c2[i], &Options{Threads: 1, Stats: &one}); err != nil {
				t.Fatal(err)
			}
			want.Overflow += one.Overflow
			want.Underflow += one.Underflow
		}
		for i := range c {
			if !sameMatrix(c[i], c2[i]) {
				t.Fatalf("trial %d (chain %v): problem %d of %d, %v: got\n%v\nwant\n%v", trial, chain, i, count, f, c[i], c2[i])
			}
		}
		if got.Overflow != want.Overflow || got.Underflow != want.Underflow || count > 0 && (got.Device != "cpu" || got.Blocks < count && n*m*k > 0 && !mixed) {
			t.Errorf("trial %d: statistics %+v, want %d and %d events", trial, got, want.Overflow, want.Underflow)
		}
	}
}

var zero float64

// TestGemmBatchStacks multiplies views of three stacks, which share their arrays.
func TestGemmBatchStacks(t *testing.T) {
	const n, count = 5, 40
	f := MP(106)
	a, b, c := randomMatrix(f, n, n*count, 0, 1), randomMatrix(f, n, n*count, 0, 2), NewMatrix(f, n, n*count)
	var as, bs, cs []*Matrix
	for i := range count {
		as, bs, cs = append(as, a.Slice(0, n, n*i, n*i+n)), append(bs, b.Slice(0, n, n*i, n*i+n)), append(cs, c.Slice(0, n, n*i, n*i+n))
	}
	if err := GemmBatch(NoTrans, Trans, Float(1), as, bs, Float(0), cs, &Options{Threads: 4}); err != nil {
		t.Fatal(err)
	}
	for i := range count {
		want := NewMatrix(f, n, n)
		if err := Gemm(NoTrans, Trans, Float(1), as[i], bs[i], Float(0), want, nil); err != nil {
			t.Fatal(err)
		}
		if !sameMatrix(cs[i], want) {
			t.Fatalf("problem %d: got %v, want %v", i, cs[i], want)
		}
	}
}

// TestGemmBatchErrors checks what a batch returns if it cannot run or problems fail.
func TestGemmBatchErrors(t *testing.T) {
	list := func(f Format, count, n int) (z []*Matrix) {
		for range count {
			z = append(z, NewMatrix(f, n, n))
		}
		return z
	}
	x := list(MP(200), 20, 6)
	run := func(c []*Matrix, opt *Options) error {
		return GemmBatch(NoTrans, NoTrans, Float(1), x, x, Float(0), c, opt)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(list(MP(200), 20, 6), &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for at := 1; at < 40; at += 3 {
		if err := run(list(MP(200), 20, 6), &Options{Context: &countdown{Context: t.Context(), at: at}, Threads: 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at look %d: %v", at, err)
		}
	}
	if err := run(list(MP(200), 20, 6), &Options{Method: "none"}); !errors.Is(err, ErrMethod) {
		t.Errorf("bad method: %v", err)
	}
	// The residue method does not have infinite factors. Products of nothing need no method.
	left, right := make([]*Matrix, 20), make([]*Matrix, 20)
	for i := range left {
		left[i], right[i] = NewMatrix(MP(200), 6, 0), NewMatrix(MP(200), 0, 6)
	}
	for _, i := range []int{3, 17} {
		left[i], right[i] = x[i], x[i]
	}
	c := list(MP(200), 20, 6)
	c[5].SetFloat64(0, 0, 7)
	err := GemmBatch(NoTrans, NoTrans, Float(1/zero), left, right, Float(0), c, &Options{Method: Residue})
	var failed *BatchError
	if !errors.As(err, &failed) || !slices.Equal(failed.Indices, []int{3, 17}) || !errors.Is(err, ErrMethod) || !strings.Contains(err.Error(), "problem 3") {
		t.Errorf("infinite factor: %v", err)
	}
	if c[5].Float64(0, 0) != 0 {
		t.Error("a problem beside those that fail was not solved")
	}
	for _, bad := range []func(){
		func() { _ = run(x[:3], nil) },
		func() { _ = run(list(MP(200), 20, 5), nil) },
	} {
		func() {
			defer func() {
				if recover() != errShape {
					t.Error("no panic for shapes that do not fit")
				}
			}()
			bad()
		}()
	}
}

// TestGemmBatchApart checks that a problem whose operands live apart fails alone.
func TestGemmBatchApart(t *testing.T) {
	fakeGPUs(t, 1)
	there := must(NewMatrixOn("cuda:0", Float64, 1, 1))
	defer there.Free()
	x, c := FromRows(Float64, [][]float64{{3}}), []*Matrix{NewMatrix(Float64, 1, 1), NewMatrix(Float64, 1, 1)}
	err := GemmBatch(NoTrans, NoTrans, Float(1), []*Matrix{there, x}, []*Matrix{x, x}, Float(0), c, nil)
	var failed *BatchError
	if !errors.As(err, &failed) || !slices.Equal(failed.Indices, []int{0}) || c[1].Float64(0, 0) != 9 {
		t.Errorf("got %v, %v", err, c[1])
	}
}
