package linsolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestWays solves systems in every way: all solutions must have the same bits, and the forced way
// must have decided them, unless float64 factors or digits may not suffice.
func TestWays(t *testing.T) {
	formats := []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.DD, halfulp.MP(424)}
	solved := map[string]int{}
	for trial, n := range testlength.Of([]int{3, 18}, []int{3, 18}, []int{3, 30, 70}) {
		matrices := map[string]*halfulp.Matrix{
			"random":  gallery.Random(halfulp.Float64, n, n, 0, uint64(trial)),
			"spread":  gallery.Random(halfulp.MP(70), n, n, 40, uint64(trial)+10),
			"Hilbert": gallery.Hilbert(halfulp.MP(300), min(n, 40)),
		}
		for name, a := range matrices {
			order := a.Rows()
			for _, f := range formats {
				for _, columns := range []int{1, order} {
					b := gallery.Random(halfulp.Float64, order, columns, 3, 5)
					if columns == order {
						b = halfulp.Identity(halfulp.Float64, order)
					}
					want, err := Solve(a, b, f, nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, way := range call.SystemWays {
						if way == call.ByRationals && columns > 30 && f != formats[0] {
							continue // the same rational numbers, which take most of the time
						}
						x := halfulp.NewMatrix(f, order, columns)
						what := fmt.Sprintf("%s %d, %v, %d columns by %s", name, order, f, columns, way)
						record := new(call.Record)
						forced := call.Recording(call.Forcing(context.Background(), way), record)
						err := lintest.Into(x)(Solve(a, b, x.NumberFormat(), &halfulp.Options{Context: forced}))
						if errors.Is(err, call.ErrWay) {
							continue
						}
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if !x.Same(want) {
							t.Errorf("%s: other bits", what)
						}
						// Float64 factors do not suffice for large Hilbert matrices. The
						// inverses are nearly integers, which digits leave to others.
						seeded := way == call.ByResiduals || way == call.ByTriangles || way == call.BySlices || way == call.BySeries || way == call.ByFloats
						may := name == "Hilbert" && (way == call.ByDigits || seeded && order >= 18)
						if decided, _ := record.Of("*solve.problem", way); decided > 0 {
							solved[way]++
						} else if !may {
							t.Errorf("%s: left open", what)
						}
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
	a := gallery.Random(halfulp.Float64, 3, 3, 0, 1)
	err := lintest.ErrorOf(Solve(a, a, halfulp.Float64, &halfulp.Options{Context: call.Forcing(context.Background(), call.ByDigits)}))
	if !errors.Is(err, call.ErrWay) {
		t.Errorf("digits for no inverse: %v", err)
	}
	if i := slices.Index(call.SystemWays, call.ByProducts); i != len(call.SystemWays)-1 {
		t.Errorf("products are way %d", i)
	}
}

// TestOtherWays computes inverses, determinants and factors in every way: all must have the same
// bits. Every way must decide something for each matrix to which it applies, and must apply to some
// matrix.
func TestOtherWays(t *testing.T) {
	ill := gallery.Random(halfulp.Float64, 24, 24, 0, 8)
	for i := range 24 { // float64 factors do not suffice
		ill.SetFloat64(i, 23, ill.Float64(i, 0)+float64(ill.Float64(i, 1)*0x1p-50))
	}
	matrices := map[string]*halfulp.Matrix{
		"small":  gallery.Random(halfulp.Float64, 4, 4, 0, 9),
		"random": gallery.Random(halfulp.Float64, 24, 24, 0, 7),
		"ill":    ill,
		"spread": gallery.Random(halfulp.MP(70), 12, 12, 100, 6),
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
		name, problem string
		ways          []string
		run           result
	}{
		{"Inverse", "*solve.inverse", call.InverseWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			x, err := Inverse(a, f, opt)
			if err != nil {
				return "", err
			}
			return matrix(x), nil
		}},
		{"Det", "*det.enclosed", call.DeterminantWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			d, err := Det(a, f, opt)
			return fmt.Sprint(d), err
		}},
		{"Cholesky", "*factors.cholesky", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := Cholesky(positive(a), f, opt)
			if err != nil {
				return "", err
			}
			return matrix(z.L), nil
		}},
		{"LU", "*factors.lu", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := LU(a, f, opt)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.P, matrix(z.L), matrix(z.U)), nil
		}},
		{"LDLT", "*factors.ldltFactors", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
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
		{"QR", "*factors.qrFactors", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := QR(a, f, opt)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.P, matrix(z.Q), matrix(z.R)), nil
		}},
		{"QRPivoted", "*factors.qrFactors", call.FactorWays, func(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (string, error) {
			z, err := QRPivoted(a, f, opt)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(z.P, matrix(z.Q), matrix(z.R)), nil
		}},
	} {
		done := map[string]int{}
		for name, a := range matrices {
			for _, f := range []halfulp.Format{halfulp.Float64, halfulp.DD}[:testlength.Of(1, 1, 2)] {
				want, err := c.run(a, f, nil)
				if err != nil {
					t.Fatalf("%s, %s: %v", c.name, name, err)
				}
				for _, way := range c.ways {
					if way == call.ByLongSeed && c.name != "LU" && c.name != "LDLT" {
						continue // which have no such way
					}
					record := new(call.Record)
					got, err := c.run(a, f, &halfulp.Options{Context: call.Recording(call.Forcing(t.Context(), way, call.ByProducts), record)})
					decided, _ := record.Of(c.problem, way)
					// Float64 numbers do not suffice for this inverse and for these pivots.
					may := name == "ill" && (way == call.ByFloat64 || c.name == "LU" && way == call.ByNewton)
					switch {
					case errors.Is(err, call.ErrWay):
						continue
					case decided == 0 && !may:
						t.Errorf("%s, %s, %v, by %s: left open", c.name, name, f, way)
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
			none := way == call.ByDigits && (c.name == "QRPivoted" || lanes.Bits() == 0) || way == call.ByLongSeed && c.name != "LU" && c.name != "LDLT"
			if done[way] == 0 && !none {
				t.Errorf("%s by %s: no matrix", c.name, way)
			}
		}
	}
}
