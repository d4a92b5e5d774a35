package rational_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/rational"
)

// BenchmarkThresholds measures both sides of thresholds: wordOrder, by determinants of small
// integers, and halvedBits, by denominators.
//
//	go test -run '^$' -bench Thresholds ./rational
func BenchmarkThresholds(b *testing.B) {
	for _, n := range []int{4, 8, 12, 16, 20, 24} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		rows := make([][]*big.Int, n)
		for i := range rows {
			for range n {
				rows[i] = append(rows[i], uniform(r, 3))
			}
		}
		a := rational.FromInts(rows)
		for name, order := range map[string]int{"words": n, "primes": -1} {
			b.Run(fmt.Sprintf("Det/n=%d/%s", n, name), func(b *testing.B) {
				defer rational.SetWordOrder(order)()
				for b.Loop() {
					if _, err := rational.Det(a, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	for _, bits := range []int{25000, 100000, 400000} {
		r := rand.New(rand.NewPCG(2, uint64(bits)))
		q := new(big.Int).Abs(uniform(r, bits))
		q.SetBit(q, bits, 1).SetBit(q, 0, 1)
		num, den := uniform(r, bits/2-30), new(big.Int).Abs(uniform(r, bits/2-30))
		den.SetBit(den, 0, 1)
		x := new(big.Int).ModInverse(den, q)
		if x == nil {
			continue
		}
		x.Mul(x, num).Mod(x, q)
		for name, least := range map[string]int{"halved": min(6400, bits/16), "words": 1 << 30} {
			b.Run(fmt.Sprintf("denominator/bits=%d/%s", bits, name), func(b *testing.B) {
				defer rational.SetHalvedBits(least)()
				for b.Loop() {
					if rational.Denominator(x, q) == nil {
						b.Fatal("no fraction")
					}
				}
			})
		}
	}
}
