//go:build !amd64 || purego

package impl

const (
	best = Portable
	vnni = false
)
