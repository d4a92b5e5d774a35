// Package interval computes with intervals of real numbers, and exactly with numbers of math/big.
//
// Ends are rounded outwards, so that the result of an operation contains the results for all
// numbers of its operands. Ends may differ in size as much as numbers of math/big can: if an exact
// sum would need all bits between two numbers far apart, the smaller number is replaced by a bound,
// a power of two.
package interval
