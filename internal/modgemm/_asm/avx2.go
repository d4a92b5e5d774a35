package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var ymm = [16]VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}

// avx2 fills the 16 registers: 6 x 2 accumulators, the 2 vectors of B, a word of A on all
// lanes, and one product.
//
// Zen 3 starts 2 VPMADDWD and 2 VPADDD a cycle if they are independent, but where the sums
// need the products it was measured to reach 6/7 of that at most, with eight registers
// for products in flight; in this loop it reaches 81 %, and tiles of 3 x 3 or 3 x 2, other
// orders of the products and sums, operands of B in memory, prefetches of A, and no-operations
// between them changed that by -1 to +3 %. BenchmarkModTiles measures the whole.
func avx2(k constants) *machine {
	return &machine{
		constants: k, suffix: "AVX2", mr: 6, nv: 2, lanes: 8,
		vec: func(i int) VecPhysical { return ymm[i] },
		xor: func(dst VecPhysical) { VPXOR(dst, dst, dst) },
		madd: func(m *machine, a, b Register, pair int) {
			b0, b1, x, y := m.temp(0), m.temp(1), m.temp(2), m.temp(3)
			VMOVDQU(Mem{Base: b, Disp: 64 * pair}, b0)
			VMOVDQU(Mem{Base: b, Disp: 64*pair + 32}, b1)
			for r := 0; r < m.mr; r++ {
				VPBROADCASTD(Mem{Base: a, Disp: 4*m.mr*pair + 4*r}, x)
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
				VPAND(m.lowBits, x, x)
				VPMADDWD(vStep, high, high)
				VPADDD(high, x, x)
			}
		},
		loadC: func(m *machine, row []VecPhysical, src Mem) {
			for v, acc := range row {
				VPMOVSXWD(src.Offset(16*v), acc)
			}
		},
		storeC: func(m *machine, row []VecPhysical, dst Mem) {
			// VPACKSSDW works in 128-bit halves: columns 0-3, 8-11, 4-7, 12-15.
			x := m.temp(0)
			VPACKSSDW(row[1], row[0], x)
			VPERMQ(U8(0xd8), x, x)
			VMOVDQU(x, dst)
		},
		combine: func(m *machine, rows [3]VecPhysical, dst Mem, accumulate bool) {
			sum, x := m.temp(0), m.temp(1)
			for half := 0; half < 2; half++ {
				d := dst.Offset(32 * half)
				for i, p := range rows {
					if half == 1 {
						VEXTRACTI128(U8(1), p, p.AsX())
					}
					to := x
					if i == 0 {
						to = sum
					}
					VPMOVSXDQ(p.AsX(), to)
					if i > 0 {
						VPSLLQ(U8(digitBits*i), x, x)
						VPADDQ(x, sum, sum)
					}
				}
				if accumulate {
					VPADDQ(d, sum, sum)
				}
				VMOVDQU(sum, d)
			}
		},
		interleave: func(m *machine, lo Mem, hi *Mem, dst Mem) {
			x, y := m.temp(0), m.temp(1)
			VPMOVZXWD(lo, x)
			if hi != nil {
				VPMOVZXWD(*hi, y)
				VPSLLD(U8(16), y, y)
				VPOR(y, x, x)
			}
			VMOVDQU(x, dst)
		},
	}
}
