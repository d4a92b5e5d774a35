package halfulp

import (
	"fmt"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
)

// Mul returns the product A B, each entry RN(Σ_h a_ih b_hj), rounded once to format f. The result
// lives where A and B live. It panics if shapes do not fit. Mul is [Gemm] with α = 1, β = 0 and a
// new C: special values, devices, errors and methods are as for Gemm.
func Mul(a, b *Matrix, f Format, opt *Options) (*Matrix, error) {
	if a.Cols() != b.Rows() {
		panic(errShape)
	}
	return made("Mul", a, f, a.Rows(), b.Cols(), func(c *Matrix) error {
		return Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), c, opt)
	})
}

// Add returns A + B, each entry RN(a_ij + b_ij), rounded once to format f. The result lives where A
// and B live. It panics if shapes differ. The CPU computes it. See Rounding, Special values and
// Errors in the package documentation.
func Add(a, b *Matrix, f Format, opt *Options) (*Matrix, error) {
	return combined("Add", a, direct.One(false), b, f, opt)
}

// Sub returns A - B, each entry RN(a_ij - b_ij), rounded once to format f, like [Add].
func Sub(a, b *Matrix, f Format, opt *Options) (*Matrix, error) {
	return combined("Sub", a, direct.One(true), b, f, opt)
}

// combined returns A + s B, where s is 1 or -1.
func combined(name string, a *Matrix, s num.Real, b *Matrix, f Format, opt *Options) (*Matrix, error) {
	if a.Rows() != b.Rows() || a.Cols() != b.Cols() {
		panic(errShape)
	}
	if _, err := whereabouts(name, a.mat().Arr, b.mat().Arr); err != nil {
		return nil, err
	}
	return made(name, a, f, a.Rows(), a.Cols(), func(c *Matrix) error {
		done, err := throughHost(name, opt, []num.Mat{a.mat(), b.mat(), c.mat()}, 1, func(h []*Matrix, opt *Options) error {
			return combine(name, h[0], s, h[1], h[2], opt)
		})
		if done {
			return err
		}
		return combine(name, a, s, b, c, opt)
	})
}

// combine stores A + s B in C. All three live on the host, and the entries of C lie at equal
// distances.
func combine(name string, a *Matrix, s num.Real, b, c *Matrix, opt *Options) error {
	r, err := beginOnHost(name, opt)
	if err != nil {
		return err
	}
	z := c.mat().Arr
	if err := direct.Combine(r.work(), direct.One(false), a.Vec().vec(), s, b.Vec().vec(), z, r.count); err != nil {
		return r.end(err)
	}
	r.stage("sum")
	return r.end(nil)
}

// made returns a new matrix of format f that lives where like lives, after compute has stored its
// entries.
func made(name string, like *Matrix, f Format, rows, cols int, compute func(c *Matrix) error) (*Matrix, error) {
	c, err := NewMatrixOn(like.Device(), f, rows, cols)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := compute(c); err != nil {
		c.Free()
		return nil, err
	}
	return c, nil
}
