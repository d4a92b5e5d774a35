package dgemm

import (
	"context"

	"github.com/halfulp/halfulp/internal/par"
)

// Stack is matrices of the same shape, one above the other, of integers up to 2^24 in magnitude.
// They are packed once for products with few columns, in single precision where a kernel takes it.
type Stack struct {
	k          *kernel
	rows, cols int       // of a matrix
	each       int       // rows of a matrix and the zeros behind them
	ld         int       // rows of all
	single     []float32 // the packed matrices, or nil
	a, b, c    []float64 // the packed matrices, or nil; B, packed; the products
}

// NewStack returns the stack of m x n matrices with leading dimension lda, for products with about
// k columns.
func NewStack(m, n int, a [][]float64, lda, k int) *Stack {
	z := &Stack{k: best(), rows: m, cols: n}
	if narrow := z.k.narrow; narrow != nil && k <= narrow.nr {
		z.k = narrow
	}
	mr := z.k.mr
	z.each = (m + mr - 1) / mr * mr
	z.ld = len(a) * z.each
	if z.k.microSingle == nil {
		z.a = make([]float64, z.ld*n)
	} else {
		z.single = make([]float32, z.ld*n)
	}
	part := make([]float64, z.each*min(n, length))
	for h := 0; h < n; h += length {
		end := min(n, h+length)
		for k, a := range a {
			packRows(part, mr, matrix{m, n, lda, a}.view(0, m, h, end))
			at := h*z.ld + k*z.each*(end-h)
			if z.single == nil {
				copy(z.a[at:], part[:z.each*(end-h)])
				continue
			}
			for i, x := range part[:z.each*(end-h)] {
				z.single[at+i] = float32(x)
			}
		}
	}
	return z
}

// Negate multiplies the matrices by the negative of the n x k matrix B with leading dimension ldb.
// Column returns the products. Sums are exact if the products and all partial sums are integers
// below 2^53.
func (z *Stack) Negate(ctx context.Context, threads, k int, b []float64, ldb int) error {
	mr, nr := z.k.mr, z.k.nr
	wide := (k + nr - 1) / nr * nr
	z.b, z.c = room(z.b, wide*z.cols), room(z.c, z.ld*wide)
	clear(z.c)
	right := matrix{z.cols, k, ldb, b}
	for h := 0; h < z.cols; h += length {
		end := min(z.cols, h+length)
		for j := 0; j < k; j += nr {
			packCols(z.b[h*wide+j*(end-h):], nr, right.view(h, end, j, min(k, j+nr)))
		}
	}
	if float64(z.ld)*float64(z.cols)*float64(k) < 1<<17 { // not worth a goroutine
		threads = 1
	}
	const some = 12 // panels a call
	panels := z.ld / mr
	return par.For(ctx, threads, (panels+some-1)/some, func(_, part int) {
		for i := part * some; i < min(panels, (part+1)*some); i++ {
			for h := 0; h < z.cols; h += length {
				w := min(length, z.cols-h)
				at := h*z.ld + i*mr*w
				for j := 0; j < wide; j += nr {
					if z.single == nil {
						z.k.micro(z.c[i*mr+j*z.ld:], z.ld, z.a[at:], z.b[h*wide+j*w:], w)
					} else {
						z.k.microSingle(z.c[i*mr+j*z.ld:], z.ld, z.single[at:], z.b[h*wide+j*w:], w)
					}
				}
			}
		}
	})
}

// Column returns column j of the last product of matrix number k.
func (z *Stack) Column(k, j int) []float64 { return z.c[k*z.each+j*z.ld:][:z.rows] }
