package exact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
)

// BenchmarkOperands measures on one thread what a product does to its operands: the scan, and the
// digits of a tile of bytes after the other, of binary64 stored by columns.
func BenchmarkOperands(b *testing.B) {
	const n = 1024
	m := randomMat(rand.New(rand.NewPCG(6, 9)), num.Float64, n, n, 0)
	for _, s := range []struct {
		name  string
		mat   num.Mat
		side  side
		group int
	}{{"left", m, left, modgemm.LeftGroup}, {"right", m.T(), right, modgemm.RightGroup}} {
		perNumber := func(b *testing.B) {
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(n*n), "ns/number")
		}
		b.Run("scan/"+s.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := scan(context.Background(), 1, s.mat); err != nil {
					b.Fatal(err)
				}
			}
			perNumber(b)
		})
		o, err := scan(context.Background(), 1, s.mat)
		if err != nil {
			b.Fatal(err)
		}
		for _, width := range []int{30, 52, 100} {
			b.Run(fmt.Sprintf("digits/%s/width=%d", s.name, width), func(b *testing.B) {
				kern, pairs := modgemm.Best(), digitPairs(width)
				dst := make([]int16, 2*pairs*modgemm.TileBytes)
				tile := new(tileNumbers)
				for b.Loop() {
					for v := 0; v < n; v += modgemm.TileVectors {
						for h := 0; h < n; h += modgemm.StepNumbers {
							if !o.digitsTile(kern, dst, pairs, tile, v, h, s.side, width) {
								o.digits(newDigitWriter(dst, kern.NR, pairs), v, modgemm.TileVectors, h, h+modgemm.StepNumbers, s.group, width)
							}
						}
					}
				}
				perNumber(b)
			})
		}
	}
}
