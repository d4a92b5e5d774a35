package interval

import "math/big"

// ExactPrec returns a precision in which the sum of two finite numbers is exact.
func ExactPrec(x, y *big.Float) uint {
	if x.Sign() == 0 || y.Sign() == 0 {
		return max(x.MinPrec(), y.MinPrec(), 1)
	}
	top := max(x.MantExp(nil), y.MantExp(nil)) + 1
	low := min(x.MantExp(nil)-int(x.MinPrec()), y.MantExp(nil)-int(y.MinPrec()))
	return uint(top - low)
}

// ExactMul returns x y exactly.
func ExactMul(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(max(1, x.MinPrec()+y.MinPrec())).Mul(x, y)
}

// ExactAdd returns x + y exactly.
func ExactAdd(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(ExactPrec(x, y)).Add(x, y)
}

// ExactSub returns x - y exactly.
func ExactSub(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(ExactPrec(x, y)).Sub(x, y)
}

// Lowest returns the e for which x is an odd multiple of 2^e; 0 for x = 0.
func Lowest(x *big.Float) int64 {
	if x.Sign() == 0 {
		return 0
	}
	return int64(x.MantExp(nil)) - int64(x.MinPrec())
}
