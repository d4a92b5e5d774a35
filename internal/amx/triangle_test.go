package amx

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTriangles compares the programs, of all sums at once and of bands, with the sums that they
// stand for.
func TestTriangles(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	bytes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for trial := range 32 {
		n, kind, number := 1+trial/2, Dot, signed
		if trial%2 != 0 {
			kind, number = DotNatural, unsigned
		}
		a, b, sums := bytes(n*Bytes), bytes(n*Bytes), bytes(n*Bytes)
		want := make([]int32, n*Bytes/4)
		for i := range want {
			want[i] = int32(binary.LittleEndian.Uint32(sums[4*i:]))
		}
		for v := range n {
			for u := range v + 1 {
				for row := range Rows {
					for col := range Rows {
						for k := range RowBytes {
							want[(v*Rows+row)*Rows+col] += int32(number(a[u*Bytes+row*RowBytes+k]) *
								number(b[(v-u)*Bytes+k/4*RowBytes+4*col+k%4]))
						}
					}
				}
			}
		}
		var m Machine
		mem := &Memory{
			At:     map[Reg][]byte{RegA: a, RegB: b, RegC: sums},
			Stride: map[Reg]int{RegRow: RowBytes},
		}
		config := Config()
		mem.At[RegConfig] = config[:]
		m.Run(Begin(), mem)
		banded := slices.Clone(sums)
		runBands(&m, n, kind, a, b, banded)
		check := func(what string, sums []byte) {
			for i, w := range want {
				if got := int32(binary.LittleEndian.Uint32(sums[4*i:])); got != w {
					t.Fatalf("%s: %d blocks, products %d: sum %d is %d, want %d", what, n, kind, i, got, w)
				}
			}
		}
		check("bands", banded)
		if n <= MaxTriangle {
			p := NewTriangle(n, kind)
			m.Run(p.Load, mem)
			m.Run(p.Step, mem)
			m.Run(p.Store, mem)
			check("triangle", sums)
		}
	}
}
