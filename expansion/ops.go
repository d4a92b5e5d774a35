package expansion

import "math"

// ops are the primitives of functions in one format. They work on lanes 0 to n-1 of blocks of
// finite numbers, in the order of operations of the scalars, so that every implementation gives the
// same bits. They may also write lanes from n up to the next multiple of 16. A result may be one of
// the operands.
type ops struct {
	add, sub, mul, div func(z, x, y *block, n int)
	sqrt               func(z, x *block, n int)
	addFloat, mulFloat func(z, x *block, y *row, n int) // z = x + y, z = x y

	// horner sets z = z x + c, for each c in turn; x is not z.
	horner func(z, x *block, c []QD, n int)
}

// An arithmetic holds the primitives of 1, 2, 3 and 4 words, at index w. One word has horner only,
// by fused multiply-adds.
type arithmetic [5]ops

var portable = arithmetic{
	1: {horner: hornerFloats},
	2: {
		add: addBlocksDD, sub: subBlocksDD, mul: mulBlocksDD, div: divBlocksDD, sqrt: sqrtBlocksDD,
		addFloat: addFloatsDD, mulFloat: mulFloatsDD, horner: hornerDD,
	},
	3: {
		add: addBlocksTD, sub: subBlocksTD, mul: mulBlocksTD, div: divBlocksTD, sqrt: sqrtBlocksTD,
		addFloat: addFloatsTD, mulFloat: mulFloatsTD, horner: hornerTD,
	},
	4: {
		add: addBlocksQD, sub: subBlocksQD, mul: mulBlocksQD, div: divBlocksQD, sqrt: sqrtBlocksQD,
		addFloat: addFloatsQD, mulFloat: mulFloatsQD, horner: hornerQD,
	},
}

func addBlocksDD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i] = addDD(x[0][i], x[1][i], y[0][i], y[1][i])
	}
}

func subBlocksDD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i] = addDD(x[0][i], x[1][i], -y[0][i], -y[1][i])
	}
}

func mulBlocksDD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i] = mulDD(x[0][i], x[1][i], y[0][i], y[1][i])
	}
}

func divBlocksDD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i] = divDD(x[0][i], x[1][i], y[0][i], y[1][i])
	}
}

func sqrtBlocksDD(z, x *block, n int) {
	for i := range n {
		z[0][i], z[1][i] = sqrtDD(x[0][i], x[1][i])
	}
}

func addFloatsDD(z, x *block, y *row, n int) {
	for i := range n {
		z[0][i], z[1][i] = addFloatDD(x[0][i], x[1][i], y[i])
	}
}

func mulFloatsDD(z, x *block, y *row, n int) {
	for i := range n {
		z[0][i], z[1][i] = mulFloatDD(x[0][i], x[1][i], y[i])
	}
}

func hornerDD(z, x *block, c []QD, n int) {
	for i := range n {
		s0, s1 := z[0][i], z[1][i]
		t0, t1 := x[0][i], x[1][i]
		for j := range c {
			a := &c[j]
			s0, s1 = mulDD(s0, s1, t0, t1)
			s0, s1 = addDD(s0, s1, a[0], a[1])
		}
		z[0][i], z[1][i] = s0, s1
	}
}

func addBlocksTD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i] = addTD(x[0][i], x[1][i], x[2][i], y[0][i], y[1][i], y[2][i])
	}
}

func subBlocksTD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i] = addTD(x[0][i], x[1][i], x[2][i], -y[0][i], -y[1][i], -y[2][i])
	}
}

func mulBlocksTD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i] = mulTD(x[0][i], x[1][i], x[2][i], y[0][i], y[1][i], y[2][i])
	}
}

func divBlocksTD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i] = divTD(x[0][i], x[1][i], x[2][i], y[0][i], y[1][i], y[2][i])
	}
}

func sqrtBlocksTD(z, x *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i] = sqrtTD(x[0][i], x[1][i], x[2][i])
	}
}

func addFloatsTD(z, x *block, y *row, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i] = addFloatTD(x[0][i], x[1][i], x[2][i], y[i])
	}
}

func mulFloatsTD(z, x *block, y *row, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i] = mulFloatTD(x[0][i], x[1][i], x[2][i], y[i])
	}
}

func hornerTD(z, x *block, c []QD, n int) {
	for i := range n {
		s0, s1, s2 := z[0][i], z[1][i], z[2][i]
		t0, t1, t2 := x[0][i], x[1][i], x[2][i]
		for j := range c {
			a := &c[j]
			s0, s1, s2 = mulTD(s0, s1, s2, t0, t1, t2)
			s0, s1, s2 = addTD(s0, s1, s2, a[0], a[1], a[2])
		}
		z[0][i], z[1][i], z[2][i] = s0, s1, s2
	}
}

func addBlocksQD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i], z[3][i] = addQD(x[0][i], x[1][i], x[2][i], x[3][i], y[0][i], y[1][i], y[2][i], y[3][i])
	}
}

func subBlocksQD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i], z[3][i] = addQD(x[0][i], x[1][i], x[2][i], x[3][i], -y[0][i], -y[1][i], -y[2][i], -y[3][i])
	}
}

func mulBlocksQD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i], z[3][i] = mulQD(x[0][i], x[1][i], x[2][i], x[3][i], y[0][i], y[1][i], y[2][i], y[3][i])
	}
}

func divBlocksQD(z, x, y *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i], z[3][i] = divQD(x[0][i], x[1][i], x[2][i], x[3][i], y[0][i], y[1][i], y[2][i], y[3][i])
	}
}

func sqrtBlocksQD(z, x *block, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i], z[3][i] = sqrtQD(x[0][i], x[1][i], x[2][i], x[3][i])
	}
}

func addFloatsQD(z, x *block, y *row, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i], z[3][i] = addFloatQD(x[0][i], x[1][i], x[2][i], x[3][i], y[i])
	}
}

func mulFloatsQD(z, x *block, y *row, n int) {
	for i := range n {
		z[0][i], z[1][i], z[2][i], z[3][i] = mulFloatQD(x[0][i], x[1][i], x[2][i], x[3][i], y[i])
	}
}

func hornerQD(z, x *block, c []QD, n int) {
	for i := range n {
		s0, s1, s2, s3 := z[0][i], z[1][i], z[2][i], z[3][i]
		t0, t1, t2, t3 := x[0][i], x[1][i], x[2][i], x[3][i]
		for j := range c {
			a := &c[j]
			s0, s1, s2, s3 = mulQD(s0, s1, s2, s3, t0, t1, t2, t3)
			s0, s1, s2, s3 = addQD(s0, s1, s2, s3, a[0], a[1], a[2], a[3])
		}
		z[0][i], z[1][i], z[2][i], z[3][i] = s0, s1, s2, s3
	}
}

func hornerFloats(z, x *block, c []QD, n int) {
	for i := range n {
		s, t := z[0][i], x[0][i]
		for j := range c {
			s = math.FMA(s, t, c[j][0])
		}
		z[0][i] = s
	}
}

// A polynomial is Σ c_j x^(d-j), for j from 0 to d = len(c) - 1, for functions of one number of
// words w. High terms need fewer words: coefficients up to but not including ends[v] are added in
// at most v words; ends[w] is len(c).
type polynomial struct {
	c    []QD
	ends [5]int
}

// evaluate sets z = p(x) in w words, by Horner's rule with as many words as needed; z is not x.
func (a *arithmetic) evaluate(z, x *block, p *polynomial, w, n int) {
	z.fill(&p.c[0], 1, n)
	from := 1
	for v := 1; v <= w; v++ {
		a[v].horner(z, x, p.c[from:p.ends[v]], n)
		from = p.ends[v]
		if v < w {
			clear(z[v][:n])
		}
	}
}
