//go:build arm64 && !purego

package isa

// levels are those of every arm64 processor, best first.
var levels = []Set{NEON, Portable}

const vnni, ifma = false, false
