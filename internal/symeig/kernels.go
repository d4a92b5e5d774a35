// may fuse throughout: all results are seeds

package symeig

import "github.com/halfulp/halfulp/internal/dgemm"

//go:generate go -C _asm run . -out ../avx2_amd64.s -stubs ../stubs_avx2_amd64.go -pkg symeig

// kernel has the loops over vectors. Matrices are stored by columns, with leading dimension lda;
// four columns are taken at a time. Functions of kernels in assembly take lengths that are
// multiples of 8, of at least 8.
type kernel struct {
	// both sets y += Σ alpha_c a_c, and d_c to the product of a_c and x.
	both func(a []float64, lda int, x, y, alpha, d []float64)
	// add sets y += Σ alpha_c a_c.
	add func(a []float64, lda int, y, alpha []float64)
	// dots sets d_c to the product of a_c and x.
	dots func(a []float64, lda int, x, d []float64)
	// sums returns Σ z² / (gap - tau) and Σ (z / (gap - tau))².
	sums func(z, gap []float64, tau float64) (value, slope float64)
	// quotients sets to = x / y, entry by entry, and returns the sum of the squares.
	quotients func(to, x, y []float64) (squares float64)
	// scaleQuotients sets to *= x / y.
	scaleQuotients func(to, x, y []float64)
}

var generic = &kernel{bothGeneric, addGeneric, dotsGeneric, sumsGeneric, quotientsGeneric, scaleQuotientsGeneric}

func bothGeneric(a []float64, lda int, x, y, alpha, d []float64) {
	n := len(x)
	a0, a1, a2, a3 := a[:n], a[lda:][:n], a[2*lda:][:n], a[3*lda:][:n]
	f0, f1, f2, f3 := alpha[0], alpha[1], alpha[2], alpha[3]
	d0, d1, d2, d3 := 0.0, 0.0, 0.0, 0.0
	y = y[:n]
	for i, v := range x {
		b0, b1, b2, b3 := a0[i], a1[i], a2[i], a3[i]
		y[i] += b0*f0 + b1*f1 + b2*f2 + b3*f3
		d0 += b0 * v
		d1 += b1 * v
		d2 += b2 * v
		d3 += b3 * v
	}
	d[0], d[1], d[2], d[3] = d0, d1, d2, d3
}

func addGeneric(a []float64, lda int, y, alpha []float64) {
	n := len(y)
	a0, a1, a2, a3 := a[:n], a[lda:][:n], a[2*lda:][:n], a[3*lda:][:n]
	f0, f1, f2, f3 := alpha[0], alpha[1], alpha[2], alpha[3]
	for i := range y {
		y[i] += a0[i]*f0 + a1[i]*f1 + a2[i]*f2 + a3[i]*f3
	}
}

func dotsGeneric(a []float64, lda int, x, d []float64) {
	n := len(x)
	a0, a1, a2, a3 := a[:n], a[lda:][:n], a[2*lda:][:n], a[3*lda:][:n]
	d0, d1, d2, d3 := 0.0, 0.0, 0.0, 0.0
	for i, v := range x {
		d0 += a0[i] * v
		d1 += a1[i] * v
		d2 += a2[i] * v
		d3 += a3[i] * v
	}
	d[0], d[1], d[2], d[3] = d0, d1, d2, d3
}

func sumsGeneric(z, gap []float64, tau float64) (value, slope float64) {
	gap = gap[:len(z)]
	for i, v := range z {
		q := v / (gap[i] - tau)
		value += q * v
		slope += q * q
	}
	return value, slope
}

func quotientsGeneric(to, x, y []float64) (squares float64) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		q := x[i] / y[i]
		to[i] = q
		squares += q * q
	}
	return squares
}

func scaleQuotientsGeneric(to, x, y []float64) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] *= x[i] / y[i]
	}
}

// whole returns the part of a length for the kernels in assembly.
func (k *kernel) whole(n int) int {
	if k == generic {
		return 0
	}
	return n &^ 7
}

// addBoth sets y += A alpha and d = A'x for the matrix A of four columns.
func (k *kernel) addBoth(a []float64, lda int, x, y, alpha, d []float64) {
	n := k.whole(len(x))
	if n == 0 {
		bothGeneric(a, lda, x, y, alpha, d)
		return
	}
	k.both(a, lda, x[:n], y[:n], alpha, d)
	if n < len(x) {
		var more [4]float64
		bothGeneric(a[n:], lda, x[n:], y[n:], alpha, more[:])
		for c, v := range more {
			d[c] += v
		}
	}
}

// addProduct sets y += A alpha for a matrix of len(alpha) columns.
func (k *kernel) addProduct(a []float64, lda int, y, alpha []float64) {
	n := k.whole(len(y))
	if len(y) == 0 {
		return
	}
	for ; len(alpha) >= 4; alpha = alpha[4:] {
		if n > 0 {
			k.add(a, lda, y[:n], alpha)
		}
		if n < len(y) {
			addGeneric(a[n:], lda, y[n:], alpha)
		}
		a = a[min(4*lda, len(a)):]
	}
	for _, f := range alpha {
		axpy(f, a[:len(y)], y)
		a = a[min(lda, len(a)):]
	}
}

// products sets d = A'x for a matrix of len(d) columns.
func (k *kernel) products(a []float64, lda int, x, d []float64) {
	if len(x) == 0 {
		clear(d)
		return
	}
	n := k.whole(len(x))
	for ; len(d) >= 4; d = d[4:] {
		if n == 0 {
			dotsGeneric(a, lda, x, d)
		} else {
			k.dots(a, lda, x[:n], d)
			if n < len(x) {
				var more [4]float64
				dotsGeneric(a[n:], lda, x[n:], more[:])
				for c, v := range more {
					d[c] += v
				}
			}
		}
		a = a[min(4*lda, len(a)):]
	}
	for c := range d {
		d[c] = inner(a[:len(x)], x)
		a = a[min(lda, len(a)):]
	}
}

// secularSums is sums for any length.
func (k *kernel) secularSums(z, gap []float64, tau float64) (value, slope float64) {
	n := k.whole(len(z))
	if n > 0 {
		value, slope = k.sums(z[:n], gap[:n], tau)
	}
	v, s := sumsGeneric(z[n:], gap[n:], tau)
	return value + v, slope + s
}

// divide is quotients for any length.
func (k *kernel) divide(to, x, y []float64) (squares float64) {
	n := k.whole(len(to))
	if n > 0 {
		squares = k.quotients(to[:n], x[:n], y[:n])
	}
	return squares + quotientsGeneric(to[n:], x[n:], y[n:])
}

// scaleDivided is scaleQuotients for any length.
func (k *kernel) scaleDivided(to, x, y []float64) {
	n := k.whole(len(to))
	if n > 0 {
		k.scaleQuotients(to[:n], x[:n], y[:n])
	}
	scaleQuotientsGeneric(to[n:], x[n:], y[n:])
}

// axpy adds alpha x to y.
func axpy(alpha float64, x, y []float64) { dgemm.Axpy(alpha, x, y) }

// inner returns the product of two vectors.
func inner(x, y []float64) float64 {
	y = y[:len(x)]
	s0, s1, s2, s3 := 0.0, 0.0, 0.0, 0.0
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// Products sets d = A'x for a matrix A of len(d) columns of len(x) entries, lda apart.
func Products(a []float64, lda int, x, d []float64) { best().products(a, lda, x, d) }

// AddProduct sets y += A alpha for a matrix A of len(alpha) columns of len(y) entries, lda apart.
func AddProduct(a []float64, lda int, y, alpha []float64) { best().addProduct(a, lda, y, alpha) }
