package table

import (
	"slices"
	"strings"
)

// blas lists the routines of the BLAS. Each exists for arrays of doubles and of floats; the kinds
// number and numbers stand for either.
var blas = []Function{
	{Name: "dot", Args: "n:int x:numbers incx:int y:numbers incy:int options > result:real",
		Go: "blasDot(n, x, incx, y, incy, opt)"},
	{Name: "nrm2", Args: "n:int x:numbers incx:int options > result:real",
		Go: "blasReduce(halfulp.Nrm2, n, x, incx, opt)"},
	{Name: "asum", Args: "n:int x:numbers incx:int options > result:real",
		Go: "blasReduce(halfulp.Asum, n, x, incx, opt)"},
	{Name: "sum", Args: "n:int x:numbers incx:int options > result:real",
		Go: "blasReduce(halfulp.Sum, n, x, incx, opt)", Doc: "Σ x_i of a vector, correctly rounded. The BLAS have no such routine; it has the arguments of asum."},
	{Name: "axpy", Args: "n:int alpha:number x:numbers incx:int y:numbers-out incy:int options",
		Go: `halfulp.Axpy(number(alpha), vec(x, n, incx), written("incy", y, n, incy), opt)`},
	{Name: "scal", Args: "n:int alpha:number x:numbers-out incx:int options",
		Go: `halfulp.Scal(number(alpha), written("incx", x, n, incx), opt)`},
	{Name: "rot", Args: "n:int x:numbers-out incx:int y:numbers-out incy:int c:number s:number options",
		Go: `halfulp.Rot(written("incx", x, n, incx), written("incy", y, n, incy), number(c), number(s), opt)`},
	{Name: "rotg", Args: "a:numbers-out b:numbers-out c:numbers-out s:numbers-out options",
		Go: "blasRotg(a, b, c, s, opt)"},
	{Name: "rotm", Args: "n:int x:numbers-out incx:int y:numbers-out incy:int param:numbers options",
		Go: "blasRotm(n, x, incx, y, incy, param, opt)"},
	{Name: "rotmg", Args: "d1:numbers-out d2:numbers-out x1:numbers-out y1:number param:numbers-out options",
		Go: "blasRotmg(d1, d2, x1, y1, param, opt)"},
	{Name: "gemv", Args: "trans m:int n:int alpha:number a:numbers lda:int x:numbers incx:int beta:number y:numbers-out incy:int options",
		Go: "blasGemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy, opt)"},
	{Name: "gbmv", Args: "trans m:int n:int kl:int ku:int alpha:number a:numbers lda:int x:numbers incx:int beta:number y:numbers-out incy:int options",
		Go: "blasGbmv(trans, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy, opt)"},
	{Name: "symv", Args: "uplo n:int alpha:number a:numbers lda:int x:numbers incx:int beta:number y:numbers-out incy:int options",
		Go: "blasSymv(uplo, n, alpha, a, lda, x, incx, beta, y, incy, opt)"},
	{Name: "sbmv", Args: "uplo n:int kd:int alpha:number a:numbers lda:int x:numbers incx:int beta:number y:numbers-out incy:int options",
		Go: "blasSbmv(uplo, n, kd, alpha, a, lda, x, incx, beta, y, incy, opt)"},
	{Name: "spmv", Args: "uplo n:int alpha:number ap:numbers x:numbers incx:int beta:number y:numbers-out incy:int options",
		Go: "blasSpmv(uplo, n, alpha, ap, x, incx, beta, y, incy, opt)"},
	{Name: "trmv", Args: "uplo trans diag n:int a:numbers lda:int x:numbers-out incx:int options",
		Go: `halfulp.Trmv(uplo, trans, diag, full(a, n, n, lda), written("incx", x, n, incx), opt)`},
	{Name: "trsv", Args: "uplo trans diag n:int a:numbers lda:int x:numbers-out incx:int options",
		Go: `halfulp.Trsv(uplo, trans, diag, full(a, n, n, lda), written("incx", x, n, incx), opt)`},
	{Name: "tbmv", Args: "uplo trans diag n:int kd:int a:numbers lda:int x:numbers-out incx:int options",
		Go: "blasTbmv(uplo, trans, diag, n, kd, a, lda, x, incx, opt)"},
	{Name: "tbsv", Args: "uplo trans diag n:int kd:int a:numbers lda:int x:numbers-out incx:int options",
		Go: "blasTbsv(uplo, trans, diag, n, kd, a, lda, x, incx, opt)"},
	{Name: "tpmv", Args: "uplo trans diag n:int ap:numbers x:numbers-out incx:int options",
		Go: "blasTpmv(uplo, trans, diag, n, ap, x, incx, opt)"},
	{Name: "tpsv", Args: "uplo trans diag n:int ap:numbers x:numbers-out incx:int options",
		Go: "blasTpsv(uplo, trans, diag, n, ap, x, incx, opt)"},
	{Name: "ger", Args: "m:int n:int alpha:number x:numbers incx:int y:numbers incy:int a:numbers-out lda:int options",
		Go: "halfulp.Ger(number(alpha), vec(x, m, incx), vec(y, n, incy), full(a, m, n, lda), opt)"},
	{Name: "syr", Args: "uplo n:int alpha:number x:numbers incx:int a:numbers-out lda:int options",
		Go: "blasSyr2(uplo, n, alpha, x, incx, nil, 0, a, lda, opt)"},
	{Name: "syr2", Args: "uplo n:int alpha:number x:numbers incx:int y:numbers incy:int a:numbers-out lda:int options",
		Go: "blasSyr2(uplo, n, alpha, x, incx, y, incy, a, lda, opt)"},
	{Name: "spr", Args: "uplo n:int alpha:number x:numbers incx:int ap:numbers-out options",
		Go: "blasSpr2(uplo, n, alpha, x, incx, nil, 0, ap, opt)"},
	{Name: "spr2", Args: "uplo n:int alpha:number x:numbers incx:int y:numbers incy:int ap:numbers-out options",
		Go: "blasSpr2(uplo, n, alpha, x, incx, y, incy, ap, opt)"},
	{Name: "gemm", Args: "transa:trans transb:trans m:int n:int kd:int alpha:number a:numbers lda:int b:numbers ldb:int beta:number c:numbers-out ldc:int options",
		Go: "blasGemm(transa, transb, m, n, kd, alpha, a, lda, b, ldb, beta, c, ldc, opt)"},
	{Name: "symm", Args: "side uplo m:int n:int alpha:number a:numbers lda:int b:numbers ldb:int beta:number c:numbers-out ldc:int options",
		Go: "blasSymm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, opt)"},
	{Name: "syrk", Args: "uplo trans n:int kd:int alpha:number a:numbers lda:int beta:number c:numbers-out ldc:int options",
		Go: "blasSyrk(uplo, trans, n, kd, alpha, a, lda, beta, c, ldc, opt)"},
	{Name: "syr2k", Args: "uplo trans n:int kd:int alpha:number a:numbers lda:int b:numbers ldb:int beta:number c:numbers-out ldc:int options",
		Go: "blasSyr2k(uplo, trans, n, kd, alpha, a, lda, b, ldb, beta, c, ldc, opt)"},
	{Name: "trmm", Args: "side uplo trans diag m:int n:int alpha:number a:numbers lda:int b:numbers-out ldb:int options",
		Go: "blasTrmm(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, opt)"},
	{Name: "trsm", Args: "side uplo trans diag m:int n:int alpha:number a:numbers lda:int b:numbers-out ldb:int options",
		Go: "blasTrsm(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, opt)"},
}

// All returns all groups, with the BLAS on arrays of both types.
func All() []Group {
	direct := Group{Title: "The BLAS on arrays"}
	for _, t := range []struct{ letter, number, numbers string }{{"d", "real", "doubles"}, {"s", "float", "floats"}} {
		kinds := strings.NewReplacer(":numbers", ":"+t.numbers, ":number", ":"+t.number)
		for _, f := range blas {
			if f.Doc == "" {
				f.Doc = t.letter + f.Name + " of the BLAS, column by column, with the arguments of Fortran by value. Every result is correctly rounded. It does not call xerbla: misfits are HALFULP_MISUSE."
			}
			f.Args = kinds.Replace(f.Args)
			f.Name = "blas_" + t.letter + f.Name
			direct.Functions = append(direct.Functions, f)
		}
	}
	direct.Functions = append(direct.Functions,
		Function{"blas_dsdot", "n:int x:floats incx:int y:floats incy:int options > result:real", "blasDsdot(n, x, incx, y, incy, opt)",
			"dsdot of the BLAS: a product of float vectors, rounded once to double."},
		Function{"blas_sdsdot", "n:int b:float x:floats incx:int y:floats incy:int options > result:real", "blasSdsdot(n, b, x, incx, y, incy, opt)",
			"sdsdot of the BLAS: b and a product of float vectors added, rounded once to float."})
	return append(slices.Clone(Functions), direct)
}
