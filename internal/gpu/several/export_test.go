package several

// Balance lets results of that order be shared out fairly, until restore is called.
func Balance(order int) (restore func()) {
	was := leastBalanced
	leastBalanced = order
	return func() { leastBalanced = was }
}

// Share lets all GPUs make approximate inverses from that order on, until restore is called.
func Share(from int) (restore func()) {
	was := sharedFrom
	sharedFrom = from
	return func() { sharedFrom = was }
}
