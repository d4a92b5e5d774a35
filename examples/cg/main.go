// Cg solves A x = b by conjugate gradients in several precisions. A is symmetric and positive
// definite, with the eigenvalues 1, 2, 4, ..., 2^39.
package main

import (
	"fmt"
	"log"
	"math"

	"github.com/halfulp/halfulp"
)

const n = 40

func main() {
	a := matrix()
	fmt.Println("format   iterations  residual")
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.DD, halfulp.QD, halfulp.MP(424), halfulp.MP(848), halfulp.MP(1696)} {
		steps, residual := solve(a, f)
		fmt.Printf("%-7v  %10d  %8.0e\n", f, steps, residual)
	}
}

// matrix returns A = H D H, D diagonal with the entries 2^i, H = I - 2 v vᵀ/(vᵀ v) a reflection, so
// that A has the eigenvalues of D. It is computed in 2000 bits, and rounded to 424.
func matrix() *halfulp.Matrix {
	f := halfulp.MP(2000)
	one, zero := halfulp.Float(1), halfulp.Float(0)
	d, h := halfulp.NewMatrix(f, n, n), halfulp.Identity(f, n)
	v := halfulp.NewVector(f, n)
	for i := range n {
		d.SetFloat64(i, i, math.Ldexp(1, i))
		v.SetFloat64(i, float64(1+i%7))
	}
	vv := must(halfulp.Dot(v, v, f, nil))
	check(halfulp.Ger(f.Quo(halfulp.Float(-2), vv), v, v, h, nil))
	hd, a := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n)
	check(halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, h, d, zero, hd, nil))
	check(halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, hd, h, zero, a, nil))
	return a.Convert(halfulp.MP(424))
}

// solve solves A x = (1, ..., 1) with vectors and scalars in format f, until the residual of the
// recurrence is 10^-10 of b. It returns the iterations and the true ‖b - A x‖ / ‖b‖.
func solve(a *halfulp.Matrix, f halfulp.Format) (steps int, residual float64) {
	one, zero := halfulp.Float(1), halfulp.Float(0)
	x, q, r, p, b := halfulp.NewVector(f, n), halfulp.NewVector(f, n), halfulp.NewVector(f, n), halfulp.NewVector(f, n), halfulp.NewVector(f, n)
	for i := range n {
		b.SetFloat64(i, 1)
		r.SetFloat64(i, 1)
		p.SetFloat64(i, 1)
	}
	rr := must(halfulp.Dot(r, r, f, nil))
	for rr.Float64() > 1e-20*n && steps < 100*n {
		check(halfulp.Gemv(halfulp.NoTrans, one, a, p, zero, q, nil)) // q = A p
		alpha := f.Quo(rr, must(halfulp.Dot(p, q, f, nil)))
		check(halfulp.Axpy(alpha, p, x, nil))
		check(halfulp.Axpy(alpha.Neg(), q, r, nil))
		last := rr
		rr = must(halfulp.Dot(r, r, f, nil))
		check(halfulp.Scal(f.Quo(rr, last), p, nil)) // p = r + β p
		check(halfulp.Axpy(one, r, p, nil))
		steps++
	}
	check(halfulp.Gemv(halfulp.NoTrans, halfulp.Float(-1), a, x, one, b, nil)) // b - A x
	return steps, must(halfulp.Nrm2(b, halfulp.Float64, nil)).Float64() / math.Sqrt(n)
}

func must(s halfulp.Scalar, err error) halfulp.Scalar {
	if err != nil {
		log.Fatal(err)
	}
	return s
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
