package factors

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// may fuse throughout: estimates of memory, none of them a result.

// reserve counts the memory of factors of the m x n matrix c by Newton's method, or returns an
// error if it exceeds the limit. The leading k columns of c are eliminated. It counts the scaled c,
// two matrices as large as all factors in some more bits than the results, another matrix of order
// k, two float64 inverses, and the list of wanted entries. The counts were measured for random
// matrices of order 600. Residues use the memory that is left.
func reserve(s *call.Run, c num.Mat, k, bits, wanted int) error {
	return s.Budget.Reserve(newtonBytes(c.Rows, c.Cols, k, c.Format().Bits(), bits, wanted))
}

// newtonBytes returns the bytes that reserve counts, for an m x n matrix of numbers of given bits.
func newtonBytes(m, n, k, given, bits, wanted int) float64 {
	wide := call.MP(bits + 64)
	bytes := call.MatrixBytes(call.MP(given), m, n) + 2*call.MatrixBytes(wide, m, n) + call.MatrixBytes(wide, k, k)
	bytes += 2*call.MatrixBytes(call.MP(scale.SeedBits), k, k) + int64(unsafe.Sizeof(ziv.Wanted{}))*int64(wanted)
	return float64(bytes)
}

// stackedBytes returns the bytes of the matrix A^T A above A, and with pivoting of a separate A^T
// A.
// given is squareBits of a.
func stackedBytes(a num.Mat, given int, pivoting bool) float64 {
	m, n := a.Dims()
	f := call.MP(given)
	if pivoting {
		m += n
	}
	return float64(call.MatrixBytes(f, m+n, n))
}

// reserveQR counts the bytes of A^T A, with pivoting of A^T A above A, or returns an error if they
// and the factors exceed the limit. Digits read A itself.
func reserveQR(s *call.Run, a num.Mat, f num.Format, pivoting bool) error {
	m, n := a.Dims()
	given := squareBits(s, a)
	bytes := stackedBytes(a, given, pivoting)
	least := bytes + newtonBytes(m+n, n, n, given, f.Bits(), n*(n+1)/2+m*n)
	if !pivoting {
		bytes = float64(call.MatrixBytes(call.MP(given), n, n))
		if !s.Set.Check {
			least = min(least, bytes+digits.LeastRootBytes(m+n, n, f.Bits()))
		}
	}
	if err := s.Budget.Reserve(least); err != nil {
		return err
	}
	return s.Budget.Reserve(bytes)
}
