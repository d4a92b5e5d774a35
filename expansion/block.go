package expansion

// lanes is the number of expansions in a block.
const lanes = 64

// A row is one float64 of each lane.
type row [lanes]float64

// A block holds lanes expansions word by word: b[k][i] is word k of lane i. Arithmetic of w
// words reads and writes b[:w] alone.
type block [4]row

func (r *row) fill(x float64, n int) {
	for i := range r[:n] {
		r[i] = x
	}
}

// fill sets w words of n lanes of b to x.
func (b *block) fill(x *QD, w, n int) {
	for k := range w {
		b[k].fill(x[k], n)
	}
}

// gather sets w words of n lanes of b to table[index[i]].
func (b *block) gather(table []QD, index *[lanes]int32, w, n int) {
	for i, j := range index[:n] {
		t := &table[j]
		b[0][i], b[1][i] = t[0], t[1]
		if w > 2 {
			b[2][i] = t[2]
		}
		if w > 3 {
			b[3][i] = t[3]
		}
	}
}
