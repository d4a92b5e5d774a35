// Package fixed multiplies matrices of any bits by vectors exactly, in fixed point: residuals of
// one or few right-hand sides are sums of products of machine words.
package fixed
