package newton

// LongSlices gives matrices of any order slices of as many columns as there may be, until restore
// is called.
func LongSlices() (restore func()) {
	was := shortSlices
	shortSlices = 0
	return func() { shortSlices = was }
}
