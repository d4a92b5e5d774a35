//go:build !amd64 || purego

package symeig

// best returns the fastest kernel.
func best() *kernel { return generic }
