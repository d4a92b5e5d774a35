//go:build arm64 && !purego

package isa

// levels lists the levels of every arm64 processor, best first.
var levels = []Set{NEON, Portable}

const vnni, ifma = false, false
