// Package fixed multiplies matrices of any number of bits by vectors exactly, in fixed point, by
// sums of products of machine words. Residuals of one or a few right-hand sides are computed in
// this way.
package fixed
