package modgemm

import (
	"fmt"
	"strings"

	"github.com/halfulp/halfulp/internal/isa"
)

// A Kernel multiplies matrices of small integers on one kind of machine. It has functions
// for one tile of the result, and their tile and block sizes. All kernels give the same
// bits.
type Kernel struct {
	Name string
	// MR and NR are the rows and columns of a tile, hence of left and right panels.
	// MR is a multiple of 3.
	MR, NR int
	// MaxModulus is the largest modulus; residues are within MaxModulus/2.
	MaxModulus int
	// ResiduePairs and DigitPairs are the numbers of pairs of k between two reductions if
	// the right operand holds residues, and if it holds any int16.
	ResiduePairs, DigitPairs int

	needs     isa.Set
	needsVNNI bool

	// Cache blocks: kc pairs, a multiple of ResiduePairs, so that a panel of B takes about
	// half of a first level cache of 32 or 48 KiB, and mc panels of A, that take half of a
	// second level cache of 512 KiB. BenchmarkMul measures them.
	kc, mc int

	// generic.go defines what these functions compute. panels and planes are at least 1.
	modTiles     func(c []int16, ldc int, a []int16, aStride int, b []int16, panels, kPairs, block int, mod []int32, inv []float32, step []int32, modStep int, accumulate bool)
	combineTiles func(out []int64, ldo int, a []int16, aStride int, b []int16, panels, kPairs int, accumulate bool)
	packPlanes   func(dst, src []int16, planeStride, planes int)
	digits       func(dst []int16, pairs, panel int, src []float64, stride int, base []int64, step, groups int)
	wordDigits   func(dst []int16, pairs, panel int, src []uint64, limbs int, numbers []WordGroup)
	// wordRows, twoWordRows, transposeRows and wordScan are nil if wordDigits is faster.
	wordRows      func(dst *uint64, step, words int, sig *uint64, limbs int, exp *int32, cls *uint8, stride int, base *int64, baseStep, count, ahead int)
	twoWordRows   func(dst *uint64, places *int64, next int, sig *uint64, exp *int32, cls *uint8, base *int64, baseStep, count, ahead int)
	wordScan      func(most, sum *float64, low *int64, sig *uint64, limbs int, exp *int32, cls *uint8, stride, vectors, columns, ahead int) int
	transposeRows func(dst *int16, pairs int, rows *uint64, words, panels int)
	floatScan     func(most, sum []float64, low []uint64, src []float64, stride, columns int)
	transpose     func(dst []float64, dstStride int, src []float64, srcStride, rows, columns int)
}

func (k *Kernel) available() bool {
	return k.needs <= isa.Level() && (!k.needsVNNI || isa.HasVNNI())
}

// Kernels returns the kernels that this machine can run at the level in force
// (isa.Level), best first. The last is "generic".
func Kernels() []*Kernel {
	var ks []*Kernel
	for _, k := range kernels {
		if k.available() {
			ks = append(ks, k)
		}
	}
	return ks
}

// Best returns the first of Kernels.
func Best() *Kernel { return Kernels()[0] }

// Lookup returns the kernel of the given name. The error states whether no such kernel
// exists, or the machine does not support it at the level in force.
func Lookup(name string) (*Kernel, error) {
	var names []string
	for _, k := range kernels {
		if k.Name != name {
			names = append(names, k.Name)
			continue
		}
		if !k.available() {
			return nil, fmt.Errorf("modgemm: kernel %q is not available at level %q on this machine", name, isa.Level())
		}
		return k, nil
	}
	return nil, fmt.Errorf("modgemm: unknown kernel %q: want one of %s", name, strings.Join(names, ", "))
}
