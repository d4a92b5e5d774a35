package rns

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/place"
)

// refSparse is struct sparse of kernels/rns/sparse.cuh.
type refSparse struct {
	Values, X, Z                      refOperand
	Doubles, Pointers, Columns, Order cuda.Pointer
	ILo, IUp                          place.RNSFloat
	Limit                             uint64
	Significand, Format               int32
	Rows, Cols, Width, Size           int32
}

// sparse is the kernel of sparse.cuh.
func (r *reference) sparse(l *fake.Launch, _ refBase, s refSparse) {
	r.covers(l, int(s.Rows)*int(s.Size))
	r.checkConstants(s)
	rows, format := int64(s.Rows), place.RNSFormat(s.Format)
	pointer := func(i int64) int64 { return fake.Slice[int64](l, s.Pointers+cuda.Pointer(8*i), 1)[0] }
	column := func(i int64) int64 { return int64(fake.Slice[int32](l, s.Columns+cuda.Pointer(4*i), 1)[0]) }
	for item := range rows * int64(s.Size) {
		i, t := item/int64(s.Size), item%int64(s.Size)
		sum := r.zero()
		end := int64(s.Width)
		if format == place.RNSCSR {
			end = pointer(i+1) - pointer(i)
		}
		for e := t; e < end; e += int64(s.Size) {
			var at, j int64
			switch format {
			case place.RNSCSR:
				at = pointer(i) + e
				j = column(at)
			case place.RNSJAD:
				if at, j = pointer(e)+i, -1; at < pointer(e+1) {
					j = column(at)
				}
			case place.RNSELL:
				at = e*rows + i
				j = column(at)
			case place.RNSDIA:
				at = e*rows + i
				j = i + column(e)
			}
			if j < 0 || j >= int64(s.Cols) {
				continue
			}
			v := r.zero()
			if s.Doubles != 0 {
				r.b.setFloat64(v, fake.Slice[float64](l, s.Doubles+cuda.Pointer(8*at), 1)[0])
			} else {
				v = r.load(l, s.Values.A, s.Values.at(at, 0))
			}
			if format == place.RNSDIA && v.isZero() {
				continue
			}
			r.b.addTo(sum, r.times(v, r.load(l, s.X.A, s.X.at(j, 0))), r.w)
		}
		to := i
		if s.Order != 0 {
			to = int64(fake.Slice[int32](l, s.Order, int(rows))[i])
		}
		r.store(l, sum, s.Z.A, s.Z.at(to, t))
	}
}

// checkConstants compares the constants for the conversion of doubles.
func (r *reference) checkConstants(s refSparse) {
	b := r.b
	limit, length := uint64(math.MaxUint64), b.maxSigBits
	if s.Limit != 0 {
		limit = s.Limit
	} else {
		length = int(s.Significand)
	}
	if (XFloat{s.ILo.F, s.ILo.I}) != b.iLo || (XFloat{s.IUp.F, s.IUp.I}) != b.iUp || int(s.Significand) != length ||
		(limit < math.MaxUint64) != (b.limInt.BitLen() <= 53) || s.Limit != 0 && limit != b.limInt.Uint64() {
		r.t.Errorf("constants of the conversion: %+v for significands up to %v", s, b.limInt)
	}
}
