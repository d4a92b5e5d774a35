// Package interval computes with intervals of real numbers, and exactly with numbers of math/big.
//
// The ends are rounded outwards, so that the result of an operation holds those of all numbers of
// its operands. They may be as far apart in size as numbers of math/big can be: what would take
// all bits between two of them is bounded by a power of two.
package interval
