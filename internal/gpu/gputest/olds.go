package gputest

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// refOlds is olds of kernels/exact/olds.cu.
func refOlds(l *fake.Launch, a abi.Adding) {
	expL, expR := fake.Slice[int64](l, a.ExpL, int(a.M)), fake.Slice[int64](l, a.ExpR, int(a.N))
	constants := fake.Slice[uint32](l, a.Moduli, int(a.Plain+a.Karatsuba)*abi.OldConstants)
	for j := range int(a.N) {
		for i := range int(a.M) {
			gi, gj := int(a.I0)+i, int(a.J0)+j
			if a.Triangle == 'U' && gi > gj || a.Triangle == 'L' && gi < gj {
				continue
			}
			at := int(a.Off) + gi*int(a.RS) + gj*int(a.CS)
			r := arrayOf(l, a.Old, 0, at+1).Value(at, make([]uint64, num.MaxValueWords))
			if r.Class > num.Finite {
				leave(l, a.Failed, gi, gj)
			}
			if r.Class != num.Finite {
				continue
			}
			x := new(big.Int)
			for k := len(r.Mag) - 1; k >= 0; k-- {
				x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Mag[k]))
			}
			if shift := r.Exp + a.Exp - expL[i] - expR[j]; shift >= 0 {
				x.Lsh(x, uint(shift))
			} else {
				x.Rsh(x, uint(-shift))
			}
			if r.Neg != (a.Neg != 0) {
				x.Neg(x)
			}
			to := int64(j)*a.LD + int64(i)
			for t := range int(a.Plain + a.Karatsuba) {
				m, inverse := big.NewInt(int64(constants[t*abi.OldConstants])), big.NewInt(int64(constants[t*abi.OldConstants+2]))
				add := func(y int64) int64 {
					z := new(big.Int).Mul(x, inverse)
					return z.Mod(z.Add(z, big.NewInt(y)), m).Int64()
				}
				if t < int(a.Plain) {
					y := &fake.Slice[uint8](l, a.Y+cuda.Pointer(int64(t)*a.Stride+to), 1)[0]
					*y = uint8(add(int64(*y)))
					continue
				}
				y := &fake.Slice[uint16](l, a.Wide+cuda.Pointer(2*(int64(t-int(a.Plain))*a.Stride+to)), 1)[0]
				*y = uint16(add(int64(*y)))
			}
		}
	}
}
