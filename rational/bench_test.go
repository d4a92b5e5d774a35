package rational_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/rational"
)

// BenchmarkRoutines takes random integers below 2^10, 2^100 and 2^1000 in magnitude:
//
//	go test -run '^$' -bench Routines -benchtime 1x ./rational
//
// bench/records/epyc-avx2-rational.json.gz has times beside FLINT.
func BenchmarkRoutines(b *testing.B) {
	for _, n := range []int{10, 50, 200, 500} {
		for _, bits := range []int{10, 100, 1000} {
			r := rand.New(rand.NewPCG(1, uint64(n*bits)))
			rows := make([][]*big.Int, n)
			right := make([][]*big.Int, n)
			for i := range rows {
				for range n {
					rows[i] = append(rows[i], uniform(r, bits))
				}
				right[i] = []*big.Int{uniform(r, bits)}
			}
			a, y := rational.FromInts(rows), rational.FromInts(right)
			dependent := a.Clone()
			for j := range n {
				x := dependent.At(0, j)
				dependent.Set(n-1, j, x.Add(x, dependent.At(1, j)))
			}
			for _, c := range []struct {
				name string
				most int // n bits
				f    func() error
			}{
				{"Mul", 1 << 30, func() error { _, err := rational.Mul(a, a, nil); return err }},
				{"Solve", 500000, func() error { _, err := rational.Solve(a, y, nil); return err }},
				{"Det", 500000, func() error { _, err := rational.Det(a, nil); return err }},
				{"NullSpace", 500000, func() error { _, err := rational.NullSpace(dependent, nil); return err }},
				{"Inverse", 50000, func() error { _, err := rational.Inverse(a, nil); return err }},
				{"CharPoly", 10000, func() error { _, err := rational.CharPoly(a, nil); return err }},
			} {
				if n*bits > c.most || c.name == "CharPoly" && n > 200 {
					continue
				}
				b.Run(fmt.Sprintf("%s/n=%d/bits=%d", c.name, n, bits), func(b *testing.B) {
					from := cpuTime()
					for b.Loop() {
						if err := c.f(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(cpuTime()-from)/float64(b.N)/1e6, "cpu-ms/op")
				})
			}
		}
	}
}

// uniform returns an integer between -2^bits and 2^bits.
func uniform(r *rand.Rand, bits int) *big.Int {
	z := new(big.Int)
	for range bits {
		z.Lsh(z, 1).Or(z, big.NewInt(r.Int64N(2)))
	}
	if r.IntN(2) == 0 {
		z.Neg(z)
	}
	return z
}
