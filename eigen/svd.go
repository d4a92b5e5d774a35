package eigen

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// SVDOptions select which singular values and vectors are computed.
type SVDOptions struct {
	halfulp.Options
	// ValuesOnly leaves out the singular vectors, which takes less time.
	ValuesOnly bool
	// Full completes U to m x m for m > n, or V to n x n for m < n, by vectors that are orthogonal
	// to the others.
	Full bool
	// Largest selects the k largest singular values; 0 selects all. Full requires all.
	Largest int
}

// SVDResult is a singular value decomposition A = U diag(S) Vᵀ, or its part for the largest values.
type SVDResult struct {
	S *halfulp.Vector // k singular values in descending order
	U *halfulp.Matrix // m x k, or m x m: left singular vectors as columns
	V *halfulp.Matrix // n x k, or n x n: right singular vectors as columns, not transposed
	// Clusters are runs of singular values that are not separated, first and last position in S:
	// see SymResult.
	Clusters [][2]int
}

// SVD returns the singular value decomposition of an m x n matrix A: A = U diag(S) Vᵀ with U and V
// whose columns are orthonormal, k = min(m, n). Every singular value is the exact one rounded once
// to format f, ties to even, whatever the condition of A; zeros are +0. S, U and V live where A
// does.
//
//	z, err := eigen.SVD(a, halfulp.Float64, nil)
//
// Vectors are unique: for m ≥ n, in each column of V the first entry whose magnitude exceeds π/4 of
// the largest is positive; for m < n this holds for U. Clusters and undecided entries are treated
// as in [Sym], with bases of V (U for m < n). The vectors of the other side to the singular value
// 0, and the vectors that complete it with Full, are the columns of the Cholesky factor, with
// pivots by the same rule, of the projector on the space that is orthogonal to the other columns.
// They come after the other columns.
//
// Errors are as for [Sym], but A need not be symmetric. SVD panics for a negative Largest, for one
// above min(m, n), or for one below with Full.
//
// Method. The singular values are the roots of the eigenvalues of AᵀA, enclosed as in Sym with S =
// (A X)ᵀ (A X), whose entries have small errors relative to the norms of the columns of A X, so
// that squares cost bits but no accuracy. A tie m is proved by the exact rank of AᵀA - m² I.
func SVD(a *halfulp.Matrix, f halfulp.Format, opt *SVDOptions) (*SVDResult, error) {
	var o SVDOptions
	if opt != nil {
		o = *opt
	}
	k := min(a.Rows(), a.Cols())
	if o.Largest < 0 || o.Largest > k || o.Full && o.Largest != 0 && o.Largest != k {
		panic("eigen: bad Largest")
	}
	want := sym.Wanted{Vectors: !o.ValuesOnly, Last: k - 1}
	if o.Largest > 0 {
		want.First = k - o.Largest
	}
	s, on, err := start("SVD", o.Options, a.View())
	if err != nil {
		return nil, err
	}
	c, swapped := on[0], a.Rows() < a.Cols()
	if swapped {
		c = c.T()
	}
	z, err := sym.SVDResult{}, call.Finite("A", on[0])
	if err == nil {
		z, err = sym.SVD(s, c, f.View(), want, o.Full)
	}
	if err := ended("SVD", o.Options, s, err); err != nil {
		return nil, err
	}
	r := &SVDResult{}
	count := z.Values.Rows
	values, err := moved(descending(z.Values.T()).T(), a.View())
	if err != nil {
		return nil, err
	}
	r.S = values.Col(0)
	for i := len(z.Clusters) - 1; i >= 0; i-- {
		c := z.Clusters[i]
		r.Clusters = append(r.Clusters, [2]int{count - 1 - c[1], count - 1 - c[0]})
	}
	if o.ValuesOnly {
		return r, nil
	}
	if r.U, err = moved(descending(z.Left, z.More), a.View()); err != nil {
		return nil, err
	}
	if r.V, err = moved(descending(z.Vectors), a.View()); err != nil {
		return nil, err
	}
	if swapped {
		r.U, r.V = r.V, r.U
	}
	return r, nil
}

// descending returns the columns of a matrix in reverse order, and then the columns of others.
func descending(m num.Mat, others ...num.Mat) num.Mat {
	columns := m.Cols
	for _, o := range others {
		columns += o.Cols
	}
	z := num.NewMat(m.Format(), m.Rows, columns)
	for j := range m.Cols {
		z.Slice(0, m.Rows, j, j+1).CopyFrom(m.Slice(0, m.Rows, m.Cols-1-j, m.Cols-j))
	}
	at := m.Cols
	for _, o := range others {
		z.Slice(0, m.Rows, at, at+o.Cols).CopyFrom(o)
		at += o.Cols
	}
	return z
}

// Norm2 returns the 2-norm of a matrix A, its largest singular value, correctly rounded to format
// f; 0 for an empty matrix. Method and errors are as for [SVD].
func Norm2(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (halfulp.Scalar, error) {
	o := SVDOptions{ValuesOnly: true, Largest: min(1, a.Rows(), a.Cols())}
	if opt != nil {
		o.Options = *opt
	}
	z, err := SVD(a, f, &o)
	if err != nil || z.S.Len() == 0 {
		return halfulp.NewVector(f, 1).At(0), err
	}
	s, err := z.S.Host()
	if err != nil {
		return halfulp.Scalar{}, err
	}
	return s.At(0), nil
}
