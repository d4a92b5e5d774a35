package main

import (
	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp/internal/cli"
)

const description = `Correctly rounded linear algebra at any precision.

Every result is the exact value of the whole expression, rounded once to the requested format, whatever the cancellation: the error is at most half a unit in the last place, and the bits do not depend on threads or machine. The exceptions are methods of published papers, named rns-..., ozaki..., double-float and expansion, and the commands map, solve-gj and cg: they have error bounds of their own, and run only when requested by name.

A file is in Matrix Market format, in NumPy's .npy or .npz format, a table as spreadsheets export it (halfulp help convert), or numbers separated by blanks. A name that ends in .gz means a compressed file; "-" means standard input (at most 64 KiB under MPICH's mpiexec). A vector may be an n x 1 or a 1 x n matrix; only gemm tells the two apart.

Exit status: 0 success; 1 a file cannot be read or written, the computation failed, or no digit of a solution can be trusted; 2 a mistake on the command line, or shapes that do not fit; 129, 130 and 143 after a hang-up, an interrupt or a termination, which leave no partial output file. An error is one line on standard error. With --json it is an object with the members error and status.`

// grammar is the grammar of the command line.
type grammar struct {
	Sum    sumCmd    `cmd:"" group:"compute" help:"Sum of all entries, or of each column or row."`
	Asum   asumCmd   `cmd:"" group:"compute" help:"Sum of the absolute values of all entries, or of each column or row."`
	Dot    dotCmd    `cmd:"" group:"compute" help:"Dot product of two vectors."`
	Nrm2   nrm2Cmd   `cmd:"" group:"compute" name:"nrm2" help:"Euclidean norm: the root of the sum of the squares of all entries."`
	Cumsum cumsumCmd `cmd:"" group:"compute" help:"Prefix sums of a vector, or of the columns or rows of a matrix."`
	Trace  traceCmd  `cmd:"" group:"compute" help:"Sum of the diagonal."`
	Stats  statsCmd  `cmd:"" group:"compute" help:"Count, mean, standard deviation and lag-1 autocorrelation."`
	Axpy   axpyCmd   `cmd:"" group:"compute" help:"Vector or matrix times a number plus another: alpha X + Y."`
	Add    addCmd    `cmd:"" group:"compute" help:"Sum of two matrices, entry by entry: alpha X + beta Y."`
	Gemv   gemvCmd   `cmd:"" group:"compute" help:"Matrix times vector: alpha A x + beta y."`
	Spmv   spmvCmd   `cmd:"" group:"compute" help:"Sparse matrix times vector: A x."`
	Gemm   gemmCmd   `cmd:"" group:"compute" help:"Matrix times matrix: alpha A B + beta C."`
	Symm   symmCmd   `cmd:"" group:"compute" help:"Symmetric matrix times matrix: alpha A B + beta C."`
	Syrk   syrkCmd   `cmd:"" group:"compute" help:"Symmetric product: alpha A A' + beta C."`
	Syr2k  syr2kCmd  `cmd:"" group:"compute" name:"syr2k" help:"Symmetric update: alpha (A B' + B A') + beta C."`
	Trmm   trmmCmd   `cmd:"" group:"compute" help:"Triangular matrix times matrix: alpha A B."`
	Pow    powCmd    `cmd:"" group:"compute" help:"Power of a matrix."`
	Expm   expmCmd   `cmd:"" group:"compute" help:"Exponential of a matrix."`

	Solve   solveCmd      `cmd:"" group:"solve" help:"Solution X of a system A X = B, whatever the condition of A."`
	Trsm    trsmCmd       `cmd:"" group:"solve" help:"Solution X of a triangular system: A X = alpha B."`
	Lstsq   lstsqCmd      `cmd:"" group:"solve" help:"Least squares, with standard errors, residuals, R² and F."`
	Polyfit polyfitCmd    `cmd:"" group:"solve" help:"Polynomial fitted to points by least squares."`
	Pinv    pinvCmd       `cmd:"" group:"solve" name:"pinv" help:"Pseudo-inverse of a matrix of any shape and rank."`
	Inv     invCmd        `cmd:"" group:"solve" help:"Inverse of a matrix."`
	Det     detCmd        `cmd:"" group:"solve" help:"Determinant."`
	Rank    rankCmd       `cmd:"" group:"solve" help:"Rank, proved."`
	Cond    condCmd       `cmd:"" group:"solve" help:"Condition number, in the 1-norm, maximum norm or 2-norm."`
	Norm2   norm2Cmd      `cmd:"" group:"solve" name:"norm2" help:"2-norm of a matrix: its largest singular value."`
	Null    nullSpaceCmd  `cmd:"" group:"solve" name:"nullspace" help:"Basis of the null space."`
	RREF    rrefCmd       `cmd:"" group:"solve" name:"rref" help:"Reduced row echelon form, computed exactly."`
	CharP   charPolyCmd   `cmd:"" group:"solve" name:"charpoly" help:"Characteristic polynomial, computed exactly."`
	MinP    minPolyCmd    `cmd:"" group:"solve" name:"minpoly" help:"Minimal polynomial, computed exactly."`
	Chol    cholCmd       `cmd:"" group:"solve" name:"chol" help:"Cholesky factor of a symmetric positive definite matrix."`
	LU      luCmd         `cmd:"" group:"solve" name:"lu" help:"Factors P A = L U, by partial pivoting."`
	QR      qrCmd         `cmd:"" group:"solve" name:"qr" help:"Factors A = Q R, Q with orthonormal columns."`
	LDLT    ldltCmd       `cmd:"" group:"solve" name:"ldlt" help:"Factors P A P' = L D L' of a symmetric matrix."`
	Eigh    eighCmd       `cmd:"" group:"solve" name:"eigh" help:"Eigenvalues and eigenvectors of a symmetric matrix."`
	Geigh   geighCmd      `cmd:"" group:"solve" name:"geigh" help:"Eigenvalues and eigenvectors of A x = λ B x, A symmetric, B positive definite."`
	SVD     svdCmd        `cmd:"" group:"solve" name:"svd" help:"Singular value decomposition A = U diag(s) Vt."`
	Polar   polarCmd      `cmd:"" group:"solve" name:"polar" help:"Polar decomposition A = U H."`
	SymFunc symFuncCmd    `cmd:"" group:"solve" name:"symfunc" help:"Function of a symmetric matrix: sqrt, invsqrt, exp, log, abs, sign, psd."`
	Roots   rootsCmd      `cmd:"" group:"solve" help:"Real roots of a polynomial."`
	Gauss   quadratureCmd `cmd:"" group:"solve" name:"quadrature" help:"Nodes and weights of a Gaussian quadrature rule."`
	Verify  verifyCmd     `cmd:"" group:"solve" help:"Count the correctly rounded entries of a solution, product, spectrum or decomposition from any program."`

	Gen       genCmd       `cmd:"" group:"data" help:"Generate a matrix: hilbert, vandermonde, random, wampler, identity."`
	Transpose transposeCmd `cmd:"" group:"data" help:"Transpose of a matrix."`
	Convert   convertCmd   `cmd:"" group:"data" help:"Convert a matrix to another format or kind of file."`

	Info       infoCmd           `cmd:"" group:"machine" help:"Show the version, the processor, kernels, devices, formats and methods."`
	Bench      benchCmd          `cmd:"" group:"machine" help:"Measure how long operations take here, at sizes and precisions, and compare with an earlier run."`
	Tune       tuneCmd           `cmd:"" group:"machine" help:"Measure this machine's kernels and where the methods cross."`
	Version    versionCmd        `cmd:"" group:"machine" help:"Print the version, or the licences of the program (--licenses)."`
	Completion cli.CompletionCmd `cmd:"" group:"machine" help:"Print a script that completes command lines in bash, zsh or fish."`
	Man        cli.ManCmd        `cmd:"" group:"machine" help:"Print a manual page."`
	HelpOn     cli.HelpCmd       `cmd:"" group:"machine" name:"help" help:"Explain a command."`

	Map       mapCmd       `cmd:"" group:"papers" help:"A function of every entry in double-double to quad-double arithmetic: exp, sin, mul, ..."`
	SolveGJ   solveGJCmd   `cmd:"" group:"papers" name:"solve-gj" help:"Solve A X = B by Gauss-Jordan elimination in double-double to quad-double arithmetic."`
	CG        cgCmd        `cmd:"" group:"papers" name:"cg" help:"Solve A x = b, A sparse, symmetric and positive definite, by conjugate gradients in RNS arithmetic."`
	Reproduce reproduceCmd `cmd:"" group:"papers" passthrough:"" help:"Run the papers' experiments, one or all of them, and print their figures beside the ones measured here (the program halfulp-reproduce)."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`
}

var flagGroups = []kong.Group{
	{Key: "input", Title: "Input:"},
	{Key: "result", Title: "Result:"},
	{Key: "run", Title: "Run:"},
	{Key: "compute", Title: "Compute:"},
	{Key: "solve", Title: "Solve, factor, fit:"},
	{Key: "data", Title: "Data:"},
	{Key: "machine", Title: "Machine and program:"},
	{Key: "papers", Title: "Methods of papers, with error bounds of their own:"},
}
