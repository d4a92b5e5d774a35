//go:build !race

package testlength

// Race reports whether the race detector watches.
const Race = false
