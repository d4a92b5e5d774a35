// Package blocks eliminates matrices by blocks: the part of a block's columns that float64 factors
// still see is inverted by them and by steps of Newton's method, and products make the Schur
// complement
//
//	S = D - C B^-1 A,    det F = det B det S,
//
// in as many bits as the condition number takes, until what is left is no more than one block. How
// far the factors are off F is bounded by how far each inverse of a block is off and by what
// products round; that proves determinants, and inverses for solutions with few right-hand sides.
// It takes the place of package digits for large orders, on machines whose instructions that needs
// are missing, and for numbers that differ by too much for fixed point.
package blocks
