package rational

// WithoutElimination makes routines lift solutions and combine residues for all matrices, until the
// function returned is called.
func WithoutElimination() (restore func()) {
	old := smallOrder
	smallOrder = 0
	return func() { smallOrder = old }
}
