package digits

import (
	"math"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// Triangle is a lower triangular T in digits. Sums bounds its inverse where float64 numbers do not
// suffice for a proved inverse. Entries off the diagonal are 2^exp (x - 1/2) for factors 0 ≤ x < 1;
// pivots are 1, or at most 1/2 in magnitude.
//
// With units ε = B^-d, columns z = 2^-q T^-1 e_j come from
//
//	p_i z_i = 2^-q e_ij - 2^exp Σ x_ik z_k + 2^(exp-1) Σ z_k
//
// for |z| < 1/2, one lane per column. They satisfy T z = 2^-q e_j up to n 2^exp (3 d + 1) units of
// products (see lanes.Lanes.Add), |p_i| ≤ 1 times 1 unit of vectors, and 12 d + 12 units of a
// quotient (see LDLT). So Z = 2^q z has T Z = I + E with |E| ≤ η, where n η is at most 1/2, and
//
//	|T^-1| e ≤ |Z| e / (1 - n η),
//	|T^-T| w = |(I + E)^-T Z^T| w ≤ |Z|^T w + n η / (1 - n η) max |Z|^T w.
type Triangle struct {
	Numbers
	Rows    [][]uint64 // the factors of each row, D words apart
	Length  func(i int) int
	Exp     int
	Inverse []uint64 // factors 1/(2^(e+2) |p|); nil if p is 1
	Shift   []int    // e
	Neg     []bool   // signs of p; nil: they are positive
}

// ScaleBits is added to the exponent of the largest entry of the unproved float64 inverse: the sum
// is the first scale q that Sums tries.
const ScaleBits = 6

// Sums returns bounds of |T^-1| e or, with weights w, of |T^-T| w, for an inverse whose entries are
// at most about 2^top. The error is ErrProof if the proof takes more digits, and then more guesses
// how many bits more; otherwise it is ErrRange.
func (t *Triangle) Sums(s *call.Run, top int, w []float64) (z []float64, more int, err error) {
	n, d, b := len(t.Rows), t.D, t.Bits()
	for q := max(top, 0) + ScaleBits; q < 850; q += 40 {
		_, e := math.Frexp(float64(n) * (math.Ldexp(float64(n)*float64(3*d+1), t.Exp) + float64(12*d+13)))
		lost := math.Ldexp(1, e+q-b*d) // a bound of n η
		if lost > 0.5 {
			return nil, e + q - b*d + 1, seed.ErrProof
		}
		z, ok, err := t.scaledSums(s, q, w)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue
		}
		most := call.LargestOf(z)
		for i, x := range z {
			if w == nil {
				z[i] = float64(x / (1 - lost) * (1 + 0x1p-40))
			} else {
				z[i] = float64((x + float64(lost/(1-lost)*most)) * (1 + 0x1p-40))
			}
		}
		if !(call.LargestOf(z) < 0x1p900) {
			break
		}
		return z, 0, nil
	}
	return nil, 0, call.ErrRange
}

// scaledSums returns bounds of |Z| e or |Z|^T w for a scale q; not ok if q is too small.
func (t *Triangle) scaledSums(s *call.Run, q int, w []float64) (z []float64, ok bool, err error) {
	n, count := len(t.Rows), t.Count()
	workers := make([]*triangleWorker, s.Threads)
	err = par.For(s.Ctx, s.Threads, (n+count-1)/count, func(worker, p int) {
		if workers[worker] == nil {
			workers[worker] = t.worker(w)
		}
		workers[worker].panel(p*count, q)
	})
	if err != nil {
		return nil, false, err
	}
	z = make([]float64, n)
	for _, x := range workers {
		if x == nil {
			continue
		}
		if x.large {
			return nil, false, nil
		}
		for i, v := range x.z {
			z[i] += v
		}
	}
	for i, v := range z { // sums of up to 2 n numbers that are right to 2^-47
		z[i] = float64(v * (1 + 0x1p-30))
	}
	return z, true, nil
}

// triangleWorker is the working memory of a worker that computes columns.
type triangleWorker struct {
	*Triangle
	columns, vector    []uint64
	acc, shifted, sums []int64
	w, z               []float64
	large              bool
}

func (t *Triangle) worker(w []float64) *triangleWorker {
	n, size := len(t.Rows), t.Size()
	return &triangleWorker{
		Triangle: t, columns: make([]uint64, n*size), vector: make([]uint64, size),
		acc: make([]int64, size), shifted: make([]int64, size), sums: make([]int64, size), w: w, z: make([]float64, n),
	}
}

// panel adds the magnitudes of columns of Z from first on, as many as there are lanes.
func (t *triangleWorker) panel(first, q int) {
	n, d, size, count, b := len(t.Rows), t.D, t.Size(), t.Count(), t.Bits()
	acc, scale, double := t.acc, int64(1)<<t.Exp, int64(1)<<t.Exp/2
	clear(t.sums)
	summed := first // t.sums covers the rows before summed
	twice := int64(1)
	if t.Exp == 0 { // Σ z / 2 is no number of d digits
		twice = 2
		scale, double = 2, 1
	}
	for i := first; i < n && !t.large; i++ {
		clear(acc)
		if k := t.Length(i); k > first {
			t.Add(acc, t.columns[first*size:], size, t.Rows[i][first*d:], d, false, k-first)
			for ; summed < k; summed++ {
				t.Sum(t.sums, t.columns[summed*size:][:size])
			}
			t.Carry(t.sums)
			for k, v := range t.sums {
				acc[k] = double*v - scale*acc[k]
			}
		}
		if i < first+count {
			c := (q - 1) / b
			acc[(c+1)*count+i-first] += twice << (b*(c+1) - q)
		}
		t.Carry(acc) // p_i z_i, times twice
		if t.Inverse != nil {
			e := t.Shift[i]
			if !t.below(acc, e) {
				t.large = true
				return
			}
			t.shiftLanes(t.shifted, acc, e)
			if !t.Vector(t.vector, t.shifted) {
				t.large = true
				return
			}
			clear(acc)
			t.Add(acc, t.vector, size, t.Inverse[i*d:], d, false, 1)
			factor := 4 / twice
			if t.Neg != nil && t.Neg[i] {
				factor = -factor
			}
			for k, v := range acc {
				acc[k] = factor * v
			}
			t.Carry(acc)
		}
		column := t.columns[i*size:][:size]
		if !t.small(acc) || !t.Vector(column, acc) {
			t.large = true
			return
		}
		for c := range min(count, i-first+1) {
			f := math.Ldexp(math.Abs(t.VectorFloat(column, c))+0x1p-900, q)
			if t.w == nil {
				t.z[i] += f
			} else {
				t.z[first+c] += float64(f * t.w[i])
			}
		}
	}
}
