package residue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// BenchmarkOperands measures on one thread what a product does to its operands: the scan, and the
// digits of a tile of bytes after the other, of numbers stored by columns.
func BenchmarkOperands(b *testing.B) {
	for _, f := range []num.Format{num.Float64, mp(106), mp(848)} {
		widths := []int{int(f.Prec) + 18}
		if f.Kind == num.F64 {
			widths = []int{30, 52, 100}
		}
		b.Run(f.String(), func(b *testing.B) { benchOperands(b, f, widths) })
	}
}

// benchOperands measures operands of a format, and digits of these widths.
func benchOperands(b *testing.B, f num.Format, widths []int) {
	const n = 1000
	m := randomMat(rand.New(rand.NewPCG(6, 9)), f, n, n, 0)
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
		for _, width := range widths {
			b.Run(fmt.Sprintf("digits/%s/width=%d", s.name, width), func(b *testing.B) {
				kern, pairs := modgemm.Best(), digitPairs(width)
				dst := make([]int16, 2*pairs*modgemm.TileBytes)
				room := new(digitScratch)
				for b.Loop() {
					for v := 0; v < n; v += modgemm.TileVectors {
						for h := 0; h < n; h += modgemm.StepNumbers {
							if !o.digitsTile(kern, dst, pairs, &room.floats, v, h, s.side, width) {
								o.write(kern, dst, pairs, room, v, modgemm.TileVectors, h, h+modgemm.StepNumbers, s.group, width)
							}
						}
					}
				}
				perNumber(b)
			})
		}
	}
}

// BenchmarkResidues measures on one thread all of what makes residues of an operand: digits, their
// conversion, and the planes, of as many moduli as a product of that precision takes.
func BenchmarkResidues(b *testing.B) {
	const n = 1000
	for _, c := range []struct{ bits, width, moduli int }{{53, 71, 20}, {106, 124, 35}, {424, 445, 92}} {
		f := num.Float64
		if c.bits != 53 {
			f = num.Format{Kind: num.MP, Prec: uint32(c.bits)}
		}
		m := randomMat(rand.New(rand.NewPCG(6, 9)), f, n, n, 0)
		for _, k := range inForce(false) {
			moduli := c.moduli
			if k.bytes == nil {
				if moduli > modgemm.ByteModuli().Plain {
					moduli = c.moduli * 9 / 10
				} else {
					moduli = (c.moduli*15/2 + 12) / 13
				}
			}
			base := baseOf(k.pool(), moduli)
			for _, s := range []side{left, right} {
				mat := m
				if s == right {
					mat = m.T()
				}
				o, err := scan(context.Background(), 1, mat)
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%d/%s/side=%d", c.bits, k.name(), s.index()), func(b *testing.B) {
					for b.Loop() {
						r := newResidues(k, base, s, o.n, o.k, c.width)
						if err := r.compute(context.Background(), 1, o, func(float64) {}); err != nil {
							b.Fatal(err)
						}
						r.release()
					}
					b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(n*n*float64(moduli)), "ns/residue")
				})
			}
		}
	}
}

// BenchmarkProduct measures products, correctly rounded, and their stages, in memory that one
// before them has used.
func BenchmarkProduct(b *testing.B) {
	for _, size := range []struct{ n, threads int }{{1000, 1}, {4000, 16}} {
		for _, prec := range []uint32{53, 106, 212, 424, 848, 1696} {
			if size.n > 1000 && prec > 848 {
				continue
			}
			b.Run(fmt.Sprintf("n=%d/threads=%d/bits=%d", size.n, size.threads, prec), func(b *testing.B) {
				f := num.Format{Kind: num.MP, Prec: prec}
				if prec == 53 {
					f = num.Float64
				}
				x := randomMat(rand.New(rand.NewPCG(6, 9)), f, size.n, size.n, 0)
				c := num.Mat{Arr: num.New(f, size.n*size.n), RS: 1, CS: size.n, Rows: size.n, Cols: size.n}
				stages := map[string]float64{}
				run := func() Stats {
					q, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: size.threads, Memory: 64 << 30}}, one, x, x, num.Real{}, c, c, nil, nil)
					if err != nil {
						b.Fatal(err)
					}
					stats, err := q.Run()
					if err != nil {
						b.Fatal(err)
					}
					return stats
				}
				run() // into pages that are new
				for b.Loop() {
					for _, s := range run().Stages {
						stages[s.Name] += s.Time.Seconds() * 1e3
					}
				}
				for name, ms := range stages {
					b.ReportMetric(ms/float64(b.N), name[:4]+"-ms")
				}
			})
		}
	}
}
