//go:build !linux

package hugepage

// Large does nothing here.
func Large[T any]([]T) {}
