package expgpu

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// A Factor is alpha or beta: the words of a number in the format of the operands.
type Factor [4]float64

// One and Zero are the factors for which no product is computed.
var (
	One  = Factor{1}
	Zero = Factor{}
)

// productArgs is struct product of kernels/expansion/expansionblas.cu.
type productArgs struct {
	a, b, c               entries
	alpha, beta           Factor
	m, n, k               int32
	plainAlpha, plainBeta int32
	skipRow, skipRows     int32
	skipCol, skipCols     int32
	vertical              int32
}

func newProduct(alpha Factor, a, b mem.Matrix, beta Factor, c mem.Matrix) productArgs {
	p := productArgs{
		a: entriesOf(a), b: entriesOf(b), c: entriesOf(c), alpha: alpha, beta: beta,
		m: int32(c.Rows), n: int32(c.Cols), k: int32(a.Cols), skipCol: int32(c.Cols),
	}
	p.plainAlpha = flag(alpha == One)
	if alpha == Zero { // A and B are not read
		p.k = 0
	}
	switch beta {
	case One:
		p.plainBeta = 1
	case Zero:
		p.plainBeta = 2
	}
	return p
}

// tiles are the sides of the tiles of expansionGemm, indexed by the words of a number.
var tiles = [...]int{2: 64, 3: 32, 4: 32}

// Gemm computes C = alpha A B + beta C. C must not overlap A or B. Each entry is a sum of products
// in the order of the inner index; expansion.Gemm states the error bound.
func Gemm(s *cuda.Stream, alpha Factor, a, b mem.Matrix, beta Factor, c mem.Matrix) error {
	c.Changed()
	return newProduct(alpha, a, b, beta, c).launch(s, c)
}

func (p productArgs) launch(s *cuda.Stream, c mem.Matrix) error {
	if p.m == 0 || p.n == 0 {
		return nil
	}
	f, err := launch.KernelsOf(s).Function(s, "expansion/expansionblas", "expansionGemm"+suffix(c))
	if err != nil {
		return err
	}
	p.vertical = flag(size(c.RS) <= size(c.CS))
	tile := tiles[c.Arr.Terms()]
	g := cuda.Dim{X: (int(p.m)-1)/tile + 1, Y: min((int(p.n)-1)/tile+1, maxGridY)}
	return f.Launch(s, g, cuda.Dim{X: 256}, 0, p)
}

// gemvRows is the number of entries of A x that a block of expansionGemv computes.
const gemvRows = 8

// Gemv computes y = alpha A x + beta y. y must not overlap A or x. Each entry of A x is the sum of
// 32 partial sums. Partial sum q adds the products with j = q modulo 32 in order of j. The partial
// sums are added by halves: q and q + 16, then q and q + 8, and so on.
func Gemv(s *cuda.Stream, alpha Factor, a mem.Matrix, x mem.Vector, beta Factor, y mem.Vector) error {
	c := column(y)
	c.Changed()
	if c.Rows == 0 {
		return nil
	}
	f, err := launch.KernelsOf(s).Function(s, "expansion/expansionblas", "expansionGemv"+suffix(c))
	if err != nil {
		return err
	}
	p := newProduct(alpha, a, column(x), beta, c)
	p.vertical = flag(size(a.RS) <= size(a.CS))
	return f.Launch(s, cuda.Dim{X: (c.Rows-1)/gemvRows + 1}, cuda.Dim{X: 256}, 0, p)
}

// The numbers of products of a sum of expansionDot, and of threads of a block.
const (
	dotChunk   = 4096
	dotThreads = 64
)

// Dot returns the words of the sums of 4096 consecutive products x_i y_i each: see expansion.Dot.
func Dot(s *cuda.Stream, x, y mem.Vector) ([][]float64, error) {
	words, n := x.Arr.Terms(), (x.N+dotChunk-1)/dotChunk
	sums := make([][]float64, words)
	for t := range sums {
		sums[t] = make([]float64, n)
	}
	if n == 0 {
		return sums, nil
	}
	m, err := s.Alloc(8 * int64(words) * int64(n))
	if err != nil {
		return sums, err
	}
	defer m.Free()
	z := entries{rs: 1}
	for t := range words {
		z.w[t] = m.At(8 * int64(t) * int64(n))
	}
	cx, cy := column(x), column(y)
	f, err := launch.KernelsOf(s).Function(s, "expansion/expansionblas", "expansionDot"+suffix(cx))
	if err != nil {
		return sums, err
	}
	if err := f.Launch(s, cuda.Dim{X: n}, cuda.Dim{X: dotThreads}, 0, entriesOf(cx), entriesOf(cy), z, int64(x.N)); err != nil {
		return sums, err
	}
	for t := range sums {
		if err := cuda.Download(s, sums[t], z.w[t]); err != nil {
			return sums, err
		}
	}
	return sums, nil
}
