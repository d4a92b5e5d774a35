package linsolve

import (
	"errors"
	"math/big"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/residue"
)

// TestFaults spoils one product of a routine at a time. Every fault must be an error of the
// routine; without a fault Stats must report what was compared.
func TestFaults(t *testing.T) {
	const n = 60
	f := halfulp.MP(106)
	a := gallery.Random(f, n, n, 3, 1)
	spd := halfulp.NewMatrix(f, n, n)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), a, a, halfulp.Float(0), spd, nil); err != nil {
		t.Fatal(err)
	}
	b, tall := gallery.Random(f, n, 2, 3, 2), gallery.Random(f, n, n/2, 3, 3)
	// Smaller systems, and systems with few right-hand sides, are solved without products.
	large, right := gallery.Random(f, 200, 200, 3, 4), gallery.Random(f, 200, 100, 3, 5)
	opt := &halfulp.Options{Check: true, Device: halfulp.CPU}
	routines := map[string]func(opt *halfulp.Options) error{
		"Solve":   func(opt *halfulp.Options) error { return lintest.ErrorOf(Solve(large, right, f, opt)) },
		"Inverse": func(opt *halfulp.Options) error { return lintest.ErrorOf(Inverse(a, f, opt)) },
		"Det":     func(opt *halfulp.Options) error { _, err := Det(large, f, opt); return err },
		"LogDet":  func(opt *halfulp.Options) error { _, _, err := LogDet(large, f, opt); return err },
		"Cholesky": func(opt *halfulp.Options) error {
			_, err := Cholesky(spd, f, opt)
			return err
		},
		"LU":   func(opt *halfulp.Options) error { _, err := LU(a, f, opt); return err },
		"LDLT": func(opt *halfulp.Options) error { _, err := LDLT(spd, f, opt); return err },
		"QR":   func(opt *halfulp.Options) error { _, err := QR(tall, f, opt); return err },
		"LeastSquares": func(opt *halfulp.Options) error {
			return lintest.ErrorOf(LeastSquares(tall, b, f, &LeastSquaresOptions{Options: *opt}))
		},
		"Expm": func(opt *halfulp.Options) error { return lintest.ErrorOf(Expm(a, f, opt)) },
		"Pow":  func(opt *halfulp.Options) error { return lintest.ErrorOf(Pow(a, 5, f, opt)) },
	}
	for name, run := range routines {
		t.Run(name, func(t *testing.T) {
			var blocks atomic.Int64
			defer residue.Spoil(func([]int16, int) { blocks.Add(1) })()
			var st halfulp.Stats
			if err := run(opt.WithStats(&st)); err != nil {
				t.Fatal(err)
			}
			if st.Check == nil || st.Check.Compared == 0 {
				t.Errorf("compared %+v", st.Check)
			}
			total := blocks.Load()
			for k := int64(0); k < total; k += 1 + total/8 {
				blocks.Store(0)
				restore := residue.Spoil(func(residues []int16, stride int) {
					if blocks.Add(1) == k+1 {
						for i := range stride { // a relevant entry is among these
							residues[i] ^= 1
						}
					}
				})
				err := run(opt)
				restore()
				if !errors.Is(err, halfulp.ErrHardware) {
					t.Errorf("fault in block %d of %d: error %v", k, total, err)
				}
			}
		})
	}
}

// TestCheckOnDevices checks that checked products on a GPU give the bits of the CPU.
func TestCheckOnDevices(t *testing.T) {
	gputest.OnDevices(t, seed.Fewest+2, 150, func(t *testing.T, n int) {
		f := halfulp.MP(106)
		a, b := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, n, 0, 2)
		var on [2]*halfulp.Matrix
		for i, m := range []*halfulp.Matrix{a, b} {
			var err error
			if on[i], err = m.On("cuda:0"); err != nil {
				t.Fatal(err)
			}
			defer on[i].Free()
		}
		for name, run := range map[string]func(a, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error){
			"Solve": Solve,
			"Inverse": func(a, _ *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
				return Inverse(a, f, opt)
			},
		} {
			want, err := run(a, b, f, &halfulp.Options{Device: halfulp.CPU})
			if err != nil {
				t.Fatal(err)
			}
			var st halfulp.Stats
			z, err := run(on[0], on[1], f, &halfulp.Options{Check: true, Stats: &st})
			if err != nil || st.Device != "cuda:0" || st.Check == nil || st.Check.Compared == 0 {
				t.Fatalf("%s: %v, on %s, compared %+v", name, err, st.Device, st.Check)
			}
			if here, err := z.Host(); err != nil || !here.Same(want) {
				t.Errorf("%s: other bits, error %v", name, err)
			}
		}
	})
}

// TestCheckResigned lets the host compute ties, which the place does not decide. Stats must report
// what was compared on the host.
func TestCheckResigned(t *testing.T) {
	devs, _ := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	const n = 48
	f := halfulp.MP(53)
	a, x := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n)
	for i := range n {
		for j := range n {
			a.SetFloat64(i, j, float64((i*7+j*j*3)%5))
		}
		a.SetFloat64(i, i, 256)
	}
	for name, run := range map[string]func(opt *halfulp.Options) error{
		"Solve": func(opt *halfulp.Options) error {
			// The solution has three halves in the last place.
			b := halfulp.NewMatrix(halfulp.MP(200), n, n)
			y := halfulp.NewMatrix(halfulp.MP(54), n, n)
			for i := range n {
				for j := range n {
					y.SetBig(i, j, new(big.Float).SetInt64(1<<53+int64(1+2*((i+j)%7))))
				}
			}
			if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, y, halfulp.Float(0), b, nil); err != nil {
				return err
			}
			return lintest.ErrorOf(Solve(put(t, a), put(t, b), x.NumberFormat(), opt))
		},
		"LU": func(opt *halfulp.Options) error {
			z := gallery.Random(f, n, n, 0, 1)
			for j := range n {
				z.Set(1, j, z.At(0, j))
			}
			z.SetFloat64(1, n-1, 3) // the elimination of row 1 leaves zeros
			_, err := LU(put(t, z), f, opt)
			return err
		},
	} {
		var stats halfulp.Stats
		if err := run(&halfulp.Options{Check: true, Stats: &stats}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(stats.Stages) == 0 || stats.Stages[0].Name != "attempt on cuda:0" {
			t.Errorf("%s: stages %v, want an attempt on a device first", name, stats.Stages)
		}
		if stats.Check == nil {
			t.Errorf("%s: nothing is told of what was compared", name)
		}
	}
}
