package linsolve

import (
	"fmt"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
)

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{100, 300, 1000} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(424)} {
			b.Run(fmt.Sprintf("n=%d/%v", n, f), func(b *testing.B) {
				m, y := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
				x := halfulp.NewMatrix(f, n, 1)
				var stats halfulp.Stats
				for b.Loop() {
					var err error
					if err = lintest.Into(x)(Solve(m, y, x.NumberFormat(), &halfulp.Options{Stats: &stats})); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(stats.Steps), "steps")
			})
		}
	}
}

func BenchmarkFactors(b *testing.B) {
	factors := map[string]func(a, symmetric *halfulp.Matrix, f halfulp.Format) error{
		"LU":       func(a, _ *halfulp.Matrix, f halfulp.Format) error { _, err := LU(a, f, nil); return err },
		"QR":       func(a, _ *halfulp.Matrix, f halfulp.Format) error { _, err := QR(a, f, nil); return err },
		"Cholesky": func(_, s *halfulp.Matrix, f halfulp.Format) error { _, err := Cholesky(s, f, nil); return err },
		"LDLT":     func(_, s *halfulp.Matrix, f halfulp.Format) error { _, err := LDLT(s, f, nil); return err },
	}
	for _, n := range []int{100, 300} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424)} {
			a := gallery.Random(f, n, n, 0, 1)
			s := halfulp.NewMatrix(halfulp.MP(2000), n, n)
			if err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), nil, s, nil); err != nil {
				b.Fatal(err)
			}
			for name, factor := range factors {
				b.Run(fmt.Sprintf("%s/n=%d/%v", name, n, f), func(b *testing.B) {
					for b.Loop() {
						if err := factor(a, s, f); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkInverse(b *testing.B) {
	for _, n := range []int{100, 300, 500, 1000} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(424)} {
			b.Run(fmt.Sprintf("n=%d/%v", n, f), func(b *testing.B) {
				m, x := gallery.Random(f, n, n, 0, 1), halfulp.NewMatrix(f, n, n)
				for b.Loop() {
					if err := lintest.Into(x)(Inverse(m, x.NumberFormat(), &halfulp.Options{Threads: 1})); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
