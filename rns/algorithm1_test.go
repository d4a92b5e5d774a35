package rns

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// gemvPublished is Gemv by algorithm 1 as published.
func gemvPublished(trans halfulp.Transpose, alpha *Number, a *Matrix, x *Vector, beta *Number, y *Vector, o *Options) error {
	var p Options
	if o != nil {
		p = *o
	}
	p.Variant = Published
	return Gemv(trans, alpha, a, x, beta, y, &p)
}

// count returns the number of occurrences of x in s.
func count(s []string, x string) (n int) {
	for _, y := range s {
		if x == y {
			n++
		}
	}
	return n
}

// stageNames returns the names of the stages of a run.
func stageNames(st halfulp.Stats) []string {
	var names []string
	for _, s := range st.Stages {
		names = append(names, s.Name)
	}
	return names
}

// launchesOf returns a fake device that lists the kernels of algorithm 1 that are launched on it.
func launchesOf(t *testing.T, b *Base) (dev *cuda.Device, list *[]string) {
	t.Helper()
	r, drv := &reference{t, b, b.newScratch()}, fakeDriver(t, b)
	list = new([]string)
	for name, f := range publishedKernels(func(refBase) *reference { return r }, func(int32) *reference { return r }) {
		v := reflect.ValueOf(f)
		drv.Kernel(name, reflect.MakeFunc(v.Type(), func(in []reflect.Value) []reflect.Value {
			*list = append(*list, name)
			return v.Call(in)
		}).Interface())
	}
	for _, name := range []string{"rnsSum", "rnsDot", "rnsTree"} {
		drv.Kernel(name, func(*fake.Launch) { t.Errorf("kernel %s in algorithm 1 as published", name) })
	}
	dev, err := cuda.OpenDriver(drv, 0)
	must(t, err)
	return dev, list
}

// TestAlgorithm1 checks the steps of algorithm 1, and that they are ten launches on a GPU, the
// three of β y for α = 0.
func TestAlgorithm1(t *testing.T) {
	b := smallBase(t)
	dev, list := launchesOf(t, b)
	defer mem.Substitute(dev)()
	c := newOperands(t, b, 6)
	for _, trans := range []halfulp.Transpose{halfulp.NoTrans, halfulp.Trans} {
		for _, alpha := range []int64{3, 0} {
			products, launches := []string{"α x", "β y", "B"}, []string{"rnsVecScal", "rnsVecScal", "rnsMatRightScal"}
			if isTrans(trans) {
				launches[2] = "rnsMatLeftScal"
			}
			if alpha == 0 {
				products, launches = products[1:2], launches[1:2]
			}
			var want, kernels []string
			for i, p := range products {
				want = append(want, p+": signs, exponents, evaluations", p+": digits", p+": rounding")
				kernels = append(kernels, launches[i]+"ESI", launches[i]+"Digits", "rnsRound1")
			}
			if alpha != 0 {
				want, kernels = append(want, "sums of B + β y"), append(kernels, "rnsRowSum1")
			}
			*list, products = nil, []string{"β y", "α x", "sums of products + β y"}
			switch {
			case alpha == 0:
				products = products[:1]
			case isTrans(trans):
				products = []string{products[0], products[2]}
			}
			one := onCUDA("cuda:0")
			one.Variant = Published
			var st halfulp.Stats
			one.Stats = &st
			done(GemvBasic(trans, b.NewNumber().SetInt64(alpha), c.a, c.x, b.NewNumber().SetInt64(2), c.y.Clone(), one))
			if got := stageNames(st); !slices.Equal(got, append(slices.Clone(products), "copies")) || count(*list, "rnsBasic1") != len(products) {
				t.Errorf("basic, α = %d: stages %q, launches %q", alpha, got, *list)
			}
			for _, device := range []halfulp.Device{"cpu", "cuda:0"} {
				*list = nil
				f := b.NewNumber().SetInt64(alpha)
				var st halfulp.Stats
				o := onCUDA(device)
				o.Stats = &st
				done(gemvPublished(trans, f, c.a, c.x, b.NewNumber().SetInt64(2), c.y.Clone(), o))
				if got := stageNames(st); !slices.Equal(got, append(slices.Clone(want), "copies")) {
					t.Errorf("%s, α = %d: stages %q, want %q", device, alpha, got, want)
				}
				if device == "cpu" {
					continue
				}
				ran := slices.DeleteFunc(*list, func(name string) bool { return strings.HasSuffix(name, "Paper") })
				if !slices.Equal(ran, kernels) || alpha != 0 && len(ran) != 10 {
					t.Errorf("α = %d: launches %q, want %q", alpha, ran, kernels)
				}
			}
		}
	}
}

// TestAlgorithm1Fails: blocks that are too large, too little memory and a cancelled context are
// errors, and leave nothing behind.
func TestAlgorithm1Fails(t *testing.T) {
	b := smallBase(t)
	dev, _ := launchesOf(t, b)
	defer mem.Substitute(dev)()
	c := newOperands(t, b, 9)
	one := b.NewNumber().SetInt64(1)
	run := func(o *Options) error {
		err := gemvPublished(halfulp.NoTrans, one, c.a, c.x, one, c.y.Clone(), o)
		return err
	}
	must(t, run(onCUDA("cuda:0")))
	used := dev.Counters().InUse
	for _, device := range []halfulp.Device{"cpu", "cuda:0"} {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, k := range []struct {
			o    Options
			want error
		}{
			{Options{Options: halfulp.Options{MemoryLimit: 3000}}, halfulp.ErrMemory},
			{Options{Options: halfulp.Options{Context: cancelled}}, context.Canceled},
			{Options{BlockSize: 257}, halfulp.ErrOptions},
			{Options{BlockSize: 256}, nil},
		} {
			o, want := k.o, k.want
			o.Device = device
			if device == "cpu" && o.BlockSize != 0 {
				want = nil // there are no blocks
			}
			if err := run(&o); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s, %+v: %v, want %v", device, k.o, err, want)
			}
		}
	}
	if n := dev.Counters(); n.InUse != used {
		t.Errorf("%d bytes in use, %d before", n.InUse, used)
	}
	// A block that a base of many moduli has no room for: 256 numbers of 200 moduli.
	many := deviceBases(t)[14]
	defer mem.Substitute(backend.Device(newReference(t, many)))()
	x := many.NewVector(1)
	err := gemvPublished(halfulp.NoTrans, many.NewNumber().SetInt64(1), many.NewMatrix(1, 1), x, many.NewNumber(), x.Clone(),
		&Options{Options: halfulp.Options{Device: "cuda:0"}, BlockSize: 256})
	if !errors.Is(err, halfulp.ErrOptions) || !strings.Contains(fmt.Sprint(err), "shared memory") {
		t.Errorf("256 sums of 200 moduli: %v", err)
	}
}

// TestAlgorithm1Progress: the reported share grows up to 1.
func TestAlgorithm1Progress(t *testing.T) {
	b := smallBase(t)
	c := newOperands(t, b, 20)
	last, calls := 0.0, 0
	o := &Options{Options: halfulp.Options{Threads: 1, Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress %v after %v", done, last)
		}
		last = done
		calls++
	}}}
	one := b.NewNumber().SetInt64(1)
	done(gemvPublished(halfulp.Trans, one, c.a, c.x, one, c.y, o))
	if last != 1 || calls < 20 {
		t.Errorf("%d calls, the last with %v", calls, last)
	}
}
