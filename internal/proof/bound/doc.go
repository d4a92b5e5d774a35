// Package bound holds what is proved of numbers that are not known exactly: upper bounds of
// matrices and of their products, which are rounded up, and numbers with an error, which are
// rounded to a format if both ends of what is known of them round to the same bits (Ziv, Fast
// evaluation of elementary mathematical functions with correctly rounded last bit, 1991).
package bound
