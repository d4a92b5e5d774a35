package rational

// WithoutElimination makes routines lift solutions and combine residues for all matrices, until the
// function returned is called.
func WithoutElimination() (restore func()) {
	small, direct, long, word := smallOrder, directOrder, directOrderLong, wordOrder
	smallOrder, directOrder, directOrderLong, wordOrder = 0, 0, 0, -1
	return func() { smallOrder, directOrder, directOrderLong, wordOrder = small, direct, long, word }
}
