package amx

// Sums of many blocks of a Triangle are taken three blocks at a time, a band: a loop over the
// blocks of A, which are loaded once, as those of B are, for three products. Sum first+i takes the
// product of block u of A and block r+i of B, where r = first-u goes down from first to -2 and
// blocks of B below 0 do not count. Block j of B lies in tile 3 + j mod 3, and block u of A in tile
// 6 + r mod 2: so a step of the loop depends on r mod 6 alone.
//
// The first band may begin at sum -1 or -2, so that the last one ends with the last sum. The sums
// before 0 are neither loaded nor stored.
const (
	// BandSums is the sums of a band.
	BandSums = 3
	// BandPeriod is the number of steps after which a step has the same tiles again. After those
	// of one period RegA goes up by BandPeriod blocks, and RegB goes down.
	BandPeriod = 6
	// LastStep is the r of the last step of each band.
	LastStep = 1 - BandSums
)

// FirstBand returns the first sum of the first band, of n sums.
func FirstBand(n int) int { return n - (n+BandSums-1)/BandSums*BandSums }

// Where RegA and RegB point in the step of r = BandPeriod q + p, which for r < 0 has q = 0, so that
// displacements are not negative: RegA to BandPeriod - 1 - p blocks before that of the step, RegB
// to the block before block BandPeriod q.
func bandA(p int) int32 { return int32((BandPeriod - 1 - p) * Bytes) }
func bandB(i int) int32 { return int32((i + 1) * Bytes) }

func bandTileA(p int) int { return 6 + p&1 }
func bandTileB(i int) int { return 3 + (i+BandSums)%BandSums }

// BandSum loads or stores sum i of a band, the first of which is at RegC.
func BandSum(kind Kind, i int) Op {
	return Op{Kind: kind, T: i, Base: RegC, Stride: RegRow, Disp: int32(i * Bytes)}
}

// BandEnter loads the blocks of the first step, of r = BandPeriod q + p or r = p < 0.
func BandEnter(p int) []Op {
	var ops []Op
	for i := BandSums - 1; i >= max(0, -p); i-- {
		ops = append(ops, load(bandTileB(p+i), RegB, RegRow, bandB(p+i)))
		if len(ops) == 1 {
			ops = append(ops, load(bandTileA(p), RegA, RegRow, bandA(p)))
		}
	}
	return ops
}

// BandStep adds the products of the step of r = BandPeriod q + p or r = p < 0. Tiles are cleared
// and loaded as in Right.Next. more says that r > 0: there is another block of B.
func BandStep(dot Kind, p int, more bool) []Op {
	var ops []Op
	a, next := bandTileA(p), bandTileA(p-1)
	for i := BandSums - 1; i >= max(0, -p); i-- {
		b := bandTileB(p + i)
		ops = append(ops, Op{Kind: dot, T: i, A: a, B: b})
		switch i {
		case 2:
			ops = append(ops, Op{Kind: Zero, T: b})
			if p > LastStep {
				ops = append(ops, load(next, RegA, RegRow, bandA(p-1)))
			}
		case 1:
			if more {
				ops = append(ops, load(bandTileB(p-1), RegB, RegRow, bandB(p-1)))
			}
		}
	}
	return append(ops, Op{Kind: Zero, T: a})
}
