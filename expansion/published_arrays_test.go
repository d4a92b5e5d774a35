package expansion

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/testseed"
)

// publishedRoutine is the routine on arrays of an operation or function of Published.
func publishedRoutine(name string) func(x, y, z *halfulp.Vector, o *halfulp.Options) error {
	type vector = *halfulp.Vector
	switch name {
	case "Add":
		return Add[vector]
	case "Sub":
		return Sub[vector]
	case "Mul":
		return Mul[vector]
	case "Div":
		return Div[vector]
	case "Sqrt":
		return func(x, _, z vector, o *halfulp.Options) error { return Sqrt(x, z, o) }
	}
	f, err := ParseFunction(name)
	if err != nil {
		panic(err)
	}
	return func(x, _, z vector, o *halfulp.Options) error { return Map(f, x, z, o) }
}

// publishedEntry is the result of Published for words, as arrays store it.
func publishedEntry(name string, w int, x, y QD) QD {
	if w == 2 {
		z := storedDD(DD(published(name, x[:2], y[:2])))
		return QD{z[0], z[1]}
	}
	return storedQD(QD(published(name, x[:], y[:])))
}

// TestPublishedArrays compares arrays, also of fewer words, with strides and in place, with the
// scalars, bit by bit. What arrays store is canonical.
func TestPublishedArrays(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 20))
	for _, name := range publishedNames {
		for _, w := range []int{2, 4} {
			for _, n := range []int{0, 1, 63, 200, chunk + 70} {
				f := wordFormats[w]
				x, y, z := anyArray(r, f, 2*n).Slice(0, n), anyArray(r, wordFormats[1+n%w], n), halfulp.NewVector(f, n)
				if n == 63 {
					x, z = anyArray(r, halfulp.DD, 2*n).Slice(n, 2*n), halfulp.NewMatrix(f, 3, n).Row(1)
				}
				if n == 200 {
					z = x
				}
				want := make([]QD, n)
				for i := range want {
					want[i] = publishedEntry(name, w, wordsAt(x.View(), i), wordsAt(y.View(), i))
				}
				var st halfulp.Stats
				err := publishedRoutine(name)(x, y, z, &halfulp.Options{Method: Published, Threads: 3, Stats: &st})
				if err != nil || st.Method != Published || st.Kernel != "" {
					t.Fatalf("%s: %v, %+v", name, err, st)
				}
				for i := range want {
					got, c := wordsAt(z.View(), i), want[i]
					canonical(c[:w])
					if !sameWords(got[:], want[i][:]) || !sameWords(c[:], want[i][:]) {
						t.Fatalf("seed %d: %s of %d %v: number %d is %x, want %x", seed, name, n, f, i, got, want[i])
					}
				}
			}
		}
	}
}

// TestPublishedRefusals checks the errors for operations without an algorithm of Published.
func TestPublishedRefusals(t *testing.T) {
	o := &halfulp.Options{Method: Published}
	x, q, m := halfulp.NewVector(halfulp.DD, 2), halfulp.NewVector(halfulp.TD, 2), halfulp.NewMatrix(halfulp.DD, 2, 2)
	if err := Validate(o); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"FMA":    errOf(FMA(x, x, x, x, o)),
		"SinCos": errOf(SinCos(x, x.Clone(), x.Clone(), o)),
		"tan":    errOf(Map(Tan, x, x, o)),
		"pow":    errOf(Map2(Pow, x, x, x, o)),
		"Gemm":   errOf(Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), m, m, halfulp.Float(0), m, o)),
		"Solve":  errOf(Solve(m, m, m, &SolveOptions{Options: *o})),
	} {
		if !errors.Is(err, halfulp.ErrMethod) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errOf(Add(q, q, q, o)); !errors.Is(err, halfulp.ErrFormat) {
		t.Errorf("td: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := errOf(Add(x, x, x, &halfulp.Options{Method: Published, Context: ctx})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// checkPublished compares the operations and functions with the CPU's, on the device and from the
// host.
func checkPublished(t *testing.T, f halfulp.Format, n int) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 21))
	o, on := &halfulp.Options{Method: Published}, &halfulp.Options{Method: Published, Device: device}
	for k, name := range publishedNames {
		d := draw(anyNumber)
		if k >= 5 {
			d = argument
		}
		m := randomMatrix(r, f, n, 2, d)
		for i := range n / 4 { // sums that cancel
			y := near(r, numbersOf(m, i))
			for t := range y {
				m.View().Arr.F64[t][n+i] = y[t]
			}
		}
		run := publishedRoutine(name)
		want, got := halfulp.NewVector(f, n), halfulp.NewVector(f, n)
		must(t, errOf(run(m.Col(0), m.Col(1), want, o)))
		must(t, errOf(run(m.Col(0), m.Col(1), got, on)))
		what := fmt.Sprintf("seed %d: published %s of %d %v", seed, name, n, f)
		sameMatrix(t, what+" from the host", got.Matrix(), want.Matrix())
		dm := laid(t, m, k%4)
		must(t, errOf(run(dm.Col(0), dm.Col(1), dm.Col(1), o)))
		there, err := dm.Col(1).Host()
		must(t, err)
		sameMatrix(t, what, there.Matrix(), want.Matrix())
	}
}

// TestPublishedReference runs the host's side on a fake GPU.
func TestPublishedReference(t *testing.T) {
	onReference(t)
	for _, n := range []int{1, 130} {
		checkPublished(t, halfulp.DD, n)
		checkPublished(t, halfulp.QD, n)
	}
	x := randomMatrix(testseed.Rand(t, 1, 1), halfulp.TD, 3, 1, ordinaryNumber).Col(0)
	if err := errOf(Add(x, x, x, &halfulp.Options{Method: Published, Device: device})); !errors.Is(err, halfulp.ErrFormat) {
		t.Errorf("td: %v", err)
	}
}

// TestPublishedDevice runs the kernels of the machine's GPU.
func TestPublishedDevice(t *testing.T) {
	gputest.Machine(t)
	for _, n := range []int{1, 1000, 100000} {
		checkPublished(t, halfulp.DD, n)
		checkPublished(t, halfulp.QD, n)
	}
}

// registerPublished registers the kernels of published.cu.
func registerPublished(drv *fake.Driver) {
	for i, name := range publishedNames {
		op := publishedOperation(i)
		drv.Kernel("expansionPublished"+name+"DD", publishedKernel(func(x, y DD) DD {
			return storedDD(DD(publishedOf(op, PublishedDD(x), PublishedDD(y))))
		}))
		drv.Kernel("expansionPublished"+name+"QD", publishedKernel(func(x, y QD) QD {
			return storedQD(QD(publishedOf(op, PublishedQD(x), PublishedQD(y))))
		}))
	}
}

func publishedKernel[E arithmetical[E]](f func(x, y E) E) func(l *fake.Launch, z, x, y, _ refEntries, rows, cols int64, _, _ int32) {
	return func(l *fake.Launch, z, x, y, _ refEntries, rows, cols int64, _, _ int32) {
		vz, vx, vy := z.open(l, rows, cols), x.open(l, rows, cols), y.open(l, rows, cols)
		for j := range cols {
			for i := range rows {
				var b E
				if y.W[0] != 0 {
					b = refLoad[E](vy, i, j)
				}
				refStore(vz, i, j, f(refLoad[E](vx, i, j), b))
			}
		}
	}
}
