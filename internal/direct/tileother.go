//go:build !amd64 || purego

package direct

func machineTiles() *tileUnit { return nil }
