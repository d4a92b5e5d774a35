package amx

// runBands adds up products as the loops over bands do that generators write.
func runBands(m *Machine, n int, dot Kind, a, b, sums []byte) {
	// What pointers point to before the blocks.
	a = append(make([]byte, (BandPeriod+1)*Bytes), a...)
	b = append(make([]byte, Bytes), b...)
	sumsAt := append(make([]byte, 2*Bytes), sums...)
	for first := FirstBand(n); first < n; first += BandSums {
		p, turns := first, 0
		if first >= 0 {
			p, turns = first%BandPeriod, first/BandPeriod
		}
		mem := &Memory{
			At:     map[Reg][]byte{RegA: a[(2+p)*Bytes:], RegB: b[BandPeriod*turns*Bytes:], RegC: sumsAt[(2+first)*Bytes:]},
			Stride: map[Reg]int{RegRow: RowBytes},
		}
		for i := max(0, -first); i < BandSums; i++ {
			m.Run([]Op{BandSum(Load, i)}, mem)
		}
		m.Run(BandEnter(p), mem)
		for ; p > 0 || turns > 0; p-- {
			m.Run(BandStep(dot, p, true), mem)
			if p == 0 {
				p = BandPeriod
				turns--
				mem.At[RegA] = mem.At[RegA][BandPeriod*Bytes:]
				mem.At[RegB] = b[BandPeriod*turns*Bytes:]
			}
		}
		for ; p >= LastStep; p-- {
			m.Run(BandStep(dot, p, false), mem)
		}
		for i := max(0, -first); i < BandSums; i++ {
			m.Run([]Op{BandSum(Store, i)}, mem)
		}
	}
	copy(sums, sumsAt[2*Bytes:])
}
