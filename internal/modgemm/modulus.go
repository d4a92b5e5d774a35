package modgemm

import (
	"slices"
	"sync"
)

// A Modulus is one modulus in the form that the kernels read: a word for every row
// of a tile. It is immutable.
type Modulus struct {
	m    []int32
	inv  []float32
	step []int32 // 2^foldBits modulo m: an int16 in the low half, the high half 0
}

// NewModulus prepares m, 2 <= m <= 8191.
func NewModulus(m int) Modulus {
	var r Modulus
	for range maxMR {
		r.add(m)
	}
	return r
}

// RowModuli holds one modulus for each row of the left operand of Convert. It is
// immutable.
type RowModuli struct {
	r Modulus
}

// NewRowModuli prepares the moduli of the rows of a left operand of kernel k, each
// 2 <= m <= 8191. The rows that fill the last panel get some modulus; their residues
// are 0.
func NewRowModuli(k *Kernel, moduli []int) RowModuli {
	var r RowModuli
	for _, m := range moduli {
		r.r.add(m)
	}
	for len(r.r.m)%k.MR != 0 {
		r.r.add(maxModulus)
	}
	return r
}

// GCD returns the greatest common divisor of positive numbers.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (r *Modulus) add(m int) {
	if m < 2 || m > maxModulus {
		panic(badModulus)
	}
	r.m = append(r.m, int32(m))
	r.inv = append(r.inv, float32(1/float64(m)))
	r.step = append(r.step, int32(uint16(Balanced(1<<foldBits, int64(m)))))
}

var moduliCache [maxWidth + 1]struct {
	once   sync.Once
	moduli []int
}

const maxWidth = 13

// Moduli returns the pairwise coprime numbers below 2^width, 2 <= width <= 13, that a
// greedy search from above finds: each number is taken if it is coprime to all taken
// before. The result is the caller's own. For width 13 the product exceeds 2^11000.
func Moduli(width int) []int {
	if width < 2 || width > maxWidth {
		panic(badWidth)
	}
	e := &moduliCache[width]
	e.once.Do(func() { e.moduli = greedyModuli(width) })
	return slices.Clone(e.moduli)
}

// greedyModuli marks the multiples of every prime factor of a number taken. A number is
// coprime to the numbers taken before if and only if it is unmarked.
func greedyModuli(width int) []int {
	n := 1 << width
	marked := make([]bool, n)
	var moduli []int
	for m := n - 1; m > 1; m-- {
		if marked[m] {
			continue
		}
		moduli = append(moduli, m)
		for rest, p := m, 2; rest > 1; p++ {
			if p*p > rest {
				p = rest
			}
			if rest%p != 0 {
				continue
			}
			for rest%p == 0 {
				rest /= p
			}
			for i := p; i < n; i += p {
				marked[i] = true
			}
		}
	}
	return moduli
}
