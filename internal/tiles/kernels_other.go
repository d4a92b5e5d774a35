//go:build !amd64 || purego

package tiles

func machineTiles() *Unit { return nil }
