//go:build !race

package testlength

// Race reports whether the race detector watches: tests are an order of magnitude slower, and
// arithmetic alone is not what it looks for.
const Race = false
