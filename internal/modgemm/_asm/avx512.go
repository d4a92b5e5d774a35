package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var zmm = [32]VecPhysical{
	Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
	Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31,
}

// avx512 has 12 x 2 accumulators, the 2 vectors of B, and six more registers.
// A word of A goes to a register first, for its two uses: with operands
// broadcast from memory the 26 loads a pair would outlast the 24 products on
// machines with two 512-bit multipliers and two loads a cycle.
func avx512(vnni bool, k constants) *machine {
	m := &machine{
		constants: k, suffix: "AVX512", mr: 12, nv: 2, lanes: 16,
		vec: func(i int) VecPhysical { return zmm[i] },
		xor: func(dst VecPhysical) { VPXORD(dst, dst, dst) },
		madd: func(m *machine, a, b Register, pair int) {
			b0, b1 := m.temp(0), m.temp(1)
			VMOVDQU32(Mem{Base: b, Disp: 128 * pair}, b0)
			VMOVDQU32(Mem{Base: b, Disp: 128*pair + 64}, b1)
			for r := 0; r < m.mr; r++ {
				x, y := m.temp(2+2*(r%3)), m.temp(3+2*(r%3))
				VPBROADCASTD(Mem{Base: a, Disp: 4*m.mr*pair + 4*r}, x)
				if vnni {
					VPDPWSSD(b0, x, m.acc(r, 0))
					VPDPWSSD(b1, x, m.acc(r, 1))
					continue
				}
				VPMADDWD(b0, x, y)
				VPMADDWD(b1, x, x)
				VPADDD(y, m.acc(r, 0), m.acc(r, 0))
				VPADDD(x, m.acc(r, 1), m.acc(r, 1))
			}
		},
		stepFold: func(m *machine, acc []VecPhysical, step Mem) {
			vStep := m.temp(0)
			VPBROADCASTD(step, vStep)
			for v, x := range acc {
				high := m.temp(2 + v)
				VPSRAD(U8(foldBits), x, high)
				VPANDD(m.lowBits, x, x)
				if vnni {
					VPDPWSSD(vStep, high, x)
					continue
				}
				VPMADDWD(vStep, high, high)
				VPADDD(high, x, x)
			}
		},
		loadC: func(m *machine, row []VecPhysical, src Mem) {
			for v, acc := range row {
				VPMOVSXWD(src.Offset(32*v), acc)
			}
		},
		storeC: func(m *machine, row []VecPhysical, dst Mem) {
			for v, acc := range row {
				VPMOVDW(acc, dst.Offset(32*v))
			}
		},
		combine: func(m *machine, rows [3]VecPhysical, dst Mem, accumulate bool) {
			sum, x := m.temp(0), m.temp(1)
			for half := 0; half < 2; half++ {
				d := dst.Offset(64 * half)
				for i, p := range rows {
					if half == 1 {
						VEXTRACTI64X4(U8(1), p, p.AsY())
					}
					to := x
					if i == 0 {
						to = sum
					}
					VPMOVSXDQ(p.AsY(), to)
					if i > 0 {
						VPSLLQ(U8(digitBits*i), x, x)
						VPADDQ(x, sum, sum)
					}
				}
				if accumulate {
					VPADDQ(d, sum, sum)
				}
				VMOVDQU64(sum, d)
			}
		},
		interleave: func(m *machine, lo Mem, hi *Mem, dst Mem) {
			x, y := m.temp(0), m.temp(1)
			VPMOVZXWD(lo, x)
			if hi != nil {
				VPMOVZXWD(*hi, y)
				VPSLLD(U8(16), y, y)
				VPORD(y, x, x)
			}
			VMOVDQU32(x, dst)
		},
	}
	if vnni {
		m.suffix = "AVX512VNNI"
	}
	return m
}
