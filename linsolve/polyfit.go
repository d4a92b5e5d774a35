package linsolve

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// PolyFit fits the polynomial y = c_0 + c_1 x + ... + c_d x^d of degree d to the points (x_i, y_i)
// by least squares. It is [Regression] with one column y and the Vandermonde matrix of x, whose
// entries are exact powers. The coefficients c_0, ..., c_d are X of the fit.
//
//	fit, err := linsolve.PolyFit(x, y, 2, halfulp.Float64, nil)
//
// The error is a *RankError if fewer than d+1 of the x_i with nonzero weights are different. It
// wraps ErrRange if the powers do not fit any format. Other errors are as for [Regression]. PolyFit
// panics for vectors of different lengths, fewer than d+1 points, a negative degree, or ColumnUnits
// with other than one unit.
func PolyFit(x, y *halfulp.Vector, degree int, f halfulp.Format, opt *RegressionOptions) (*Fit, error) {
	if degree < 0 || x.Len() != y.Len() || x.Len() <= degree || opt != nil && opt.ColumnUnits != nil && len(opt.ColumnUnits) != 1 {
		panic(errShape)
	}
	const name = "PolyFit"
	if err := checkPValues(name, f, opt); err != nil {
		return nil, err
	}
	given := opt
	if x.Device() != place.Host {
		d := x.Device()
		var err error
		if x, err = x.Host(); err != nil {
			return nil, wrapped(name, err)
		}
		if y.Device() != d {
			return nil, fmt.Errorf("%s: operands on %s and %s: %w", name, d, y.Device(), place.ErrPlace)
		}
		if y, err = y.Host(); err != nil {
			return nil, wrapped(name, err)
		}
	}
	if err := call.Finite("x", x.Matrix().View()); err != nil {
		return nil, wrapped(name, err)
	}
	format, err := ziv.FormatFor(bound.Longest(x.Matrix().View()) * int64(max(degree, 1)))
	if err != nil {
		return nil, wrapped(name, err)
	}
	if opt != nil && opt.ColumnUnits != nil {
		of := *opt
		power := big.NewRat(1, 1)
		of.ColumnUnits = nil
		for range degree + 1 {
			of.ColumnUnits = append(of.ColumnUnits, power)
			power = new(big.Rat).Mul(power, opt.ColumnUnits[0])
		}
		opt = &of
	}
	z, err := fitted(name, gallery.Vandermonde(halfulp.FormatOf(format), x, degree+1), y.Matrix(), f, opt)
	if err != nil {
		return nil, err
	}
	if err := z.tested(f, given, func(f halfulp.Format, opt *RegressionOptions) (*Fit, error) { return PolyFit(x, y, degree, f, opt) }); err != nil {
		return nil, err
	}
	return z, nil
}
