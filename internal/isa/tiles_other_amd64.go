//go:build !linux && !purego

package isa

// permitTiles reports whether the system lets this process use tiles. Only Linux is supported.
func permitTiles() bool { return false }
