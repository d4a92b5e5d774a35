package function

import (
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// EnclosedMatrix is a square matrix whose entry (i, j) lies within radius[i + j n] 2^exp of
// mid_ij 2^exp. The largest midpoint or radius lies in [1/2, 1) unless all are 0, so that no
// product leaves the exponents of formats, however far exp is from 0.
type EnclosedMatrix struct {
	n       int
	mid     num.Mat
	radius  []radius
	Exp     *big.Int
	flushed bool // numbers below 2^-farthest were turned into radii, here or in a factor
}

// farthest bounds the distance in bits from the largest number of a matrix down to the others.
const farthest = 1 << 29

// radius is a bound m 2^e of a magnitude, 1/2 ≤ m < 1, or m = 0 for the bound 0.
type radius struct {
	m float64
	e int64
}

// newRadius returns m 2^e for a finite m ≥ 0.
func newRadius(m float64, e int64) radius {
	if m == 0 {
		return radius{}
	}
	m, k := math.Frexp(m)
	return radius{m, e + int64(k)}
}

// add returns a bound of the sum of x and y.
func (x radius) add(y radius) radius {
	switch {
	case x.m == 0:
		return y
	case y.m == 0:
		return x
	case x.e < y.e:
		x, y = y, x
	}
	return newRadius(float64((x.m+float64(scale.Ldexp(y.m, max(y.e-x.e, -60))))*(1+0x1p-50)), x.e)
}

// EncloseMatrix returns an enclosure of a matrix of finite numbers. Entries with more than bits
// bits are rounded.
func EncloseMatrix(s *call.Run, a num.Mat, bits int) (*EnclosedMatrix, error) {
	n, m := a.Rows, a
	x := &EnclosedMatrix{n: n, radius: make([]radius, n*n), Exp: new(big.Int)}
	prec := int64(num.MinPrec)
	for i := range n {
		for j := range n {
			if c, top, low := m.Arr.Span(m.At(i, j)); c == num.Finite {
				prec = max(prec, top-low)
			}
		}
	}
	x.mid = a.Convert(num.Precision(uint(min(prec, int64(bits)))))
	if prec > int64(bits) {
		mid := x.mid
		for j := range n {
			for i := range n {
				c, top, low := m.Arr.Span(m.At(i, j))
				if c != num.Finite || top-low <= int64(bits) {
					continue
				}
				at := mid.At(i, j)
				if mid.Arr.Cls[at].Class() != num.Finite {
					return nil, fmt.Errorf("exponents outside the range of formats: %w", call.ErrRange)
				}
				x.radius[i+j*n] = radius{0.5, int64(mid.Arr.Exp[at]) - int64(bits)}
			}
		}
	}
	x.normalize()
	return x, s.Ctx.Err()
}

// normalize scales the matrix so that the largest midpoint or radius lies in [1/2, 1), and adjusts
// Exp.
func (x *EnclosedMatrix) normalize() {
	m := x.mid
	top := int64(scale.None)
	for j := range x.n {
		for i := range x.n {
			if at := m.At(i, j); m.Arr.Cls[at].Class() == num.Finite {
				top = max(top, int64(m.Arr.Exp[at]))
			}
			if r := x.radius[i+j*x.n]; r.m > 0 {
				top = max(top, r.e)
			}
		}
	}
	if top == scale.None {
		return
	}
	x.Exp.Add(x.Exp, big.NewInt(top))
	for j := range x.n {
		for i := range x.n {
			at, r := m.At(i, j), &x.radius[i+j*x.n]
			if r.m > 0 {
				if r.e -= top; r.e < -2*farthest {
					*r = radius{0.5, -2 * farthest}
				}
			}
			if m.Arr.Cls[at].Class() != num.Finite {
				continue
			}
			e := int64(m.Arr.Exp[at]) - top
			if e < -farthest {
				x.flushed = true
				*r = r.add(newRadius(1, e))
				x.mid.SetEntry(i, j, num.Float(0))
				continue
			}
			m.Arr.Exp[at] = int32(e)
		}
	}
}

// isZero reports whether an entry is proved to be 0.
func (x *EnclosedMatrix) isZero(i, j int) bool {
	m := x.mid
	return x.radius[i+j*x.n].m == 0 && m.Arr.Cls[m.At(i, j)].Class() == num.Zero
}

// vanishes reports whether all entries are proved to be 0.
func (x *EnclosedMatrix) vanishes() bool {
	for j := range x.n {
		for i := range x.n {
			if !x.isZero(i, j) {
				return false
			}
		}
	}
	return true
}

// Ends returns bounds of an entry times 2^-Exp.
func (x *EnclosedMatrix) Ends(i, j int) (lo, hi *big.Float) {
	mid, r := x.mid.Big(i, j), x.radius[i+j*x.n]
	if r.m == 0 {
		return mid, new(big.Float).Copy(mid)
	}
	by := new(big.Float).SetMantExp(big.NewFloat(r.m), int(r.e))
	p := interval.Prec(mid.Prec() + 64)
	return p.Difference(p.Down(), mid, by, -1), p.Difference(p.Up(), mid, new(big.Float).Neg(by), 1)
}

// ScaledBy returns x 2^e, which is 0 or infinite beyond the exponents of big.Float.
func ScaledBy(x *big.Float, e *big.Int) *big.Float {
	const most = 1 << 33 // takes any exponent beyond the last one
	left := int64(most)
	if e.IsInt64() {
		left = max(-most, min(e.Int64(), most))
	} else if e.Sign() < 0 {
		left = -most
	}
	z := new(big.Float).Copy(x)
	for left != 0 {
		step := max(-1<<30, min(left, 1<<30))
		z.SetMantExp(z, int(step))
		left -= step
	}
	return z
}

// EnclosedProduct returns an enclosure of P Q with midpoints rounded to bits:
//
//	|P' Q' - fl(P Q)| ≤ |P| rad Q + rad P (|Q| + rad Q) + 2^-bits |fl(P Q)|
//
// for all P' and Q' in the enclosures, entry by entry. The last term is omitted if P Q is proved to
// have at most bits bits.
func EnclosedProduct(s *call.Run, p, q *EnclosedMatrix, bits int) (*EnclosedMatrix, error) {
	n := p.n
	z := &EnclosedMatrix{
		n: n, mid: num.NewMat(num.Precision(uint(bits)), n, n), radius: make([]radius, n*n),
		Exp: new(big.Int).Add(p.Exp, q.Exp), flushed: p.flushed || q.flushed,
	}
	if err := s.Gemm(1, p.mid, q.mid, 0, num.Mat{}, z.mid); err != nil {
		return nil, err
	}
	at := func(i, j int) int { return i + j*n }
	transposed := func(x []radius) []radius {
		t := make([]radius, n*n)
		for j := range n {
			for i := range n {
				t[j+i*n] = x[at(i, j)]
			}
		}
		return t
	}
	if sizes := q.sizes(); !allZero(q.radius) || !allZero(p.radius) {
		if err := addProducts(s, n, transposed(p.sizes()), q.radius, z.radius); err != nil {
			return nil, err
		}
		for i, r := range q.radius {
			sizes[i] = sizes[i].add(r)
		}
		if err := addProducts(s, n, transposed(p.radius), sizes, z.radius); err != nil {
			return nil, err
		}
	}
	rows, cols := lowsOf(p.mid), lowsOf(q.mid.T())
	m := z.mid
	err := par.For(s.Ctx, s.Threads, n, func(_, j int) {
		for i := range n {
			k := m.At(i, j)
			if m.Arr.Cls[k].Class() != num.Finite {
				continue
			}
			top, r := int64(m.Arr.Exp[k]), &z.radius[at(i, j)]
			if r.m == 0 && fits(rows[i], cols[j], top, bits) {
				continue
			}
			*r = r.add(radius{0.5, top - int64(bits)})
		}
	})
	z.normalize()
	return z, err
}

// allZero reports whether all radii are 0.
func allZero(x []radius) bool {
	for _, r := range x {
		if r.m != 0 {
			return false
		}
	}
	return true
}

// sizes returns bounds of the magnitudes of the midpoints, stored by columns.
func (x *EnclosedMatrix) sizes() []radius {
	z, m := make([]radius, x.n*x.n), x.mid
	for j := range x.n {
		for i := range x.n {
			// Leading has a relative error of at most 2^-48.
			v, e := m.Arr.Leading(m.At(i, j))
			z[i+j*x.n] = newRadius(float64(math.Abs(v)*(1+0x1p-46)), e)
		}
	}
	return z
}

// lows holds exponents low[j] such that number j of a row is a multiple of 2^low[j], and the least
// of them.
type lows struct {
	least int64
	low   []int64 // none for 0
}

// lowsOf returns the lows of the rows of m.
func lowsOf(m num.Mat) []lows {
	z := make([]lows, m.Rows)
	for i := range z {
		z[i] = lows{math.MaxInt64, make([]int64, m.Cols)}
		for j := range m.Cols {
			c, _, low := m.Arr.Span(m.At(i, j))
			if c != num.Finite {
				z[i].low[j] = scale.None
				continue
			}
			z[i].low[j], z[i].least = low, min(z[i].least, low)
		}
	}
	return z
}

// fits reports whether the product of a row and a column is proved to have at most bits bits. The
// product rounded to bits is below 2^top. The product is a multiple of 2^low, for the least low of
// its terms. If it had more bits, it would be at least 2^(low + bits) in magnitude, and so would
// the rounded product.
func fits(row, col lows, top int64, bits int) bool {
	if top-row.least-col.least <= int64(bits) {
		return true
	}
	for k, x := range row.low {
		if y := col.low[k]; x != scale.None && y != scale.None && top-x-y > int64(bits) {
			return false
		}
	}
	return true
}

// addProducts adds bounds of X Y to z. z and Y are stored by columns, X by rows.
func addProducts(s *call.Run, n int, x, y, z []radius) error {
	rows, cols := alignedSizes(n, x), alignedSizes(n, y)
	up := 1 + float64(float64(n+8)*0x1p-51)
	return par.For(s.Ctx, s.Threads, n, func(_, j int) {
		col := cols[j]
		if col.top == scale.None {
			return
		}
		for i, row := range rows {
			if row.top == scale.None {
				continue
			}
			if !row.far && !col.far {
				z[i+j*n] = z[i+j*n].add(newRadius(float64(seed.Dot(row.x, col.x)*up), row.top+col.top))
				continue
			}
			top, sum := int64(scale.None), 0.0
			u, v := x[i*n:(i+1)*n], y[j*n:(j+1)*n]
			for k, a := range u {
				if b := v[k]; a.m != 0 && b.m != 0 {
					top = max(top, a.e+b.e)
				}
			}
			for k, a := range u {
				if b := v[k]; a.m != 0 && b.m != 0 {
					sum += float64(scale.Ldexp(float64(a.m*b.m), max(a.e+b.e-top, -100)))
				}
			}
			z[i+j*n] = z[i+j*n].add(newRadius(float64(sum*up), top))
		}
	})
}

// aligned are bounds x 2^top of a row or column; top is none for zeros.
type aligned struct {
	x   []float64
	top int64
	far bool // some bounds are below 2^(top - 400), and x has 0 for them
}

// alignedSizes returns n rows of n bounds, each with a common exponent.
func alignedSizes(n int, x []radius) []aligned {
	z, all := make([]aligned, n), make([]float64, n*n)
	for i := range z {
		z[i] = aligned{all[i*n : (i+1)*n], scale.None, false}
		row := x[i*n : (i+1)*n]
		for _, v := range row {
			if v.m != 0 {
				z[i].top = max(z[i].top, v.e)
			}
		}
		for k, v := range row {
			if v.m == 0 {
				continue
			}
			if v.e-z[i].top < -400 {
				z[i].far = true
				continue
			}
			z[i].x[k] = scale.Ldexp(v.m, v.e-z[i].top)
		}
	}
	return z
}
