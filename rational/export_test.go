package rational

import "math/big"

// SetWordOrder sets the order up to which integers of one and two words are eliminated, until the
// function returned is called.
func SetWordOrder(n int) (restore func()) {
	before := wordOrder
	wordOrder = n
	return func() { wordOrder = before }
}

// SetHalvedBits sets the bits from which numbers are halved, until the function returned is called.
func SetHalvedBits(n int) (restore func()) {
	before := halvedBits
	halvedBits = n
	return func() { halvedBits = before }
}

// Denominator is the function denominator.
func Denominator(x, q *big.Int) *big.Int { return denominator(x, q) }

// WithoutElimination makes routines lift solutions and combine residues for all matrices, until the
// function returned is called.
func WithoutElimination() (restore func()) {
	small, direct, long, word := smallOrder, directOrder, directOrderLong, wordOrder
	smallOrder, directOrder, directOrderLong, wordOrder = 0, 0, 0, -1
	return func() { smallOrder, directOrder, directOrderLong, wordOrder = small, direct, long, word }
}
