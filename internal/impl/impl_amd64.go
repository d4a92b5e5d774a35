//go:build amd64 && !purego

package impl

import "golang.org/x/sys/cpu"

var (
	best = detect()
	vnni = best >= AVX512 && cpu.X86.HasAVX512VNNI
)

// detect trusts x/sys/cpu, which also asks the operating system whether it
// saves the wide registers.
func detect() Set {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return Portable
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL:
		return AVX2
	}
	return AVX512
}
