package superacc

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// TestTwo adds integers at all distances of their bits.
func TestTwo(t *testing.T) {
	var a, pages Acc
	for _, words := range [][2]int{{1, 1}, {1, 3}, {4, 2}, {7, 7}} {
		for d := int64(-64*fewWords - 3); d <= 64*fewWords+3; d += 1 + d&6 {
			for signs := range 4 {
				u := num.Real{Class: num.Finite, Neg: signs&1 != 0, Exp: 5, Mag: make([]uint64, words[0])}
				v := num.Real{Class: num.Finite, Neg: signs&2 != 0, Exp: 5 + d, Mag: make([]uint64, words[1])}
				for i := range u.Mag {
					u.Mag[i] = math.MaxUint64
				}
				for i := range v.Mag {
					v.Mag[i] = math.MaxUint64
				}
				s, ok := a.two(u, v)
				if !ok {
					if d > -64*fewWords && d < 64*fewWords {
						t.Fatalf("distance %d: none", d)
					}
					continue
				}
				pages.Reset()
				pages.Add(u)
				pages.Add(v)
				s.Neg = !s.Neg
				if s.Class == num.Finite {
					pages.Add(s)
				}
				if z := pages.Exact(); z.Class != num.Zero {
					t.Fatalf("words %v distance %d signs %d: off by %v", words, d, signs, z)
				}
			}
		}
	}
}
