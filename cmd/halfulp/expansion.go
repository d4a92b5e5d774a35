package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cli"
)

// expansionHelp is the part about package expansion in the help of products.
const expansionHelp = `

The method expansion uses double-double, triple-double or quad-double arithmetic for --format dd, td or qd. Its results are not correctly rounded, so auto never selects it; the documentation of package expansion gives an error bound relative to the sum of the absolute values of the products. Operands are rounded to --format first.`

// hasBlocks reports whether the method is one of the block schemes of package expansion.
func hasBlocks(method halfulp.Method) bool {
	return method == expansion.SquareBlocks || method == expansion.LinearBlocks
}

// isExpansion reports whether the method is the method of package expansion.
func isExpansion(how *runFlags) bool { return how.Method == string(expansion.Method) }

// checkExpansion returns an error for formats that package expansion does not support.
func checkExpansion(format halfulp.Format) error {
	switch format {
	case halfulp.DD, halfulp.TD, halfulp.QD:
		return nil
	}
	return cli.Misuse("--format: %v is not a format of package expansion: want dd, td or qd", format)
}

// validExpansion returns an error unless package expansion supports format, device and method.
func validExpansion(format halfulp.Format, opt *halfulp.Options) error {
	if format != halfulp.Float64 || !hasBlocks(opt.Method) {
		if err := checkExpansion(format); err != nil {
			return err
		}
	}
	return expansion.Validate(opt)
}

// expansionProduct sets z = alpha op(A) op(B) + beta C by the method; c may be nil.
func (j *job) expansionProduct(tA, tB bool, alpha halfulp.Scalar, a, b *halfulp.Matrix, beta halfulp.Scalar, c, z *halfulp.Matrix) (halfulp.Stats, error) {
	if c != nil {
		for i := range z.Rows() {
			for k := range z.Cols() {
				z.Set(i, k, c.At(i, k))
			}
		}
	}
	var st halfulp.Stats
	err := expansion.Gemm(transpose(tA), transpose(tB), alpha, a, b, beta, z, j.options().WithStats(&st))
	return st, err
}
