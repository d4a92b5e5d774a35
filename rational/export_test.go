package rational

// WithoutElimination makes routines lift solutions and combine residues for all matrices, until the
// function returned is called.
func WithoutElimination() (restore func()) {
	small, direct, long := smallOrder, directOrder, directOrderLong
	smallOrder, directOrder, directOrderLong = 0, 0, 0
	return func() { smallOrder, directOrder, directOrderLong = small, direct, long }
}
