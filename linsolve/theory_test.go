package linsolve

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// spoilProducts flips bits of the first products, or of all products, in a run that is cancelled
// after far more blocks than it may take. It reports the number of blocks, and the bits.
func spoilProducts(first bool, run func(opt *halfulp.Options) error) (blocks, bits int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer residue.Spoil(func(residues []int16, stride int) {
		if blocks++; blocks > 20000 {
			cancel()
		}
		for i := 0; i < stride && (!first || blocks == 1); i++ { // among them a relevant entry
			residues[i] ^= 1
		}
	})()
	var st halfulp.Stats
	err = run(&halfulp.Options{Device: halfulp.CPU, Method: "residue", Threads: 1, Context: ctx, Stats: &st})
	return blocks, st.Precision, err
}

// TestWrongProductsEnd checks that routines with wrong products end with one error, before the
// precision exceeds the bits that theory requires.
func TestWrongProductsEnd(t *testing.T) {
	const n = 24
	f := halfulp.Float64
	a, tall := gallery.Random(f, n, n, 3, 1), gallery.Random(f, 2*n, n, 3, 3)
	for i := range n { // float64 factors do not suffice
		a.SetFloat64(i, n-1, a.Float64(i, 0)+float64(a.Float64(i, 1)*0x1p-40))
		a.SetFloat64(i, n-2, float64(a.Float64(i, 2)*(1+float64(float64(i%2)*0x1p-52))))
	}
	few, spd := gallery.Random(halfulp.Float32, 2*n, n, 3, 3), halfulp.NewMatrix(halfulp.MP(106), n, n)
	if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), few, few, halfulp.Float(0), spd, nil); err != nil {
		t.Fatal(err)
	}
	defer isa.Force(isa.Portable)() // other levels take fewer products
	for k, c := range []struct {
		name string
		ends [2]bool // must not succeed if the first, or all products are wrong
		run  func(opt *halfulp.Options) error
	}{
		{"Cond", [2]bool{false, true}, func(opt *halfulp.Options) error { _, err := Cond('1', a, f, opt); return err }},
		{"Det", [2]bool{}, func(opt *halfulp.Options) error { _, err := Det(a, f, opt); return err }},
		{"LU", [2]bool{}, func(opt *halfulp.Options) error { _, err := LU(a, f, opt); return err }},
		{"Cholesky", [2]bool{false, true}, func(opt *halfulp.Options) error { _, err := Cholesky(spd, f, opt); return err }},
		{"LDLT", [2]bool{false, true}, func(opt *halfulp.Options) error { _, err := LDLT(spd, f, opt); return err }},
		{"QR", [2]bool{true, true}, func(opt *halfulp.Options) error { _, err := QR(tall, f, opt); return err }},
		{"QRPivoted", [2]bool{false, true}, func(opt *halfulp.Options) error { _, err := QRPivoted(a, f, opt); return err }},
	} {
		for i, first := range []bool{true, false} {
			if !testlength.Long() && i == k%2 {
				continue
			}
			blocks, bits, err := spoilProducts(first, c.run)
			if errors.Is(err, context.Canceled) || c.ends[i] && err == nil || err != nil && !errors.Is(err, halfulp.ErrHardware) {
				t.Errorf("%s, first %v: error %v after %d bits, %d blocks of products", c.name, first, err, bits, blocks)
			}
		}
	}
}

// TestNeeded compares the bits that theory requires for factors, and for X in package refine, with
// the bits that they take: never more. The matrices of integers have the smallest determinants and
// the largest inverses.
func TestNeeded(t *testing.T) {
	f := halfulp.MP(30)
	for _, c := range []struct{ n, bits, apart int }{{7, 2, 0}, {7, 20, 0}, {7, 50, 0}, {19, 9, 40}} {
		n, bits := c.n, c.bits
		a := halfulp.MatrixOf(triangularProduct(t, n, bits))
		if d := lintest.Of(a).Det(); d.Num().CmpAbs(big.NewInt(1)) != 0 {
			t.Fatalf("the determinant is %v", d)
		}
		for i := range n { // columns apart, and rows and columns of A^T A
			for j := range n {
				x := a.Big(i, j)
				a.SetBig(i, j, x.SetMantExp(x, (j*j%n-n/2)*c.apart))
			}
		}
		wide := halfulp.MP(uint(max(2*a.NumberFormat().Bits()+8, 64)))
		spd := halfulp.NewMatrix(wide, n, n)
		if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), spd, nil); err != nil {
			t.Fatal(err)
		}
		for _, level := range isa.Levels() {
			restore := isa.Force(level)
			for name, run := range map[string]func(opt *halfulp.Options) error{
				"LU":       func(opt *halfulp.Options) error { _, err := LU(a, f, opt); return err },
				"Cholesky": func(opt *halfulp.Options) error { _, err := Cholesky(spd, f, opt); return err },
				"QR":       func(opt *halfulp.Options) error { _, err := QR(a, f, opt); return err },
				"LDLT":     func(opt *halfulp.Options) error { _, err := LDLT(spd, f, opt); return err },
			} {
				of, positive := a.View(), false
				if name != "LU" {
					of, positive = spd.View(), name != "LDLT"
				}
				var st halfulp.Stats
				err := run(&halfulp.Options{Stats: &st})
				if most := ziv.NeedOf(of, n, f.View(), positive); err != nil || st.Precision > most.Decided {
					t.Errorf("%s, %d bits, %v: error %v after %d bits, of %+v", name, bits, level, err, st.Precision, most)
				}
			}
			restore()
		}
	}
}

// triangularProduct returns a product of triangular matrices of random integers, with ones on the
// diagonals.
func triangularProduct(t *testing.T, n, bits int) num.Mat {
	t.Helper()
	l, u := gallery.Random(halfulp.Float64, n, n, 0, 11), gallery.Random(halfulp.Float64, n, n, 0, 12)
	integer := func(m *halfulp.Matrix, i, j int) {
		x := new(big.Float).SetMantExp(m.Big(i, j), bits)
		v, _ := x.Int(nil)
		m.SetBig(i, j, new(big.Float).SetInt(v))
	}
	for i := range n {
		for j := range n {
			integer(l, i, j)
			integer(u, i, j)
			if i <= j {
				l.SetFloat64(i, j, 0)
			}
			if i >= j {
				u.SetFloat64(i, j, 0)
			}
		}
		l.SetFloat64(i, i, 1)
		u.SetFloat64(i, i, 1)
	}
	z := halfulp.NewMatrix(halfulp.MP(uint(2*bits+16)), n, n)
	one, zero := halfulp.Float(1), halfulp.Float(0)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, l, u, zero, z, nil); err != nil {
		t.Fatal(err)
	}
	return z.View()
}

// TestSmallDeterminant computes determinants of 1, of matrices whose condition number has far more
// bits than eliminations: fewer primes suffice.
func TestSmallDeterminant(t *testing.T) {
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		a := halfulp.MatrixOf(triangularProduct(t, 64, 14))
		var st halfulp.Stats
		d, err := Det(a, halfulp.Float64, &halfulp.Options{Stats: &st})
		if err != nil || d.Float64() != 1 || st.Primes < 10 {
			t.Errorf("%v: %v after %d primes, error %v", level, d, st.Primes, err)
		}
		restore()
	}
}

// TestGainIsAGuess refines with an approximate inverse that gains far fewer bits a step than
// declared. That is no contradiction, as theory counts the proved bits.
func TestGainIsAGuess(t *testing.T) {
	const n = 5
	f := halfulp.Float64
	a, b := gallery.Random(f, n, n, 1, 31), gallery.Random(f, n, 2, 1, 32)
	s, err := start("solve", nil, a.View(), b.View())
	if err != nil {
		t.Fatal(err)
	}
	p, err := solve.ApproximateInverse(s, a.View())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			x := p.R.Big(i, j)
			p.R.SetBig(i, j, x.Mul(x, big.NewFloat(1.125))) // I - R A is -I/8
		}
	}
	if _, err := seed.Distance(s, p, a.View()); err != nil {
		t.Fatal(err)
	}
	if rho := call.Measure(p.Rho); rho < 0.12 || rho > 0.13 {
		t.Fatalf("rho is %v", rho)
	}
	p.Gain = 45
	long := halfulp.MP(300)
	z, want := halfulp.NewMatrix(long, n, 2), halfulp.NewMatrix(long, n, 2)
	if err := lintest.Into(want)(Solve(a, b, want.NumberFormat(), nil)); err != nil {
		t.Fatal(err)
	}
	todo := ziv.NewEntries(s, a.View(), b.View(), z.View())
	if err := refine.Open(s, a.View(), b.View(), p, 30, z.View(), todo); err != nil || !z.Same(want) {
		t.Errorf("error %v", err)
	}
}
