package expansion

// lanes is the number of expansions in a block.
const lanes = 64

// A row is one float64 of each lane.
type row [lanes]float64

// A block holds lanes expansions word by word: b[k][i] is word k of lane i. Arithmetic of w
// words reads and writes b[:w] alone.
type block [4]row

// words are the formats of expansions.
type words interface{ DD | TD | QD }

// lane is lane i of b.
func lane[E words](b *block, i int) (x E) {
	for k := range len(x) {
		x[k] = b[k][i]
	}
	return x
}

// setLane sets lane i of b to x.
func setLane[E words](b *block, i int, x E) {
	for k := range len(x) {
		b[k][i] = x[k]
	}
}

// fill sets w words of n lanes of b to x.
func (b *block) fill(x QD, w, n int) {
	for k := range w {
		for i := range b[k][:n] {
			b[k][i] = x[k]
		}
	}
}

// copy sets w words of n lanes of b to those of x.
func (b *block) copy(x *block, w, n int) {
	for k := range w {
		copy(b[k][:n], x[k][:n])
	}
}

// widen zeroes words from up to but not including to, in n lanes.
func (b *block) widen(from, to, n int) {
	for k := from; k < to; k++ {
		clear(b[k][:n])
	}
}

// gather sets w words of n lanes of b to table[index[i]].
func (b *block) gather(table []QD, index *[lanes]int32, w, n int) {
	for i, j := range index[:n] {
		t := &table[j]
		for k := range w {
			b[k][i] = t[k]
		}
	}
}
