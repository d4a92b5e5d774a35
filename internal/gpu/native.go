package gpu

import "github.com/halfulp/halfulp/cuda"

// The structures that kernels take, laid out as in kernels/*.cu and *.cuh.

type numbers struct {
	plane       [4]cuda.Pointer
	kind, limbs int32
}

type vectors struct {
	a           numbers
	off, rs, cs int64
	n, k        int32
}

type oldSample struct {
	old         numbers
	off, rs, cs int64
	ratio       float64
	exp         int64
}

type scanned struct{ exp, low, norm, flags, total cuda.Pointer }

type conversion struct {
	constants, moduli, planes cuda.Pointer
	stride                    int64
	plain, karatsuba          int32
	blocks, vectors           int32
	width, permute            int32
	first, _                  int32
}

type factorArgs struct {
	x    vectors
	exps cuda.Pointer
	c    conversion
}

type sides [2]factorArgs

type productArgs struct {
	left, right             cuda.Pointer
	leftStride, rightStride int64
	moduli, out, wide       cuda.Pointer
	stride, ld              int64
	plain, karatsuba        int32
	blocks, rows, cols      int32
}

type target struct {
	a           numbers
	off, rs, cs int64
	prec        int64
}

type leftovers struct {
	count, list cuda.Pointer
	capacity    int64
}

type vectorData struct{ exp, second, flags cuda.Pointer } // second: norms or least exponents

type finishing struct {
	c                     target
	failed                leftovers
	l, r                  vectorData
	errorL, errorR, error float64
	y, wide               cuda.Pointer
	stride, ld            int64
	unit                  int64
	weights, product, raw cuda.Pointer
	plain, karatsuba      int32
	words, m, n, i0, j0   int32
	neg, triangle         int32
	pitch, steps          int32
}

type scaling struct {
	words                     cuda.Pointer
	exp                       int64
	count, length, neg, plain int32
}

type expressionArgs struct {
	alpha, beta scaling
	old         numbers
	off, rs, cs int64
	adds, _     int32
}

type settling struct {
	c                         target
	failed                    leftovers
	counts                    cuda.Pointer
	l, r                      vectorData
	errorL, errorR, error     float64
	e                         expressionArgs
	raw                       cuda.Pointer
	unit                      int64
	words, below              int32
	m, n, i0, j0, triangle, _ int32
}

type exactPass struct {
	x, y     vectors
	l, r     vectorData
	c        target
	from, to leftovers
	counts   cuda.Pointer
	e        expressionArgs
	partial  cuda.Pointer
	arrived  cuda.Pointer
	room, _  int32
}

func (a *Array) native() numbers {
	n := numbers{kind: int32(a.Kind), limbs: int32(a.Limbs())}
	for i, m := range a.planes {
		if m != nil {
			n.plane[i] = m.Pointer()
		}
	}
	return n
}

// rows returns the rows of m as vectors.
func (m Matrix) rows() vectors {
	return vectors{m.Arr.native(), int64(m.Off), int64(m.RS), int64(m.CS), int32(m.Rows), int32(m.Cols)}
}

func (m Matrix) target() target {
	return target{m.Arr.native(), int64(m.Off), int64(m.RS), int64(m.CS), int64(m.Arr.Prec)}
}
