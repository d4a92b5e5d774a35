//go:build !linux && !purego

package isa

// permitTiles reports whether the system lets this process use tiles: those that are not Linux are
// not asked.
func permitTiles() bool { return false }
