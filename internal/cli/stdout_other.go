//go:build !linux

package cli

// stdoutClosed cannot be determined on this system.
func stdoutClosed() bool { return false }
