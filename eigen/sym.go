package eigen

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// SymOptions select which eigenvalues of a symmetric matrix are computed.
type SymOptions struct {
	halfulp.Options
	// ValuesOnly leaves out the eigenvectors, which takes less time.
	ValuesOnly bool
	// Index selects the eigenvalues at the positions Index[0] to Index[1], both included, counted
	// in ascending order from 0; nil selects all.
	Index *[2]int
	// Above and UpTo select the eigenvalues λ with Above < λ ≤ UpTo. Both may have any format; nil
	// is no restriction.
	Above, UpTo *halfulp.Scalar
}

// SymResult has eigenvalues and eigenvectors of a symmetric matrix.
type SymResult struct {
	// First is the position of the first eigenvalue of Values among all eigenvalues.
	First int
	// Values are the eigenvalues in ascending order, each as often as its multiplicity.
	Values *halfulp.Vector
	// Vectors has the eigenvector of Values[j] as column j; nil if only values were requested.
	Vectors *halfulp.Matrix
	// Clusters are runs of eigenvalues, first and last position in Values, that are not separated:
	// neighbours are equal, or differ by less than 2^-(4p + 64) for a matrix that is scaled by a
	// power of two such that its largest entry lies between 1/2 and 1, with p the bits of the
	// format. The vectors of a cluster are an orthonormal basis of the subspace of their
	// eigenvectors. Clusters is empty if only values were requested.
	Clusters [][2]int
}

// Sym returns the eigenvalues and eigenvectors of a symmetric n x n matrix A, A x = λ x. Every
// eigenvalue is the exact one rounded once to format f, ties to even, whatever the condition of A;
// zeros are +0. The eigenvectors have norm 1. Values and Vectors live where A does.
//
//	z, err := eigen.Sym(a, halfulp.Float64, nil)
//
// Vectors are unique: in each, the first entry whose magnitude exceeds π/4 of the largest is
// positive. The entries of the vector of a separated eigenvalue are correctly rounded, but for two
// exceptions that Stats.Proof.Undecided counts. With p the bits of the format, an entry below
// 2^-(4p + 64) becomes 0. An entry that an enclosure with an error of 2^-(5p + 96) does not decide,
// almost certainly because it is halfway between two numbers of the format, is rounded as if it
// were. The vectors of a cluster (see SymResult) are the columns of the Cholesky factor of the
// projector on their subspace, whose pivots are chosen by the same rule as signs, and are rounded
// in the same way. If A is block diagonal after a permutation, the vectors of each block are
// computed by themselves and are 0 elsewhere; in a cluster the block with the smaller first index
// comes first.
//
// The error wraps linsolve.ErrNotSymmetric, or linsolve.ErrNotFinite for infinities and NaN. It
// wraps linsolve.ErrRange for exponents beyond 2^29. It wraps halfulp.ErrMemory, and names the
// bytes, if the matrices of the last step need more than Options.MemoryLimit; this is found before
// the work begins, or before a step that has to take more bits than expected. It also wraps
// halfulp.ErrMemory if an eigenvalue is so close to the midpoint of two numbers that no format has
// enough bits to decide. Sym panics if A is not square, or for positions in Index that do not
// exist.
//
// Method. Float64 eigenvectors X are improved by matrix products (Ogita and Aishima, Iterative
// refinement for symmetric eigenvalue decomposition, 2018 and 2019), which double their bits in
// each step. S = Xᵀ A X and R = I - Xᵀ X are products with a known error. A and S - m (I - R) have
// the same inertia for every shift m (Sylvester), and a bound of the Schur complement of the other
// columns encloses each eigenvalue with an error of second order. So vectors of half the bits
// suffice for the values: correctly rounded eigenvalues in float64 take one float64 decomposition
// and three products. Eigenvalues that are not separated are separated by a decomposition of their
// own columns, in more bits. A number m halfway between two numbers of the format, or 0, is proved
// to be an eigenvalue by the exact rank of A - m I.
func Sym(a *halfulp.Matrix, f halfulp.Format, opt *SymOptions) (*SymResult, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	var o SymOptions
	if opt != nil {
		o = *opt
	}
	want := wanted(&o, a.Rows())
	s, on, err := start("Sym", o.Options, a.View())
	if err != nil {
		return nil, err
	}
	z, err := func() (sym.Result, error) {
		if err := call.FiniteOn(s.Threads, "A", on[0]); err != nil {
			return sym.Result{}, err
		}
		if err := sym.Symmetric(s, "A", on[0]); err != nil {
			return sym.Result{}, err
		}
		return sym.ByBlocks(s, on[0], num.Mat{}, f.View(), want, func(a, _ num.Mat, f num.Format, want sym.Wanted) (sym.Result, error) {
			return sym.Sym(s, a, f, want)
		})
	}()
	if err := ended("Sym", o.Options, s, err); err != nil {
		return nil, err
	}
	return symResult(z, a.View())
}

const errShape = "eigen: shapes do not fit"

// wanted converts the selection of options for n eigenvalues.
func wanted(o *SymOptions, n int) sym.Wanted {
	w := sym.Wanted{Vectors: !o.ValuesOnly, Last: n - 1}
	if o.Index != nil {
		w.First, w.Last = o.Index[0], o.Index[1]
		if w.First < 0 || w.First > w.Last || w.Last >= n {
			panic("eigen: bad Index")
		}
	}
	if o.Above != nil {
		w.Above = o.Above.Big()
	}
	if o.UpTo != nil {
		w.UpTo = o.UpTo.Big()
	}
	return w
}

// symResult returns a result where the operand a lives.
func symResult(z sym.Result, a num.Mat) (*SymResult, error) {
	r := &SymResult{First: z.First, Clusters: z.Clusters}
	values, err := moved(z.Values, a)
	if err != nil {
		return nil, err
	}
	r.Values = values.Col(0)
	if z.Vectors.Arr != nil {
		r.Vectors, err = moved(z.Vectors, a)
	}
	return r, err
}
