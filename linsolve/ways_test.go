package linsolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestWays solves systems in every way: all have the same bits. Every way decides something.
func TestWays(t *testing.T) {
	formats := []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.DD, halfulp.MP(424)}
	solved := map[string]int{}
	for trial, n := range []int{3, 30, 70}[:testlength.Of(2, 3, 3)] {
		matrices := map[string]*halfulp.Matrix{
			"random":  halfulp.Random(halfulp.Float64, n, n, 0, uint64(trial)),
			"spread":  halfulp.Random(halfulp.MP(70), n, n, 40, uint64(trial)+10),
			"Hilbert": halfulp.Hilbert(halfulp.MP(300), min(n, 40)),
		}
		for name, a := range matrices {
			order := a.Rows()
			for _, f := range formats {
				for _, columns := range []int{1, order} {
					b := halfulp.Random(halfulp.Float64, order, columns, 3, 5)
					if columns == order {
						b = halfulp.Identity(halfulp.Float64, order)
					}
					want, err := Solve(a, b, f, nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, way := range call.SystemWays {
						x := halfulp.NewMatrix(f, order, columns)
						what := fmt.Sprintf("%s %d, %v, %d columns by %s", name, order, f, columns, way)
						err := lintest.Into(x)(Solve(a, b, x.NumberFormat(), &halfulp.Options{Context: call.Forcing(context.Background(), way)}))
						if errors.Is(err, call.ErrWay) {
							continue
						}
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if !x.Same(want) {
							t.Errorf("%s: other bits", what)
						}
						solved[way]++
					}
				}
			}
		}
	}
	for _, way := range call.SystemWays {
		if solved[way] == 0 && (way != call.ByDigits || lanes.Bits() > 0) {
			t.Errorf("%s: no problem", way)
		}
	}
	a := halfulp.Random(halfulp.Float64, 3, 3, 0, 1)
	err := lintest.ErrorOf(Solve(a, a, halfulp.Float64, &halfulp.Options{Context: call.Forcing(context.Background(), call.ByDigits)}))
	if !errors.Is(err, call.ErrWay) {
		t.Errorf("digits for no inverse: %v", err)
	}
	if i := slices.Index(call.SystemWays, call.ByProducts); i != len(call.SystemWays)-1 {
		t.Errorf("products are way %d", i)
	}
}

// TestOtherWays makes inverses, determinants and factors in every way: all have the same bits.
// Every way has a matrix that it is for.
func TestOtherWays(t *testing.T) {
	ill := halfulp.Random(halfulp.Float64, 24, 24, 0, 8)
	for i := range 24 { // float64 factors do not do
		ill.SetFloat64(i, 23, ill.Float64(i, 0)+float64(ill.Float64(i, 1)*0x1p-50))
	}
	matrices := map[string]*halfulp.Matrix{
		"small":  halfulp.Random(halfulp.Float64, 4, 4, 0, 9),
		"random": halfulp.Random(halfulp.Float64, 24, 24, 0, 7),
		"ill":    ill,
		"spread": halfulp.Random(halfulp.MP(70), 12, 12, 100, 6),
	}
	matrix := func(z *halfulp.Matrix) string { return z.Text(halfulp.Hex) }
	type result func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error)
	positive := func(a *halfulp.Matrix) *halfulp.Matrix {
		z := halfulp.NewMatrix(halfulp.MP(uint(2*a.NumberFormat().Bits()+340)), a.Rows(), a.Cols())
		if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), z, nil); err != nil {
			t.Fatal(err)
		}
		return z
	}
	for _, c := range []struct {
		name string
		ways []string
		run  result
	}{
		{"Inverse", call.InverseWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			x, err := Inverse(a, f, opt)
			if err != nil {
				return "", err
			}
			return matrix(x), nil
		}},
		{"Det", call.DeterminantWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			d, err := Det(a, f, opt)
			return fmt.Sprint(d), err
		}},
		{"Cholesky", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := Cholesky(positive(a), f, opt)
			if err != nil {
				return "", err
			}
			return matrix(z.L), nil
		}},
		{"LU", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := LU(a, f, opt)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.P, matrix(z.L), matrix(z.U)), nil
		}},
		{"LDLT", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			symmetric := a.Clone()
			for i := range a.Rows() {
				for j := range i {
					symmetric.Set(i, j, a.At(j, i))
				}
			}
			z, err := LDLT(symmetric, f, opt)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.P, z.Blocks, matrix(z.L), matrix(z.D)), nil
		}},
		{"QR", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := QR(a, f, opt)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.P, matrix(z.Q), matrix(z.R)), nil
		}},
		{"QRPivoted", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := QRPivoted(a, f, opt)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.P, matrix(z.Q), matrix(z.R)), nil
		}},
	} {
		done := map[string]int{}
		for name, a := range matrices {
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.DD}[:testlength.Of(1, 2, 2)] {
				want, err := c.run(a, f, nil)
				if err != nil {
					t.Fatalf("%s, %s: %v", c.name, name, err)
				}
				for _, way := range c.ways {
					got, err := c.run(a, f, &halfulp.Options{Context: call.Forcing(t.Context(), way, call.ByProducts)})
					switch {
					case errors.Is(err, call.ErrWay):
						continue
					case err != nil:
						t.Errorf("%s, %s, %v, by %s: %v", c.name, name, f, way, err)
					case got != want:
						t.Errorf("%s, %s, %v, by %s: other bits", c.name, name, f, way)
					}
					done[way]++
				}
			}
		}
		for _, way := range c.ways {
			may := way != call.ByDigits || c.name != "QRPivoted" && lanes.Bits() > 0
			if done[way] == 0 && may {
				t.Errorf("%s by %s: no matrix", c.name, way)
			}
		}
	}
}
