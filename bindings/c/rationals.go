package main

// #include "library.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/rational"
)

// integers reads integers of any length from an array of words: integer k has |sizes[k]| words, the
// least significant first, and the sign of sizes[k].
type integers struct {
	words *uint64
	sizes *int64
	next  int // number of the integer that read returns
	at    int // index of its first word
}

func (r *integers) read() *big.Int {
	size := *(*int64)(unsafe.Add(unsafe.Pointer(r.sizes), 8*r.next))
	r.next++
	n := int(max(size, -size))
	if n == 0 {
		return new(big.Int)
	}
	if r.words == nil || n < 0 {
		panic(misuse("argument words: the pointer is NULL; integer %d has %d words", r.next-1, n))
	}
	x := num.ToInt(unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(r.words), 8*r.at)), n))
	r.at += n
	if size < 0 {
		x.Neg(x)
	}
	return x
}

// rationalFromWords returns a matrix of integers, or of quotients: after rows · cols numerators,
// row by row, there are no denominators, one for all, one for each row, or one for each entry.
func rationalFromWords(words *uint64, sizes *int64, rows, cols, denominators int) (*rational.Matrix, error) {
	if err := checkNewRational(rows, cols); err != nil {
		return nil, err
	}
	n := rows * cols
	switch denominators {
	case 0, 1, rows, n:
	default:
		return nil, misuse("argument denominators: %d; 0, 1, %d (rows) or %d (entries) are possible", denominators, rows, n)
	}
	if sizes == nil && n+denominators > 0 {
		return nil, misuse("argument sizes: the pointer is NULL; %d numbers are needed", n+denominators)
	}
	if n == 0 {
		return rational.New(rows, cols), nil
	}
	r := integers{words: words, sizes: sizes}
	numerators := make([][]*big.Int, rows)
	for i := range numerators {
		numerators[i] = make([]*big.Int, cols)
		for j := range cols {
			numerators[i][j] = r.read()
		}
	}
	if denominators == 0 {
		return rational.FromInts(numerators), nil
	}
	d := make([]*big.Int, denominators)
	for k := range d {
		if d[k] = r.read(); d[k].Sign() == 0 {
			return nil, misuse("denominator %d is 0", k)
		}
	}
	z := make([][]*big.Rat, rows)
	for i, row := range numerators {
		z[i] = make([]*big.Rat, cols)
		for j, x := range row {
			of := d[0]
			switch denominators {
			case 1:
			case n:
				of = d[i*cols+j]
			default:
				of = d[i]
			}
			z[i][j] = new(big.Rat).SetFrac(x, of)
		}
	}
	return rational.FromRats(z), nil
}

func checkNewRational(rows, cols int) error {
	checkShape(rows, cols)
	return checkMemory(halfulp.Float64, rows, cols)
}

// rationalWords returns the words of the numerators, row by row, then of the denominators, in
// lowest terms. It stores the sizes of all these integers, negative for negative integers.
func rationalWords(a *rational.Matrix, sizes *int64) ([]byte, error) {
	rows, cols := a.Dims()
	if sizes == nil && rows > 0 && cols > 0 {
		return nil, misuse("argument sizes: the pointer is NULL; there are %d integers", 2*rows*cols)
	}
	var numerators, denominators []byte
	var buf []uint64
	put := func(dst []byte, k int, x *big.Int) []byte {
		buf = num.FromInt(buf[:0], x)
		*(*int64)(unsafe.Add(unsafe.Pointer(sizes), 8*k)) = int64(x.Sign() * len(buf))
		for _, w := range buf {
			dst = binary.NativeEndian.AppendUint64(dst, w)
		}
		return dst
	}
	for i := range rows {
		for j := range cols {
			x := a.At(i, j)
			numerators = put(numerators, i*cols+j, x.Num())
			denominators = put(denominators, (rows+i)*cols+j, x.Denom())
		}
	}
	return append(numerators, denominators...), nil
}

func rationalFromTexts(data **C.char, rows, cols, rs, cs int) (*rational.Matrix, error) {
	g := grid[*C.char]{data, rs, cs}
	checkGrid(g, rows, cols)
	if err := checkNewRational(rows, cols); err != nil {
		return nil, err
	}
	if rows == 0 {
		return rational.New(rows, cols), nil
	}
	texts := make([][]string, rows)
	for i := range texts {
		texts[i] = make([]string, cols)
		for j := range cols {
			p := *g.at(i, j)
			if p == nil {
				return nil, misuse("entry (%d, %d): the pointer is NULL; a text is needed", i, j)
			}
			texts[i][j] = C.GoString(p)
		}
	}
	return rational.Parse(texts)
}

// rationalFromMatrix returns the exact values of a matrix of any format.
func rationalFromMatrix(a *halfulp.Matrix) (*rational.Matrix, error) {
	h, err := a.Host()
	if err != nil {
		return nil, err
	}
	if h.NumberFormat().IsMP() {
		// The integers of a row have as many bits as its exponents are apart, and more.
		bits := 0.0
		for i := range h.Rows() {
			low, high := 0, 0
			for j := range h.Cols() {
				if x := h.At(i, j); !x.IsNaN() && !x.IsInf(0) && x.Sign() != 0 {
					e := x.Big().MantExp(nil)
					low, high = min(low, e), max(high, e)
				}
			}
			bits += float64(h.Cols()) * float64(high-low)
		}
		if bits/8 > 2*float64(halfulp.DefaultMemoryLimit()) {
			return nil, fmt.Errorf("%w: the exact numbers take about %.3g bytes, more than the machine has", halfulp.ErrMemory, bits/8)
		}
	}
	return rational.FromMatrix(h)
}

func rationalRound(a *rational.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	if err := checkMemory(f, a.Rows(), a.Cols()); err != nil {
		return nil, err
	}
	return a.Round(f)
}

func rationalShape(a *rational.Matrix) (rows, cols int, err error) { return a.Rows(), a.Cols(), nil }

// rationalTake returns the entries of a in some rows and columns, each given by indices.
func rationalTake(a *rational.Matrix, rows *int64, rowCount int, cols *int64, colCount int) (*rational.Matrix, error) {
	if err := checkNewRational(rowCount, colCount); err != nil {
		return nil, err
	}
	indices := func(arg string, p *int64, count, below int) []int64 {
		if count == 0 {
			return nil
		}
		if p == nil {
			panic(misuse("argument %s: the pointer is NULL; %d indices are needed", arg, count))
		}
		z := unsafe.Slice(p, count)
		for _, i := range z {
			if i < 0 || i >= int64(below) {
				panic(misuse("argument %s: %d; the matrix is %d x %d, indices begin with 0", arg, i, a.Rows(), a.Cols()))
			}
		}
		return z
	}
	r, c := indices("rows", rows, rowCount, a.Rows()), indices("cols", cols, colCount, a.Cols())
	if rowCount == 0 {
		return rational.New(rowCount, colCount), nil
	}
	z := make([][]*big.Rat, rowCount)
	for i := range z {
		z[i] = make([]*big.Rat, colCount)
		for j := range z[i] {
			z[i][j] = a.At(int(r[i]), int(c[j]))
		}
	}
	return rational.FromRats(z), nil
}

func needSameShape(a, b *rational.Matrix) {
	if a.Rows() != b.Rows() || a.Cols() != b.Cols() {
		panic(misuse("a is %d x %d, b is %d x %d: they need the same shape", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
}

func needSquareRational(a *rational.Matrix) {
	if a.Rows() != a.Cols() {
		panic(misuse("the matrix is %d x %d; a square one is needed", a.Rows(), a.Cols()))
	}
}

func needSameRows(a, b *rational.Matrix) {
	if a.Rows() != b.Rows() {
		panic(misuse("a is %d x %d, b is %d x %d: they need as many rows", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
}

func rationalAdd(a, b *rational.Matrix) (*rational.Matrix, error) {
	needSameShape(a, b)
	return rational.Add(a, b), nil
}

func rationalSub(a, b *rational.Matrix) (*rational.Matrix, error) {
	needSameShape(a, b)
	return rational.Sub(a, b), nil
}

func rationalScale(alpha, a *rational.Matrix) (*rational.Matrix, error) {
	if alpha.Rows() != 1 || alpha.Cols() != 1 {
		return nil, misuse("argument alpha: the matrix is %d x %d; a 1 x 1 one is needed", alpha.Rows(), alpha.Cols())
	}
	return rational.Scale(alpha.At(0, 0), a), nil
}

func rationalMul(a, b *rational.Matrix, opt *halfulp.Options) (*rational.Matrix, error) {
	if a.Cols() != b.Rows() {
		panic(misuse("%d x %d times %d x %d: the columns of a are not as many as the rows of b", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
	return rational.Mul(a, b, opt)
}

func rationalPower(a *rational.Matrix, exponent int, opt *halfulp.Options) (*rational.Matrix, error) {
	needSquareRational(a)
	return rational.Pow(a, exponent, opt)
}

func rationalSolve(a, b *rational.Matrix, opt *halfulp.Options) (*rational.Matrix, error) {
	needSameRows(a, b)
	return rational.Solve(a, b, opt)
}

func rationalSolveAll(a, b *rational.Matrix, opt *halfulp.Options) (x, n *rational.Matrix, err error) {
	needSameRows(a, b)
	return rational.SolveAll(a, b, opt)
}

func rationalInverse(a *rational.Matrix, opt *halfulp.Options) (*rational.Matrix, error) {
	needSquareRational(a)
	return rational.Inverse(a, opt)
}

func rationalDet(a *rational.Matrix, opt *halfulp.Options) (*rational.Matrix, error) {
	needSquareRational(a)
	d, err := rational.Det(a, opt)
	return columnOf([]*big.Rat{d}, err)
}

// columnOf returns numbers in one column.
func columnOf(x []*big.Rat, err error) (*rational.Matrix, error) {
	if err != nil {
		return nil, err
	}
	rows := make([][]*big.Rat, len(x))
	for i := range x {
		rows[i] = x[i : i+1]
	}
	return rational.FromRats(rows), nil
}

// rationalRREF stores the columns of the pivots, if pivots is not nil, and returns their number.
func rationalRREF(a *rational.Matrix, pivots *int64, opt *halfulp.Options) (*rational.Matrix, int, error) {
	z, found, err := rational.RREF(a, opt)
	if err != nil {
		return nil, 0, err
	}
	storeIndices(pivots, found)
	return z, len(found), nil
}

// storeIndices stores indices, unless the caller does not want them.
func storeIndices(p *int64, indices []int) {
	if p == nil {
		return
	}
	for i, x := range indices {
		*(*int64)(unsafe.Add(unsafe.Pointer(p), 8*i)) = int64(x)
	}
}

func rationalLU(a *rational.Matrix, p *int64, opt *halfulp.Options) (l, u *rational.Matrix, err error) {
	z, err := rational.LU(a, opt)
	if err != nil {
		return nil, nil, err
	}
	storeIndices(p, z.P)
	return z.L, z.U, nil
}

func rationalLDLT(a *rational.Matrix, p *int64, opt *halfulp.Options) (l, d *rational.Matrix, err error) {
	needSquareRational(a)
	z, err := rational.LDLT(a, opt)
	if err != nil {
		return nil, nil, err
	}
	storeIndices(p, z.P)
	return z.L, z.D, nil
}

func rationalCharPoly(a *rational.Matrix, opt *halfulp.Options) (*rational.Matrix, error) {
	needSquareRational(a)
	return columnOf(rational.CharPoly(a, opt))
}

func rationalMinPoly(a *rational.Matrix, opt *halfulp.Options) (*rational.Matrix, error) {
	needSquareRational(a)
	return columnOf(rational.MinPoly(a, opt))
}
