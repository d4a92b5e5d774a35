package halfulp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
)

// The ways to store a matrix that a routine reads in part.
var (
	uplos      = []Uplo{Upper, Lower}
	transposes = []Transpose{NoTrans, Trans}
	diags      = []Diag{NonUnit, Unit}
	sides      = []Side{Left, Right}
)

// fromTriangle returns the symmetric, or for zeros the triangular, matrix that a holds in a
// triangle.
func fromTriangle(a *Matrix, uplo Uplo, diag Diag, zeros bool) *Matrix {
	n := a.Rows()
	z := NewMatrix(a.NumberFormat(), n, n)
	for j := range n {
		for i := range n {
			switch {
			case i == j && diag == Unit:
				z.SetFloat64(i, j, 1)
			case i == j || i < j == (uplo == Upper):
				z.Set(i, j, a.At(i, j))
			case !zeros:
				z.Set(i, j, a.At(j, i))
			}
		}
	}
	return z
}

// TestStructuredBlocks uses orders at which several blocks are gathered. It compares with products
// of dense matrices, whose zeros have no effect on these numbers.
func TestStructuredBlocks(t *testing.T) {
	one, half := Float(1), Float(0.5)
	for _, f := range []Format{Float64, DD, MP(300)} {
		n := 300
		if f == Float64 && testlength.Long() {
			n = 1100
		}
		a, x, y := randomMatrix(f, n, n, 5, 1), randomMatrix(f, n, 1, 5, 2).Col(0), randomMatrix(f, n, 1, 5, 3).Col(0)
		b, c := randomMatrix(f, n, 3, 5, 4), randomMatrix(f, n, 3, 5, 5)
		for k, uplo := range uplos {
			tA, diag, side := transposes[k], diags[k], sides[k]
			full, tri := fromTriangle(a, uplo, NonUnit, false), fromTriangle(a, uplo, diag, true)
			got, want := y.Clone(), y.Clone()
			for _, err := range []error{
				Symv(uplo, half, a, x, one, got, nil), Gemv(NoTrans, half, full, x, one, want, nil),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if !got.Same(want) {
				t.Errorf("Symv %c, %v: other bits than Gemv", uplo, f)
			}
			got = x.Clone()
			for _, err := range []error{Trmv(uplo, tA, diag, a, got, nil), Gemv(tA, one, tri, x, Float(0), want, nil)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if !got.Same(want) {
				t.Errorf("Trmv %c %c %c, %v: other bits than Gemv", uplo, tA, diag, f)
			}
			p, q, r, s := c.Clone(), c.Clone(), b.Clone(), b.Clone()
			if side == Right {
				err := Symm(side, uplo, half, a, b.T(), one, p.T(), nil)
				err2 := Trmm(side, uplo, tA, diag, half, a, r.T(), nil)
				err3 := Gemm(NoTrans, NoTrans, half, b.T(), full, one, q.T(), nil)
				err4 := Gemm(NoTrans, tA, half, b.T(), tri, Float(0), s.T(), nil)
				if err := errors.Join(err, err2, err3, err4); err != nil {
					t.Fatal(err)
				}
			} else {
				err := Symm(side, uplo, half, a, b, one, p, nil)
				err2 := Trmm(side, uplo, tA, diag, half, a, r, &Options{MemoryLimit: 1 << 20})
				err3 := Gemm(NoTrans, NoTrans, half, full, b, one, q, nil)
				err4 := Gemm(tA, NoTrans, half, tri, b, Float(0), s, nil)
				if err := errors.Join(err, err2, err3, err4); err != nil {
					t.Fatal(err)
				}
			}
			if !p.Same(q) {
				t.Errorf("Symm %c %c, %v: other bits than Gemm", side, uplo, f)
			}
			if !r.Same(s) {
				t.Errorf("Trmm %c %c %c %c, %v: other bits than Gemm", side, uplo, tA, diag, f)
			}
		}
	}
}

// TestBandEmptyRows checks rows below the band, which are empty sums +0. The zeros gathered for
// them times negative numbers would be -0.
func TestBandEmptyRows(t *testing.T) {
	m, n, kl := 200, 40, 40
	ab := NewMatrix(Float64, kl+6, n)
	for j := range n {
		for i := range kl + 6 {
			ab.SetFloat64(i, j, 1)
		}
	}
	x, y := NewVector(Float64, n), NewVector(Float64, m)
	for i := range n {
		x.SetFloat64(i, -1)
	}
	for _, c := range []struct {
		alpha, beta float64
		old, want   float64
	}{{1, 0, 7, 0}, {-1, 0, 7, 0}, {1, 1, math.Copysign(0, -1), math.Copysign(0, -1)}, {1, 1, 0, 0}, {1, 3, 2, 6}} {
		for i := range m {
			y.SetFloat64(i, c.old)
		}
		if err := Gbmv(NoTrans, m, kl, 5, Float(c.alpha), ab, x, Float(c.beta), y, nil); err != nil {
			t.Fatal(err)
		}
		if got := y.Float64(0) - c.beta*c.old; got != -6*c.alpha {
			t.Errorf("alpha %v beta %v: first entry off by %v", c.alpha, c.beta, got)
		}
		for i := n + kl; i < m; i++ {
			if got := y.Float64(i); math.Float64bits(got) != math.Float64bits(c.want) {
				t.Fatalf("alpha %v beta %v y %v: empty row %d is %v, want %v", c.alpha, c.beta, c.old, i, got, c.want)
			}
		}
	}
}

// TestStructuredAliases compares routines whose outputs overlap operands with the same routines on
// copies.
func TestStructuredAliases(t *testing.T) {
	trials(t, 80, func(r *rand.Rand) error {
		n, f := 1+r.IntN(20), pickFormat(r)
		if r.IntN(6) == 0 {
			n = 40 + r.IntN(30)
		}
		big := drawMatrix(r, f, n+2, n+2, families[r.IntN(4)])
		block := func() *Matrix {
			i, j := r.IntN(3), r.IntN(3)
			b := big.Slice(i, i+n, j, j+n)
			if r.IntN(2) == 0 {
				return b.T()
			}
			return b
		}
		line := func() *Vector {
			m := block()
			if r.IntN(2) == 0 {
				return m.Col(r.IntN(n)).Stride(-1)
			}
			return m.Row(r.IntN(n))
		}
		uplo, tA, diag, side := uplos[r.IntN(2)], transposes[r.IntN(2)], diags[r.IntN(2)], sides[r.IntN(2)]
		al, be := Float(3), Float(-2)
		a, b, c, x, y := block(), block(), block(), line(), line()
		ab := a.Slice(0, 1+r.IntN(n), 0, n)
		k := ab.Rows() - 1
		for name, call := range map[string]func(a, ab, b, c *Matrix, x, y *Vector) error{
			"Symv": func(a, _, _, _ *Matrix, x, y *Vector) error { return Symv(uplo, al, a, x, be, y, nil) },
			"Gbmv": func(_, ab, _, _ *Matrix, x, y *Vector) error {
				return Gbmv(tA, n, k/2, k-k/2, al, ab, x, be, y, nil)
			},
			"Sbmv":  func(_, ab, _, _ *Matrix, x, y *Vector) error { return Sbmv(uplo, k, al, ab, x, be, y, nil) },
			"Trmv":  func(a, _, _, _ *Matrix, _, y *Vector) error { return Trmv(uplo, tA, diag, a, y, nil) },
			"Syr":   func(_, _, _, c *Matrix, x, _ *Vector) error { return Syr(uplo, al, x, c, nil) },
			"Syr2":  func(_, _, _, c *Matrix, x, y *Vector) error { return Syr2(uplo, al, x, y, c, nil) },
			"Syr2k": func(a, _, b, c *Matrix, _, _ *Vector) error { return Syr2k(uplo, tA, al, a, b, be, c, nil) },
			"Symm":  func(a, _, b, c *Matrix, _, _ *Vector) error { return Symm(side, uplo, al, a, b, be, c, nil) },
			"Trmm": func(a, _, _, c *Matrix, _, _ *Vector) error {
				return Trmm(side, uplo, tA, diag, al, a, c, nil)
			},
		} {
			before := big.Clone()
			ca, cab, cb, cc, cx, cy := a.Clone(), ab.Clone(), b.Clone(), c.Clone(), x.Clone(), y.Clone()
			if err := call(ca, cab, cb, cc, cx, cy); err != nil {
				return err
			}
			if err := call(a, ab, b, c, x, y); err != nil {
				return err
			}
			if !c.Same(cc) && (name[2:] == "r" || name[2:] == "r2" || name[2:] == "r2k" || name[2:] == "mm") {
				return fmt.Errorf("%s, n = %d, %v: other bits than for copies", name, n, f)
			}
			if !y.Same(cy) && name[2:] == "mv" {
				return fmt.Errorf("%s, n = %d, %v: got %s want %s", name, n, f, dump(y.v), dump(cy.v))
			}
			for j := range n + 2 {
				for i := range n + 2 {
					big.Set(i, j, before.At(i, j))
				}
			}
		}
		return nil
	})
}

// TestStructuredTo stores results in a format other than the old matrix's, or in place of operands,
// and compares with GemmTo.
func TestStructuredTo(t *testing.T) {
	trials(t, 60, func(r *rand.Rand) error {
		n, m := 1+r.IntN(45), 1+r.IntN(4)
		fam, fa, fb, fc, fd := families[r.IntN(2)], pickFormat(r), pickFormat(r), pickFormat(r), pickFormat(r)
		a, b, c := drawMatrix(r, fa, n, n, fam), drawMatrix(r, fb, n, m, fam), drawMatrix(r, fc, n, m, fam)
		uplo, diag, al, be := uplos[r.IntN(2)], diags[r.IntN(2)], Float(3), Float(-1)
		if r.IntN(4) == 0 {
			be, c = Float(0), nil
		}
		full, tri := fromTriangle(a, uplo, NonUnit, false), fromTriangle(a, uplo, diag, true)
		got, want := NewMatrix(fd, n, m), NewMatrix(fd, n, m)
		what := fmt.Sprintf("n = %d, %d columns, %v %v %v to %v, %s", n, m, fa, fb, fc, fd, fam.name)
		err := SymmTo(Left, uplo, al, a, b, be, c, got, nil)
		err2 := GemmTo(NoTrans, NoTrans, al, full, b, be, c, want, nil)
		if err := errors.Join(err, err2); err != nil || !got.Same(want) {
			return fmt.Errorf("SymmTo %s: other bits than GemmTo, error %v", what, err)
		}
		err = TrmmTo(Left, uplo, Trans, diag, al, a, b, got, nil)
		err2 = GemmTo(Trans, NoTrans, al, tri, b, Float(0), nil, want, nil)
		if err := errors.Join(err, err2); err != nil || !got.Same(want) {
			return fmt.Errorf("TrmmTo %s: other bits than GemmTo, error %v", what, err)
		}
		// A Bᵀ + B Aᵀ with (A B) and (B A) in a format that holds both.
		u, v := drawMatrix(r, fb, n, m, fam), drawMatrix(r, fa, n, m, fam)
		both, swapped := NewMatrix(MP(2500), n, 2*m), NewMatrix(MP(2500), n, 2*m)
		for j := range m {
			for i := range n {
				both.Set(i, j, u.At(i, j))
				both.Set(i, m+j, v.At(i, j))
				swapped.Set(i, j, v.At(i, j))
				swapped.Set(i, m+j, u.At(i, j))
			}
		}
		old := drawMatrix(r, fc, n, n, fam)
		d := drawMatrix(r, fd, n, n, fam)
		whole, before := NewMatrix(fd, n, n), d.Clone()
		err = Syr2kTo(uplo, NoTrans, al, u, v, be, old, d, nil)
		err2 = GemmTo(NoTrans, Trans, al, both, swapped, be, old, whole, nil)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for j := range n {
			for i := range n {
				w := before.At(i, j)
				if i == j || i < j == (uplo == Upper) {
					w = whole.At(i, j)
				}
				if err := sameScalar(fmt.Sprintf("Syr2kTo (%d, %d) %s", i, j, what), d.At(i, j), w); err != nil {
					return err
				}
			}
		}
		// Triangular systems, the solution in another format or in A's place.
		lower := NewMatrix(fa, n, n)
		for j := range n {
			for i := j; i < n; i++ {
				lower.Set(i, j, a.At(i, j))
			}
			lower.SetFloat64(j, j, 7)
		}
		solution := substituteTo(fd, lower, b, al)
		if err := TrsmTo(Left, Lower, NoTrans, NonUnit, al, lower, b, got, nil); err != nil || !got.Same(solution) {
			return fmt.Errorf("TrsmTo %s: other bits than the definition, error %v", what, err)
		}
		if m <= n {
			solution = substituteTo(fa, lower, b, al)
			if err := TrsmTo(Left, Lower, NoTrans, NonUnit, al, lower, b, lower.Slice(0, n, 0, m), nil); err != nil || !lower.Slice(0, n, 0, m).Same(solution) {
				return fmt.Errorf("TrsmTo in A %s: other bits than the definition, error %v", what, err)
			}
		}
		return nil
	})
}

// TestCommonFormat checks that the common format of two matrices holds their numbers.
func TestCommonFormat(t *testing.T) {
	trials(t, 600, func(r *rand.Rand) error {
		a := drawMatrix(r, pickFormat(r), 2, 3, pickFamily(r))
		b := drawMatrix(r, pickFormat(r), 3, 2, pickFamily(r))
		f := FormatOf(commonFormat(a.m, b.m))
		if g := FormatOf(commonFormat(b.m, a.m)); g != f {
			return fmt.Errorf("%v and %v: %v, swapped %v", a.NumberFormat(), b.NumberFormat(), f, g)
		}
		for _, m := range []*Matrix{a, b} {
			if back := m.Convert(f).Convert(m.NumberFormat()); !back.Same(m.Clone()) {
				return fmt.Errorf("%v and %v: %v does not hold %s", a.NumberFormat(), b.NumberFormat(), f, dump(m.Vec().v))
			}
			c := m.Convert(f)
			for j := range m.Cols() {
				for i := range m.Rows() {
					u, v := termAt(m.m.Col(j), i), termAt(c.m.Col(j), i)
					v.neg = !v.neg
					if s := total([]term{u, v}); u.class == num.Finite && s.Class != num.Zero {
						return fmt.Errorf("%v and %v: %v does not hold %s", a.NumberFormat(), b.NumberFormat(), f, dump(m.Vec().v))
					}
				}
			}
		}
		return nil
	})
}

// TestStructuredErrors checks errors of options, and panics.
func TestStructuredErrors(t *testing.T) {
	a, b, c, x := NewMatrix(Float64, 3, 3), NewMatrix(Float64, 3, 3), NewMatrix(Float64, 3, 3), NewVector(Float64, 3)
	ap, one := NewVector(Float64, 6), Float(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	routines := map[string]func(opt *Options) error{
		"Gbmv":  func(o *Options) error { return Gbmv(NoTrans, 3, 1, 1, one, a, x, one, x, o) },
		"Symv":  func(o *Options) error { return Symv(Upper, one, a, x, one, x, o) },
		"Sbmv":  func(o *Options) error { return Sbmv(Upper, 2, one, a, x, one, x, o) },
		"Spmv":  func(o *Options) error { return Spmv(Upper, one, ap, x, one, x, o) },
		"Trmv":  func(o *Options) error { return Trmv(Upper, NoTrans, Unit, a, x, o) },
		"Syr":   func(o *Options) error { return Syr(Upper, one, x, a, o) },
		"Syr2":  func(o *Options) error { return Syr2(Upper, one, x, x, a, o) },
		"Syr2k": func(o *Options) error { return Syr2k(Upper, NoTrans, one, a, b, one, c, o) },
		"Symm":  func(o *Options) error { return Symm(Left, Upper, one, a, b, one, c, o) },
		"Trmm":  func(o *Options) error { return Trmm(Left, Upper, NoTrans, Unit, one, a, b, o) },
	}
	for name, f := range routines {
		for _, e := range []struct {
			opt  *Options
			want error
		}{
			{&Options{Context: ctx}, context.Canceled},
			{&Options{Device: noGPU}, ErrDevice},
			{&Options{Method: "none"}, ErrMethod},
		} {
			if err := f(e.opt); !errors.Is(err, e.want) {
				t.Errorf("%s: error %v, want %v", name, err, e.want)
			}
		}
	}
	small, short := NewMatrix(Float64, 2, 3), NewVector(Float64, 2)
	for name, f := range map[string]func(){
		"Gbmv rows":    func() { Gbmv(NoTrans, 3, 1, 2, one, a, x, one, x, nil) },
		"Gbmv kl":      func() { Gbmv(NoTrans, 3, -1, 3, one, a, x, one, x, nil) },
		"Gbmv t":       func() { Gbmv('X', 3, 1, 1, one, a, x, one, x, nil) },
		"Gbmv x":       func() { Gbmv(NoTrans, 3, 1, 1, one, a, short, one, x, nil) },
		"Gbmv m":       func() { Gbmv(NoTrans, 4, 1, 1, one, a, x, one, x, nil) },
		"Symv uplo":    func() { Symv('X', one, a, x, one, x, nil) },
		"Symv shape":   func() { Symv(Upper, one, small, x, one, x, nil) },
		"Sbmv k":       func() { Sbmv(Upper, 1, one, a, x, one, x, nil) },
		"Sbmv x":       func() { Sbmv(Upper, 2, one, a, short, one, x, nil) },
		"Spmv length":  func() { Spmv(Upper, one, x, x, one, x, nil) },
		"Trmv diag":    func() { Trmv(Upper, NoTrans, 'X', a, x, nil) },
		"Trmv t":       func() { Trmv(Upper, 'X', Unit, a, x, nil) },
		"Syr x":        func() { Syr(Upper, one, short, a, nil) },
		"Syr2 uplo":    func() { Syr2('X', one, x, x, a, nil) },
		"Syr2k shapes": func() { Syr2k(Upper, NoTrans, one, a, small, one, c, nil) },
		"Symm side":    func() { Symm('X', Upper, one, a, b, one, c, nil) },
		"Symm B":       func() { Symm(Left, Upper, one, a, small, one, c, nil) },
		"Trmm side":    func() { Trmm(Right, Upper, NoTrans, Unit, one, a, small.T(), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}
