package rational

// WithoutElimination makes routines lift solutions and combine residues for all matrices, until the
// function returned is called.
func WithoutElimination() (restore func()) {
	small, direct := smallOrder, directOrder
	smallOrder, directOrder = 0, 0
	return func() { smallOrder, directOrder = small, direct }
}
