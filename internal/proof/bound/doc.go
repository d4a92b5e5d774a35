// Package bound computes with numbers that are not known exactly: upper bounds of matrices and of
// their products, which are rounded up, and numbers with error bounds. Such a number is rounded to
// a format if both ends of its enclosure round to the same bits (Ziv, Fast evaluation of elementary
// mathematical functions with correctly rounded last bit, 1991).
package bound
