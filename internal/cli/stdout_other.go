//go:build !linux

package cli

// stdoutClosed is not known here.
func stdoutClosed() bool { return false }
