package expansion

import "math"

// ops are the primitives that functions are made of, in one format: on lanes 0 to n-1 of
// blocks, of finite numbers, all in the order of operations of the scalars, so that every
// implementation gives the same bits. They may also write lanes from n up to the next
// multiple of 8. A result may be one of the operands.
type ops struct {
	add, sub, mul, div func(z, x, y *block, n int)
	sqrt               func(z, x *block, n int)
	addFloat, mulFloat func(z, x *block, d *row, n int) // z = x + d, z = x d

	// horner sets z = z x + c, for each c in turn; x is not z.
	horner func(z, x *block, c []QD, n int)
}

// An arithmetic holds the primitives of 1, 2, 3 and 4 words, at index w. Those of one word
// have horner only, by fused multiply-adds.
type arithmetic [5]ops

var portable = arithmetic{
	1: {horner: horner1},
	2: portableOps(addDD, subDD, mulDD, divDD, sqrtDD),
	3: portableOps(addTD, subTD, mulTD, divTD, sqrtTD),
	4: portableOps(addQD, subQD, mulQD, divQD, sqrtQD),
}

func portableOps[E words](add, sub, mul, div func(x, y E) E, sqrt func(x E) E) ops {
	binary := func(f func(x, y E) E) func(z, x, y *block, n int) {
		return func(z, x, y *block, n int) {
			for i := range n {
				setLane(z, i, f(lane[E](x, i), lane[E](y, i)))
			}
		}
	}
	float := func(f func(x, y E) E) func(z, x *block, d *row, n int) {
		return func(z, x *block, d *row, n int) {
			for i := range n {
				setLane(z, i, f(lane[E](x, i), E{d[i]}))
			}
		}
	}
	return ops{
		add: binary(add), sub: binary(sub), mul: binary(mul), div: binary(div),
		sqrt: func(z, x *block, n int) {
			for i := range n {
				setLane(z, i, sqrt(lane[E](x, i)))
			}
		},
		addFloat: float(add), mulFloat: float(mul),
		horner: func(z, x *block, c []QD, n int) {
			for i := range n {
				s, t := lane[E](z, i), lane[E](x, i)
				for j := range c {
					var a E
					for k := range len(a) {
						a[k] = c[j][k]
					}
					s = add(mul(s, t), a)
				}
				setLane(z, i, s)
			}
		},
	}
}

func horner1(z, x *block, c []QD, n int) {
	for i := range n {
		s, t := z[0][i], x[0][i]
		for j := range c {
			s = math.FMA(s, t, c[j][0])
		}
		z[0][i] = s
	}
}

// A polynomial is Σ c_j x^(d-j), for j from 0 to d = len(c) - 1, for functions of one number
// of words w. High terms need fewer: coefficients up to but not including ends[v] are added
// in at most v words, ends[w] is len(c).
type polynomial struct {
	c    []QD
	ends [5]int
}

// evaluate sets z = p(x) in w words, by Horner's rule with words as needed; z is not x.
func (a *arithmetic) evaluate(z, x *block, p *polynomial, w, n int) {
	z.fill(p.c[0], 1, n)
	from := 1
	for v := 1; v <= w; v++ {
		a[v].horner(z, x, p.c[from:p.ends[v]], n)
		from = p.ends[v]
		if v < w {
			z.widen(v, v+1, n)
		}
	}
}
