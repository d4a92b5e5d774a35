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
	"generic":    {0.75},
}

func costOf(k *modgemm.Kernel) kernelCost { return kernelCosts[k.Name] }

// smallProduct is the cost of a product, in ns by exactCost, below which looking for
// a better way costs more than it can save.
const smallProduct = 30000

// exactCost is the cost of a multiply-add of p-bit numbers into an exact
// accumulator, in ns on one thread.
func exactCost(p float64) float64 {
	limbs := float64(int(p+63) / 64)
	return 10 + 12*limbs + 1.6*limbs*limbs
}
