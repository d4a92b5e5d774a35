//go:build (!amd64 && !arm64) || purego

package impl

var levels = []Set{Portable}

const vnni, ifma = false, false
