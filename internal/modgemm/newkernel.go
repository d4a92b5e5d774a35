// # How to add a kernel
//
// A kernel multiplies matrices of small integers exactly with the instructions of one machine. All
// kernels give the same bits.
//
//  1. generic.go holds the reference loops, whose results every kernel must reproduce. Prove in
//     bounds.go that no sum leaves its range for the longest blocks that the kernel gets.
//  2. Generate assembly in _asm, a separate module, with avo for amd64 and with internal/_neon for
//     arm64, and add the go:generate line to modgemm.go. "make generate" writes the .s file and the
//     stubs; commit them. Go's assembler lacks most vector instructions of arm64: internal/_neon
//     writes them as words. A new instruction needs a line in its table and two examples in its
//     test.
//  3. Add an entry to the table of the architecture, kernels_amd64.go or kernels_arm64.go, best
//     kernel first: the tile, the instructions it needs, its cache blocks. A new architecture gets
//     a table of its own and is excluded by the build tags of kernels_portable.go. A new
//     instruction set becomes a level or a feature in internal/isa.
//  4. Nothing else changes: the tests run under every kernel of the machine and compare it with the
//     generic one. "HALFULP_WANT_KERNELS=avx2,generic go test -v -run TestKernels" fails on a
//     machine that lacks one of the named kernels.
//  5. Measure the cost by "make tune" and "go test -run '^$' -bench 'ModTiles|Mul'", and enter it
//     in internal/residue/cost.go. Without such a machine, derive the cost from instruction counts
//     and say so in a comment.
//
// The kernels of internal/direct, internal/superacc, internal/lanes, internal/tiles, internal/sgemm
// and rns follow the same pattern. The kernels of package expansion come from a compiler:
// expansion/_asm reads the portable Go functions (addQD, QD.Add, macQD), evaluates them
// symbolically and schedules several vectors side by side. A change of these Go functions changes
// the definition of the arithmetic, and "make generate" carries it into the assembly. The compiler
// accepts straight-line Go only: float64, arrays, constant loops, comparisons, math.FMA and
// math.Sqrt.
package modgemm
