// Package blocks eliminates matrices by blocks. A block B consists of the columns that float64
// factors still resolve. Float64 factors and steps of Newton's method invert B, and products
// compute the Schur complement
//
//	S = D - C B^-1 A,    det F = det B det S,
//
// in as many bits as the condition number takes, until the remainder is a single block. The
// distance of F from the product of the factors is bounded by the errors of the blocks' inverses
// and by the rounding of products. This bound proves determinants, and inverses for solutions with
// few right-hand sides. The package replaces package digits for large orders, on machines without
// the instructions that digits need, and for numbers of too wide a range for fixed point.
package blocks
