package exact

import "github.com/halfulp/halfulp/internal/modgemm"

// kernelCost is what the work of a kernel costs, in ns on one thread. The figures
// steer choices between correctly rounded ways and cannot change a result;
// halfulp tune measures them.
type kernelCost struct {
	product float64 // a multiply-add of residues
}

var kernelCosts = map[string]kernelCost{
	"avx512vnni": {0.0070},
	"avx512":     {0.0120},
	"avx2":       {0.0142},
	// Not measured, but derived: 53 instructions of NEON do what 32.7 of AVX2 do, 192 multiply-adds
	// (_asm of modgemm), and an instruction takes as long.
	"neon":    {0.0142 * 53 / 32.7},
	"generic": {0.75},
}

// What products of bytes cost on tiles, in ns on one thread: a multiply-add, an entry of the result
// each time that one is reduced; a byte of a number of an operand modulo a plain modulus, and that
// for every pair of its digits; and what a Karatsuba modulus takes besides a residue of 13 bits.
// BenchmarkResidues measures the last three.
const (
	byteProductCost = 0.0007
	byteEntryCost   = 1.0
	byteResidueCost = 0.08
	bytePairCost    = 0.022
	byteSplitCost   = 0.4
)

// ByteCost returns what a multiply-add of bytes costs on tiles, in ns on one thread, in a product
// of n x n matrices.
func ByteCost(n int) float64 {
	size := padded(n, modgemm.PanelVectors)
	sum := byteEntryCost + padded(n, modgemm.StepNumbers)*byteProductCost // may fuse: an estimate
	return size * size * sum / (float64(n) * float64(n) * float64(n))
}

// KernelCost returns what a multiply-add of residues costs in a kernel, in ns on one thread.
func KernelCost(k *modgemm.Kernel) float64 { return kernelCosts[k.Name].product }
