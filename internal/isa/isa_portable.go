//go:build (!amd64 && !arm64) || purego

package isa

var levels = []Set{Portable}

const vnni, ifma = false, false
