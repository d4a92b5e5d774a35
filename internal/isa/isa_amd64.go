//go:build amd64 && !purego

package isa

import "golang.org/x/sys/cpu"

var (
	levels = detect()
	vnni   = levels[0] >= AVX512 && cpu.X86.HasAVX512VNNI
	ifma   = levels[0] >= AVX512 && cpu.X86.HasAVX512IFMA && cpu.X86.HasAVX512VBMI2
)

// detect lists the levels, best first. It trusts x/sys/cpu, which also asks the operating system
// whether it saves the wide registers.
func detect() []Set {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return []Set{Portable}
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL:
		return []Set{AVX2, Portable}
	}
	if x.HasAVX512VNNI && x.HasAMXTile && x.HasAMXInt8 && permitTiles() {
		return []Set{AMX, AVX512, AVX2, Portable}
	}
	return []Set{AVX512, AVX2, Portable}
}
