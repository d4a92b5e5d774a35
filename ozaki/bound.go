package ozaki

import "math"

const (
	unit32 = 0x1p-24 // unit roundoff of float32
	unit64 = 0x1p-53
	// smallest is the smallest normal float32.
	smallest = 0x1p-126
	// upward turns the rounded result of fewer than 2^9 operations on non-negative numbers into an
	// upper bound.
	upward = 1 + 0x1p-43
)

// norms are upper bounds of the 2-norms of the slices q_t and remainders r_t of each vector,
// [t-1][v]. Entries of r_t below the smallest normal float32 count as that number, so that a norm
// is 0 only if r_t is.
type norms struct{ q, r [][]float64 }

// errorBound bounds the error of the sums of [run.multiply]: with W = 2^-(α+1), X_s = ‖q_s(A)‖
// for s < K, X_K = ‖r_K(A)‖ and Y_t = ‖r_t(B)‖, it is
//
//	W^(K-1) Σ_s (γ X_s Y_(K+1-s) + τ [X_s Y_(K+1-s) ≠ 0]) + γ' X Y + γ" (X' Y + X Y')
//
// in units of 2^(e_i - α + f_j - α). Here X = Σ W^(s-1) X_s, Y = Σ W^(t-1) max(‖q_t(B)‖, Y_t), and
// X', Y' are these sums without their first terms.
//
// The exact product is the sum of W^(s+t-2) q_s(A) q_t(B) for s + t ≤ K, and of W^(K-1) x_s
// r_(K+1-s)(B) for s ≤ K, with x_s = q_s(A), or r_K(A) for s = K. The products q_s(A) q_t(B) are
// computed without error. An SGEMM of n products, in any order of additions, has an error of at
// most γ_n Σ|a||b|, and rounding its operands an error of at most (2u + u²) Σ|a||b|, u = 2^-24.
// Together these are less than γ = (n+3)u/(1 - (n+3)u) times Σ|a||b| ≤ ‖a‖‖b‖. τ = n 2^(α-121)
// covers underflow, even where a device flushes subnormal numbers to zero. γ' and γ" are for the
// additions in float64. Within a block, the product of the first slices, which is added last, goes
// through one addition, and the others through at most K(K+1)/2. All of them also go through the
// additions of the blocks.
type errorBound struct {
	x, y       [][]float64 // X_s, and γ W^(K-1) Y_(K+1-s); X, and γ" Y'
	tau        float64     // W^(K-1) τ
	sumX, sumY []float64   // X + γ"/γ' X', and γ' Y
}

// gamma returns an upper bound of n u / (1 - n u).
func gamma(n int, u float64) float64 {
	x := float64(float64(n) * u)
	return float64(x / (1 - x) * upward)
}

// newErrorBound returns the bound of products of length n in slices of alpha bits; norms may have
// more slices. additions counts further additions in float64.
func newErrorBound(a, b norms, slices, alpha, n, additions int) *errorBound {
	w := 1 / float64(int(1)<<(alpha+1))
	last := math.Pow(w, float64(slices-1)) // exact: a power of two
	e := &errorBound{tau: math.Ldexp(float64(n), alpha-121) * last}
	e.x = append(append(e.x, a.q[:slices-1]...), a.r[slices-1])
	e.sumX, e.sumY = make([]float64, len(e.x[0])), make([]float64, len(b.r[0]))
	g32 := gamma(n+3, unit32) * last
	few := gamma(1+additions, unit64) * (1 + gamma(n+3, unit32))
	many := gamma(slices*(slices+1)/2+additions, unit64) * (1 + gamma(n+3, unit32))
	for s := range slices {
		y := make([]float64, len(e.sumY))
		for v, r := range b.r[slices-1-s] {
			y[v] = g32 * r
		}
		e.y = append(e.y, y)
	}
	all, rest := make([]float64, len(e.sumX)), make([]float64, len(e.sumY))
	weight := 1.0
	for s := range slices {
		for v, x := range e.x[s] {
			x = float64(x * weight)
			all[v] += x
			if s > 0 {
				x = float64(x * (1 + many/few))
			}
			e.sumX[v] += x
		}
		for v, r := range b.r[s] {
			y := weight * max(b.q[s][v], r)
			e.sumY[v] += float64(few * y)
			if s > 0 {
				rest[v] += float64(many * y)
			}
		}
		weight *= w
	}
	e.x, e.y = append(e.x, all), append(e.y, rest)
	return e
}

// at returns the bound of entry (i, j).
func (e *errorBound) at(i, j int) float64 {
	sum := float64(e.sumX[i] * e.sumY[j])
	for s, x := range e.x {
		if p := float64(x[i] * e.y[s][j]); p != 0 {
			sum += p + e.tau
		}
	}
	return float64(sum * upward)
}

// ofResult returns a bound on the error of c = α t 2^x + β c₀ as [combine] computes it. e is a
// bound on the error of t; m is as in combine, and x includes α's exponent.
func ofResult(e, t, m float64, x int, beta, c0, c float64) float64 {
	if !finite(c) {
		return math.Inf(1)
	}
	if mantissa := math.Abs(m); mantissa != 0.5 {
		e = mantissa * (e + float64(unit64*math.Abs(t))) * upward
	} else {
		e *= mantissa
	}
	sum := float64(scale(e, x) * upward)
	if sum == 0 && e != 0 || sum != 0 && sum < 0x1p-1000 {
		sum += 0x1p-1073
	}
	added := beta != 0 && c0 != 0
	if added {
		sum += float64(unit64 * math.Abs(c))
	}
	if math.Abs(c) < 0x1p-1000 && (added || t != 0) {
		sum += 0x1p-1073
	}
	if sum == 0 {
		return 0
	}
	return math.Nextafter(sum*upward, math.Inf(1))
}
