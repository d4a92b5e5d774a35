package main

import (
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/linsolve"
)

// Results that are no rational numbers, of matrices N/d of exact numbers: N has numbers of a
// format, and d is odd. A result is computed for N where it is the same, and otherwise enclosed and
// rounded, in more bits until both ends of the enclosure round to one number.

// referenceBits are how many bits more than the format the values and vectors have that results are
// compared with, so errors are known to about 2^-referenceBits ulps.
const referenceBits = 64

// mostEnclosures bounds the enclosures of a result. Each has twice the bits of the one before.
const mostEnclosures = 5

// enclosedMatrix has bounds of the entries of a matrix, column by column.
type enclosedMatrix struct {
	rows, cols int
	lo, hi     []*big.Float
}

// decided returns the matrix in the bounds that enclose computes with about as many bits as a
// format has. Each entry is rounded once. Stats.Undecided counts entries that remain undecided:
// they are 0, or halfway between two numbers, or nearly so.
func (j *job) decided(f halfulp.Format, enclose func(f halfulp.Format) (*enclosedMatrix, error)) (*halfulp.Matrix, error) {
	prec := f.Bits() + referenceBits
	for k := 1; ; k++ {
		b, err := enclose(halfulp.MP(uint(min(prec, halfulp.MaxPrec))))
		if err != nil {
			return nil, err
		}
		z, upper := halfulp.NewMatrixBig(f, b.rows, b.cols, b.lo), halfulp.NewMatrixBig(f, b.rows, b.cols, b.hi)
		open, overflows := 0, int64(0)
		for i := range b.rows {
			for c := range b.cols {
				if z.At(i, c).Same(upper.At(i, c)) {
					if z.At(i, c).IsInf(0) {
						overflows++
					}
					continue
				}
				open++
				middle := new(big.Float).Add(b.lo[i+c*b.rows], b.hi[i+c*b.rows])
				z.SetBig(i, c, middle.SetMantExp(middle, -1))
			}
		}
		if open == 0 || k == mostEnclosures || prec >= halfulp.MaxPrec {
			j.solver.Undecided += open
			j.solver.Overflow = overflows
			return z, nil
		}
		prec *= 2
	}
}

// interval is an interval of positive numbers.
type interval struct{ lo, hi *big.Float }

// directed returns a number of prec bits that rounds towards -∞, or towards ∞ if up is true.
func directed(prec uint, up bool) *big.Float {
	mode := big.ToNegativeInf
	if up {
		mode = big.ToPositiveInf
	}
	return new(big.Float).SetPrec(prec).SetMode(mode)
}

// inverse returns the interval of 1/x.
func (x interval) inverse() interval {
	p, one := x.lo.Prec(), big.NewFloat(1)
	return interval{directed(p, false).Quo(one, x.hi), directed(p, true).Quo(one, x.lo)}
}

// wholeInterval returns the interval of an integer.
func wholeInterval(d *big.Int, prec uint) interval {
	return interval{directed(prec, false).SetInt(d), directed(prec, true).SetInt(d)}
}

// rootInterval returns an interval with the root of an integer.
func rootInterval(d *big.Int, prec uint) interval {
	n := new(big.Int).Lsh(d, 2*prec)
	n.Sqrt(n)
	next := new(big.Int).Add(n, big.NewInt(1))
	lo, hi := directed(prec, false).SetInt(n), directed(prec, true).SetInt(next)
	return interval{lo.SetMantExp(lo, -int(prec)), hi.SetMantExp(hi, -int(prec))}
}

// times returns bounds of the product of x, which was rounded to p bits, and a number of the
// interval.
func (x interval) times(v halfulp.Scalar, p int) (lo, hi *big.Float) {
	a, b := around(v, p)
	down, up := directed(x.lo.Prec(), false), directed(x.lo.Prec(), true)
	if v.Sign() >= 0 {
		return down.Mul(a, x.lo), up.Mul(b, x.hi)
	}
	return down.Mul(a, x.hi), up.Mul(b, x.lo)
}

// around returns bounds of the number that was rounded to v, a number of p bits.
func around(v halfulp.Scalar, p int) (lo, hi *big.Float) {
	x := v.Big()
	prec := uint(p) + referenceBits
	e := new(big.Float).SetMantExp(new(big.Float).Abs(x), -p)
	return directed(prec, false).Sub(x, e), directed(prec, true).Add(x, e)
}

// rescaled returns the matrix that find computes times a factor, every entry rounded once to format
// f.
func (j *job) rescaled(f halfulp.Format, find func(f halfulp.Format) (*halfulp.Matrix, error), factor func(prec uint) interval) (*halfulp.Matrix, error) {
	return j.decided(f, func(f halfulp.Format) (*enclosedMatrix, error) {
		m, err := find(f)
		if err != nil {
			return nil, err
		}
		by := factor(uint(f.Bits()) + referenceBits)
		return enclosed(m, func(_, _ int, x halfulp.Scalar) (lo, hi *big.Float) { return by.times(x, f.Bits()) }), nil
	})
}

// enclosed returns the bounds that at returns for the entries of m.
func enclosed(m *halfulp.Matrix, at func(i, k int, x halfulp.Scalar) (lo, hi *big.Float)) *enclosedMatrix {
	z := &enclosedMatrix{rows: m.Rows(), cols: m.Cols()}
	for k := range z.cols {
		for i := range z.rows {
			lo, hi := at(i, k, m.At(i, k))
			z.lo, z.hi = append(z.lo, lo), append(z.hi, hi)
		}
	}
	return z
}

// over returns 1/d, d the denominator, as a factor for rescaled.
func (a scaled) over() func(prec uint) interval {
	return func(prec uint) interval { return wholeInterval(a.odd, prec).inverse() }
}

// overRoot returns 1/√d.
func (a scaled) overRoot() func(prec uint) interval {
	return func(prec uint) interval { return rootInterval(a.odd, prec).inverse() }
}

// root returns √d.
func (a scaled) root() func(prec uint) interval {
	return func(prec uint) interval { return rootInterval(a.odd, prec) }
}

// diagonal returns d times the unit matrix of order n.
func (a scaled) diagonal(n int) *halfulp.Matrix {
	d := new(big.Float).SetInt(a.odd)
	m := halfulp.NewMatrix(halfulp.MP(max(d.MinPrec(), halfulp.MinPrec)), n, n)
	for i := range n {
		m.SetBig(i, i, d)
	}
	return m
}

// symmetricScaled is scaledMatrix for a symmetric matrix, or one triangle of it.
func (j *job) symmetricScaled(file string, t triangle) (scaled, error) {
	if !j.in.exact() {
		a, err := j.symmetricMatrix(file, t)
		return scaled{Matrix: a}, err
	}
	a, err := j.exactSymmetric(file, t)
	if err != nil {
		return scaled{}, err
	}
	all, odd, err := j.overOdd([]string{file}, a)
	if err != nil {
		return scaled{}, err
	}
	return scaled{all[0], odd}, nil
}

// sym returns eigenvalues and eigenvectors. The eigenvectors of N and N/d are the same, and the
// eigenvalues of N/d are those of N x = λ d x.
func (j *job) sym(file string, a scaled, f halfulp.Format, opt eigen.SymOptions) (*eigen.SymResult, error) {
	run := func(routine func(opt *eigen.SymOptions) (*eigen.SymResult, error), opt eigen.SymOptions) (*eigen.SymResult, error) {
		return solved(j, file, func(how *halfulp.Options) (*eigen.SymResult, error) {
			opt.Options = *how
			return routine(&opt)
		})
	}
	find := func(opt *eigen.SymOptions) (*eigen.SymResult, error) { return eigen.Sym(a.Matrix, f, opt) }
	if a.odd == nil {
		return run(find, opt)
	}
	only := opt
	only.ValuesOnly = true
	values, err := run(func(opt *eigen.SymOptions) (*eigen.SymResult, error) {
		return eigen.SymGeneral(a.Matrix, a.diagonal(a.Rows()), f, opt)
	}, only)
	if err != nil || opt.ValuesOnly {
		return values, err
	}
	k := values.Values.Len()
	if k == 0 {
		values.Vectors = halfulp.NewMatrix(f, a.Rows(), 0)
		return values, nil
	}
	z, err := run(find, eigen.SymOptions{Index: &[2]int{values.First, values.First + k - 1}})
	if err != nil {
		return nil, err
	}
	z.Values = values.Values
	return z, nil
}

// general returns eigenvalues and eigenvectors of A x = λ B x for A = N/d and B = M/d, which has
// the eigenvalues of N x = λ M x, and its eigenvectors times √d.
func (j *job) general(file string, a, b scaled, f halfulp.Format, opt eigen.SymOptions) (*eigen.SymResult, error) {
	run := func(f halfulp.Format, opt eigen.SymOptions) (*eigen.SymResult, error) {
		return solved(j, file, func(how *halfulp.Options) (*eigen.SymResult, error) {
			opt.Options = *how
			return eigen.SymGeneral(a.Matrix, b.Matrix, f, &opt)
		})
	}
	if a.odd == nil || opt.ValuesOnly {
		return run(f, opt)
	}
	only := opt
	only.ValuesOnly = true
	values, err := run(f, only)
	if err != nil {
		return nil, err
	}
	k := values.Values.Len()
	if k == 0 {
		values.Vectors = halfulp.NewMatrix(f, a.Rows(), 0)
		return values, nil
	}
	values.Vectors, err = j.rescaled(f, func(f halfulp.Format) (*halfulp.Matrix, error) {
		z, err := run(f, eigen.SymOptions{Index: &[2]int{values.First, values.First + k - 1}})
		if err != nil {
			return nil, err
		}
		values.Clusters = z.Clusters
		return z.Vectors, nil
	}, a.root())
	return values, err
}

// svd returns the singular value decomposition. The singular vectors of N and N/d are the same.
func (j *job) svd(file string, a scaled, f halfulp.Format, opt eigen.SVDOptions) (*eigen.SVDResult, error) {
	run := func(f halfulp.Format, opt eigen.SVDOptions) (*eigen.SVDResult, error) {
		return solved(j, file, func(how *halfulp.Options) (*eigen.SVDResult, error) {
			opt.Options = *how
			return eigen.SVD(a.Matrix, f, &opt)
		})
	}
	z, err := run(f, opt)
	if err != nil || a.odd == nil || z.S.Len() == 0 {
		return z, err
	}
	ofVectors := *j.solver
	values, err := j.rescaled(f, func(f halfulp.Format) (*halfulp.Matrix, error) {
		z, err := run(f, eigen.SVDOptions{ValuesOnly: true, Largest: z.S.Len()})
		if err != nil {
			return nil, err
		}
		return z.S.Matrix(), nil
	}, a.over())
	if err != nil {
		return nil, err
	}
	if j.solver.Undecided > 0 {
		if values, err = j.singularValues(file, a, f, z.S.Len()); err != nil {
			return nil, err
		}
	}
	j.solver = &ofVectors
	z.S = values.Col(0)
	return z, nil
}

// singularValues returns the k largest singular values of N/d as a column, also if they are halfway
// between two numbers: the largest eigenvalues of K x = λ d x for the matrix K of 0, N, N' and 0.
func (j *job) singularValues(file string, a scaled, f halfulp.Format, k int) (*halfulp.Matrix, error) {
	m, n := a.Dims()
	both := halfulp.NewMatrix(a.NumberFormat(), m+n, m+n)
	for i := range m {
		for c := range n {
			both.Set(i, m+c, a.At(i, c))
			both.Set(m+c, i, a.At(i, c))
		}
	}
	z, err := solved(j, file, func(how *halfulp.Options) (*eigen.SymResult, error) {
		return eigen.SymGeneral(both, a.diagonal(m+n), f, &eigen.SymOptions{Options: *how, ValuesOnly: true, Index: &[2]int{m + n - k, m + n - 1}})
	})
	if err != nil {
		return nil, err
	}
	values := halfulp.NewMatrix(f, k, 1)
	for i := range k {
		values.Set(i, 0, z.Values.At(k-1-i))
	}
	return values, nil
}

// polar returns the factors U H. U is the same for N and N/d.
func (j *job) polar(file string, a scaled) (polarFactors, error) {
	run := func(f halfulp.Format) (polarFactors, error) {
		return solved(j, file, func(opt *halfulp.Options) (z polarFactors, err error) {
			z.u, z.h, err = eigen.Polar(a.Matrix, f, opt)
			return z, err
		})
	}
	z, err := run(j.format)
	if err != nil || a.odd == nil {
		return z, err
	}
	open := j.solver.Undecided
	z.h, err = j.rescaled(j.format, func(f halfulp.Format) (*halfulp.Matrix, error) {
		z, err := run(f)
		return z.h, err
	}, a.over())
	if err == nil {
		j.solver.Undecided += open
	}
	return z, err
}

// cholesky returns the factor of N/d, the factor of N over √d.
func (j *job) cholesky(file string, a scaled) (*halfulp.Matrix, error) {
	run := func(f halfulp.Format) (*halfulp.Matrix, error) {
		z, err := solved(j, file, func(opt *halfulp.Options) (*linsolve.CholeskyFactors, error) {
			return linsolve.Cholesky(a.Matrix, f, opt)
		})
		if err != nil {
			return nil, err
		}
		return z.L, nil
	}
	if a.odd == nil {
		return run(j.format)
	}
	l, err := j.rescaled(j.format, run, a.overRoot())
	if err == nil {
		j.warnOpen("entries")
	}
	return l, err
}

// qr returns the factors Q R. Q is the same for N and N/d.
func (j *job) qr(file string, a scaled, pivoted bool) (*linsolve.QRFactors, error) {
	factor := linsolve.QR
	if pivoted {
		factor = linsolve.QRPivoted
	}
	run := func(f halfulp.Format) (*linsolve.QRFactors, error) {
		return solved(j, file, func(opt *halfulp.Options) (*linsolve.QRFactors, error) { return factor(a.Matrix, f, opt) })
	}
	z, err := run(j.format)
	if err != nil || a.odd == nil {
		return z, err
	}
	z.R, err = j.rescaled(j.format, func(f halfulp.Format) (*halfulp.Matrix, error) {
		z, err := run(f)
		if err != nil {
			return nil, err
		}
		return z.R, nil
	}, a.over())
	if err == nil {
		j.warnOpen("entries")
	}
	return z, err
}

// symFunc returns a function of a symmetric matrix.
func (j *job) symFunc(file, name string, a scaled) (*halfulp.Matrix, error) {
	run := func(f halfulp.Format) (*halfulp.Matrix, error) {
		x, err := j.solution(file, func(opt *halfulp.Options) (*halfulp.Matrix, error) {
			return eigen.SymFunc(symFunctions[name], a.Matrix, f, opt)
		})
		if err != nil && a.odd != nil && j.env.Ctx.Err() == nil {
			err = fmt.Errorf("%w (this is about the matrix times its common denominator %d)", err, a.odd)
		}
		return x, err
	}
	if a.odd == nil {
		return run(j.format)
	}
	switch name {
	case "sqrt":
		return j.rescaled(j.format, run, a.overRoot())
	case "invsqrt":
		return j.rescaled(j.format, run, a.root())
	case "abs", "psd":
		return j.rescaled(j.format, run, a.over())
	case "exp":
		return j.exponential(file, a)
	case "log": // log(N) - log(d) I
		return j.decided(j.format, func(f halfulp.Format) (*enclosedMatrix, error) {
			d, err := logarithm(j, new(big.Float).SetInt(a.odd), f)
			if err != nil {
				return nil, err
			}
			x, err := run(f)
			if err != nil {
				return nil, err
			}
			from, to := around(d, f.Bits())
			return enclosed(x, func(i, k int, x halfulp.Scalar) (lo, hi *big.Float) {
				if lo, hi = around(x, f.Bits()); i != k {
					return lo, hi
				}
				prec := uint(f.Bits()) + referenceBits
				return directed(prec, false).Sub(lo, to), directed(prec, true).Sub(hi, from)
			}), nil
		})
	}
	return run(j.format) // sign(N/d) is sign(N)
}

// logarithm returns log x for a positive x, rounded once.
func logarithm(j *job, x *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
	one := halfulp.NewMatrixBig(halfulp.MP(max(x.MinPrec(), halfulp.MinPrec)), 1, 1, []*big.Float{x})
	z, _, err := linsolve.LogDet(one, f, &halfulp.Options{Context: j.env.Ctx})
	return z, err
}

// logOf returns log|d|, rounded once; -∞ for 0.
func (j *job) logOf(d *big.Rat) (halfulp.Scalar, error) {
	x := new(big.Rat).Abs(d)
	switch {
	case x.Sign() == 0:
		return halfulp.Float(math.Inf(-1)).Convert(j.format), nil
	case x.Cmp(big.NewRat(1, 1)) == 0:
		return halfulp.Float(0).Convert(j.format), nil
	}
	// |log x| is at least 2^-n, since |x - 1| is at least 1 over the denominator.
	n := x.Denom().BitLen() + 2
	z, err := j.decided(j.format, func(f halfulp.Format) (*enclosedMatrix, error) {
		prec := uint(f.Bits() + n)
		if prec > halfulp.MaxPrec {
			return nil, cli.Misuse("--log: the determinant needs %d bits: numbers of a format have at most %d; --format exact prints it", prec, halfulp.MaxPrec)
		}
		near := new(big.Float).SetPrec(prec).SetRat(x)
		log, err := logarithm(j, near, f)
		if err != nil {
			return nil, err
		}
		// Rounding x changes log x by at most 2^(1-prec).
		lo, hi := around(log, f.Bits())
		e := new(big.Float).SetMantExp(big.NewFloat(1), 1-int(prec))
		return &enclosedMatrix{rows: 1, cols: 1, lo: []*big.Float{lo.Sub(lo, e)}, hi: []*big.Float{hi.Add(hi, e)}}, nil
	})
	if err != nil {
		return halfulp.Scalar{}, err
	}
	return z.At(0, 0), nil
}

// mostExponentialNorm bounds the norm of matrices of exact numbers whose exponential is computed:
// every unit costs 3 bits.
const mostExponentialNorm = 1 << 16

// exponential returns exp(N/d). The matrix is rounded to B. With E = N/d - B, exp(N/d) differs from
// exp(B) by at most ‖E‖ exp(‖B‖ + ‖E‖) in the 1-norm (Higham, Functions of Matrices, 2008, theorem
// 10.4 with (10.16)). Entries that are 0 since no path of entries leads from their row to their
// column are 0.
func (j *job) exponential(file string, a scaled) (*halfulp.Matrix, error) {
	run := func(a *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
		return solved(j, file, func(opt *halfulp.Options) (*halfulp.Matrix, error) { return linsolve.Expm(a, f, opt) })
	}
	if a.odd == nil {
		return run(a.Matrix, j.format)
	}
	n := a.Rows()
	norm := 0.0
	for k := range n {
		sum := new(big.Float).SetPrec(64)
		for i := range n {
			sum.Add(sum, new(big.Float).Abs(a.At(i, k).Big()))
		}
		x, _ := sum.Quo(sum, new(big.Float).SetInt(a.odd)).Float64()
		norm = max(norm, x*(1+0x1p-40)) // an upper bound for n < 2^20
	}
	if norm > mostExponentialNorm {
		return nil, fmt.Errorf("%s: the 1-norm of the matrix is %.3g: exponentials of exact numbers that are no binary ones have norms of up to %d; --in mp:P rounds them first", shown(file), norm, mostExponentialNorm)
	}
	reached := paths(a.Matrix)
	return j.decided(j.format, func(f halfulp.Format) (*enclosedMatrix, error) {
		// ‖E‖ ≤ 2^-prec ‖B‖ (1 + 2^-prec), and exp(x) ≤ 2^(1.5 x).
		prec := uint(f.Bits() + 16 + int(3*norm))
		near := make([]*big.Float, 0, n*n)
		d := new(big.Float).SetInt(a.odd)
		for k := range n {
			for i := range n {
				near = append(near, new(big.Float).SetPrec(prec).Quo(a.At(i, k).Big(), d))
			}
		}
		z, err := run(halfulp.NewMatrixBig(halfulp.MP(prec), n, n, near), f)
		if err != nil {
			return nil, err
		}
		e := new(big.Float).SetMantExp(big.NewFloat(norm+1), int(math.Ceil(1.5*(norm+1)))-int(prec)+2)
		return enclosed(z, func(i, k int, x halfulp.Scalar) (lo, hi *big.Float) {
			if !reached[i][k] {
				return new(big.Float), new(big.Float)
			}
			lo, hi = around(x, f.Bits())
			return lo.Sub(lo, e), hi.Add(hi, e)
		}), nil
	})
}

// paths reports for which i and k entries other than 0 lead from i to k, by any number of steps, 0
// included.
func paths(a *halfulp.Matrix) [][]bool {
	n := a.Rows()
	z := make([][]bool, n)
	for i := range z {
		z[i] = make([]bool, n)
		for k := range z[i] {
			z[i][k] = i == k || a.At(i, k).Sign() != 0
		}
	}
	for mid := range n {
		for i := range n {
			if !z[i][mid] {
				continue
			}
			for k, there := range z[mid] {
				z[i][k] = z[i][k] || there
			}
		}
	}
	return z
}
