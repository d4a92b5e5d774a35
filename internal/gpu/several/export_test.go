package several

// Balance lets results of that order be shared out fairly, until restore is called.
func Balance(order int) (restore func()) {
	was := leastBalanced
	leastBalanced = order
	return func() { leastBalanced = was }
}
