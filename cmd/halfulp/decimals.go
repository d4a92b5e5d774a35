package main

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rational"
)

// Exact numbers as numbers of a format over a common denominator, for routines that take numbers of
// a format. Powers of two divide exactly, so the denominators are odd.

// decimals reads a matrix whose numbers need not be numbers of any format. Column k is column k of
// m times units[k]; unless byColumn, the whole matrix is m times units[0]. units is nil if all
// units are 1. If --in names a format, or if the file does and --in does not say exact, the numbers
// have this format.
func (j *job) decimals(name string, byColumn bool) (m *halfulp.Matrix, units []*big.Rat, err error) {
	if _, given := j.in.in(); given {
		m, err = j.inFormat(name)
		return m, nil, err
	}
	x, _, err := j.literal(name, j.in.exact())
	if err != nil {
		return nil, nil, err
	}
	if x.Matrix != nil {
		return x.Matrix, nil, nil
	}
	odd := make([]*big.Int, x.Cols)
	if !byColumn {
		var all []*big.Rat
		for _, row := range x.Values {
			all = append(all, row...)
		}
		odd = []*big.Int{oddPart(commonDenominator(all))}
	}
	for k := range odd {
		if byColumn {
			column := make([]*big.Rat, x.Rows)
			for i := range column {
				column[i] = x.Values[i][k]
			}
			odd[k] = oddPart(commonDenominator(column))
		}
		if odd[k].BitLen() > 1 || units != nil {
			for len(units) < k {
				units = append(units, big.NewRat(1, 1))
			}
			units = append(units, new(big.Rat).SetFrac(big.NewInt(1), odd[k]))
		}
	}
	m, err = j.times(name, x.Rows, x.Cols, func(i, k int) (*big.Rat, *big.Int) {
		return x.Values[i][k], odd[min(k, len(odd)-1)]
	})
	return m, units, err
}

// oddPart returns the largest odd divisor of d.
func oddPart(d *big.Int) *big.Int { return new(big.Int).Rsh(d, d.TrailingZeroBits()) }

// times returns the matrix of products of the numbers x and the multiples d of the odd parts of
// their denominators, which at returns, in a format that holds them.
func (j *job) times(name string, rows, cols int, at func(i, k int) (x *big.Rat, d *big.Int)) (*halfulp.Matrix, error) {
	values := make([]*big.Float, 0, rows*cols)
	longest := halfulp.Float64.Bits()
	for k := range cols {
		for i := range rows {
			x, d := at(i, k)
			two := x.Denom().TrailingZeroBits()
			n := new(big.Int).Quo(d, oddPart(x.Denom()))
			n.Mul(n, x.Num())
			z := new(big.Float).SetInt(n)
			longest = max(longest, int(z.MinPrec()))
			values = append(values, z.SetMantExp(z, -int(two)))
		}
	}
	if longest > halfulp.MaxPrec {
		return nil, fmt.Errorf("%s: with a common denominator its numbers have %d bits: numbers of a format have at most %d; --in mp:P rounds them", shown(name), longest, halfulp.MaxPrec)
	}
	f := halfulp.MP(uint(longest))
	if err := j.how.Memory.checkSize(f, rows, cols); err != nil {
		return nil, fmt.Errorf("%s with a common denominator: %w", shown(name), err)
	}
	return halfulp.NewMatrixBig(f, rows, cols, values), nil
}

// scaled is a matrix of numbers of a format over an odd denominator.
type scaled struct {
	*halfulp.Matrix
	odd *big.Int // nil for 1
}

// scaledMatrix reads a matrix of finite numbers, or of exact ones if --in requests them. fits,
// unless it is nil, returns an error for a wrong shape.
func (j *job) scaledMatrix(file string, fits func(name string, a sized) error) (scaled, error) {
	if !j.in.exact() {
		a, err := j.finiteMatrix(file, fits)
		return scaled{Matrix: a}, err
	}
	a, err := j.exact(file)
	if err != nil {
		return scaled{}, err
	}
	if fits != nil {
		if err := fits(file, a); err != nil {
			return scaled{}, err
		}
	}
	all, odd, err := j.overOdd([]string{file}, a)
	if err != nil {
		return scaled{}, err
	}
	return scaled{all[0], odd}, nil
}

// overOdd returns the products of matrices and the least odd number for which they are numbers of a
// format, nil for 1.
func (j *job) overOdd(files []string, all ...*rational.Matrix) ([]*halfulp.Matrix, *big.Int, error) {
	odd := oddPart(commonDenominator(entriesOf(all...)))
	var z []*halfulp.Matrix
	for i, a := range all {
		m, err := j.times(files[i], a.Rows(), a.Cols(), func(i, k int) (*big.Rat, *big.Int) { return a.At(i, k), odd })
		if err != nil {
			return nil, nil, err
		}
		z = append(z, m)
	}
	if odd.BitLen() == 1 {
		odd = nil
	}
	return z, odd, nil
}

// overRows returns D A and D B as numbers of a format, for the diagonal matrix D of the least odd
// numbers for which that is possible. B may be nil: then D is returned in its place.
func (j *job) overRows(fileA string, a *rational.Matrix, fileB string, b *rational.Matrix) (da, db *halfulp.Matrix, err error) {
	odd := make([]*big.Int, a.Rows())
	for i := range odd {
		row := rowOf(a, i)
		if b != nil {
			row = append(row, rowOf(b, i)...)
		}
		odd[i] = oddPart(commonDenominator(row))
	}
	if b == nil {
		b = rational.Identity(a.Rows())
	}
	if da, err = j.times(fileA, a.Rows(), a.Cols(), func(i, k int) (*big.Rat, *big.Int) { return a.At(i, k), odd[i] }); err != nil {
		return nil, nil, err
	}
	db, err = j.times(fileB, b.Rows(), b.Cols(), func(i, k int) (*big.Rat, *big.Int) { return b.At(i, k), odd[i] })
	return da, db, err
}
