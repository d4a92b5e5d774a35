package modular

import (
	"context"
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// EliminateBlock eliminates with the pivot block of rows and columns b ≤ i < b + size, and reports
// whether the block is regular.
func (f *Field) EliminateBlock(ctx context.Context, threads int, rows [][]uint64, b, size int) (bool, error) {
	var inverse [2][2]uint64
	if size == 1 {
		if rows[b][b] == 0 {
			return false, nil
		}
		inverse[0][0] = f.Invert(rows[b][b])
	} else {
		p, q := rows[b][b:b+2], rows[b+1][b:b+2]
		det := f.Sub(f.Mul(p[0], q[1]), f.Mul(p[1], q[0]))
		if det == 0 {
			return false, nil
		}
		det = f.Invert(det)
		inverse[0][0], inverse[0][1] = f.Mul(q[1], det), f.Sub(0, f.Mul(p[1], det))
		inverse[1][0], inverse[1][1] = f.Sub(0, f.Mul(q[0], det)), f.Mul(p[0], det)
	}
	first := b + size
	return true, par.Each(ctx, threads, len(rows)-first, func(i int) {
		row := rows[first+i]
		var l [2]uint64
		for c := range size {
			for k := range size {
				l[c] = f.Add(l[c], f.Mul(row[b+k], inverse[k][c]))
			}
		}
		for c := range size {
			row[b+c] = l[c]
			if l[c] == 0 {
				continue
			}
			factor := f.P - l[c]
			for j, x := range rows[b+c][first:] {
				hi, lo := mathbits.Mul64(factor, x)
				row[first+j] = f.Add(row[first+j], f.reduce(hi, lo))
			}
		}
	})
}

// Nilpotent reports whether a^n is 0 modulo the prime, where n is the order of a.
func (f *Field) Nilpotent(ctx context.Context, threads int, a num.Mat) (bool, error) {
	rows, err := f.Matrix(ctx, threads, a)
	if err != nil {
		return false, err
	}
	for range mathbits.Len(uint(a.Rows)) {
		if rows, err = f.Product(ctx, threads, rows, rows); err != nil {
			return false, err
		}
	}
	for _, row := range rows {
		for _, x := range row {
			if x != 0 {
				return false, nil
			}
		}
	}
	return true, nil
}

// MatrixPower returns A^k.
func (f *Field) MatrixPower(ctx context.Context, threads int, a [][]uint64, k int) (z [][]uint64, err error) {
	z = make([][]uint64, len(a))
	for i := range z {
		z[i] = make([]uint64, len(a))
		z[i][i] = f.One
	}
	for b := mathbits.Len(uint(k)) - 1; b >= 0; b-- {
		if z, err = f.Product(ctx, threads, z, z); err != nil {
			return nil, err
		}
		if k>>b&1 != 0 {
			if z, err = f.Product(ctx, threads, z, a); err != nil {
				return nil, err
			}
		}
	}
	return z, nil
}
