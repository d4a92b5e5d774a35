package main

import "math"

// Solve simulates A x = b of order n with one right-hand side: a float64 approximate inverse, its
// proof, which is a product, and refinement by products of matrices with vectors. The factors of
// each are fitted to what one GPU took at n = 1000 and 4096.
func (s System) Solve(n, bits float64) Cost {
	c := s.costs(bits)
	need := n * n / float64(s.GPUs) * (c.bytes + 2*8) // A, the inverse and room for it
	if !s.Unlimited && need > roomShare*s.Memory {
		return Cost{}
	}
	seed := s.eliminate(n, s.seed("solve", bits))
	product := s.product(n, 53)
	a, b := interpolated(bits, func(k int) (float64, float64) {
		return fitted(func(n int) (x, y float64) { return s.gemm[[2]int{n, 53}], s.solver["solve"][[2]int{n, k}].proof })
	})
	proof := a + b*product.Seconds
	a, b = interpolated(bits, func(k int) (float64, float64) {
		return fitted(func(n int) (x, y float64) {
			t := s.solver["solve"][[2]int{n, k}]
			return float64(n) * float64(n), t.products + t.rounding
		})
	})
	const steps = 8 // of refinement, in each of which all GPUs get a vector
	vectors := 0.0
	if s.GPUs > 1 {
		vectors = steps * (n*c.bytes/LinkRate + 2*math.Log2(float64(s.GPUs))*LinkDelay)
	}
	refinement := a + b*n*n/float64(s.GPUs) + vectors
	return Cost{Seconds: seed + proof + refinement, Bytes: product.Bytes, Fits: true}
}

// Cholesky simulates the factor of a matrix of order n: a float64 seed and Newton's method, which
// is some products.
func (s System) Cholesky(n, bits float64) Cost {
	product := s.Gemm(n, bits)
	if !product.Fits {
		return product
	}
	seed := s.eliminate(n, s.seed("chol", bits))
	a, b := interpolated(bits, func(k int) (float64, float64) {
		return fitted(func(n int) (x, y float64) {
			t := s.solver["chol"][[2]int{n, k}]
			return s.gemm[[2]int{n, k}], t.products + t.rounding
		})
	})
	product.Seconds = seed + a + b*product.Seconds
	product.Bytes *= b
	return product
}

// product is a product of doubles beside a larger problem, which has the memory for it in pieces.
func (s System) product(n, bits float64) Cost {
	s.Unlimited = true
	return s.Gemm(n, bits)
}

// solverBits are the solvers' measured precisions.
var solverBits = []int{53, 106, 424, 1696}

// interpolated interpolates fitted factors linearly between solverBits.
func interpolated(bits float64, of func(bits int) (a, b float64)) (a, b float64) {
	for i := 1; i < len(solverBits); i++ {
		lo, hi := float64(solverBits[i-1]), float64(solverBits[i])
		if bits <= hi {
			t := (bits - lo) / (hi - lo)
			a0, b0 := of(solverBits[i-1])
			a1, b1 := of(solverBits[i])
			return (1-t)*a0 + t*a1, (1-t)*b0 + t*b1
		}
	}
	panic("scale: more bits than measured")
}

// fitted fits y = a + b x to the orders small and large.
func fitted(of func(n int) (x, y float64)) (a, b float64) {
	x0, y0 := of(small)
	x1, y1 := of(large)
	return fit(x0, y0, x1, y1)
}

// elimination is what a float64 seed takes: seconds a column for what is done one after the other,
// and seconds for a unit of n^3.
type elimination struct{ column, cube float64 }

// seed fits t = column n + cube n^3 to the measured seeds of an operation.
func (s System) seed(operation string, bits float64) elimination {
	a, b := interpolated(bits, func(k int) (float64, float64) {
		of := func(n int) (x, y float64) {
			return float64(n) * float64(n), s.solver[operation][[2]int{n, k}].seed / float64(n)
		}
		return fitted(of)
	})
	return elimination{a, b}
}

// eliminate simulates the float64 seed, an elimination by panels as in ScaLAPACK: a column of the
// grid factors a panel, which travels along rows, rows of the grid send their part along
// columns, and all GPUs update what they have; the next panel is updated and factored first.
func (s System) eliminate(n float64, e elimination) float64 {
	b := s.build(4)
	steps := max(32, b.rows, b.cols)
	depth := n / float64(steps)
	high, wide := n/float64(b.rows), n/float64(b.cols)
	update := e.cube * n * n * n / float64(s.GPUs*steps)
	// The update of the panel alone, and its columns one after the other; columns that span rows of
	// the grid are agreed on by messages.
	panel := e.column*depth + update*depth/wide
	if b.rows > 1 {
		panel += depth * math.Log2(float64(b.rows)) * PeerDelay
		if b.rows > b.nodeRows {
			panel += depth * math.Log2(float64(b.rows/b.nodeRows)) * LinkDelay
		}
	}
	var previous, arrived []int32
	for k := range steps {
		now := make([]int32, s.GPUs)
		here := make([]int32, s.GPUs) // a task of no length: the panels of the step are here
		for g := range now {
			here[g] = b.add(0)
			now[g] = b.add(update, b.resource(g, stream))
			b.wait(now[g], here[g], false)
			if previous != nil {
				b.wait(now[g], previous[g], false)
			}
		}
		panels := make([]int32, b.rows)
		for r := range b.rows {
			g := b.gpu(r, k%b.cols)
			panels[r] = b.add(panel, b.resource(g, stream))
			b.tasks[panels[r]].urgent = true
			if arrived != nil {
				b.wait(panels[r], arrived[g], false)
			}
		}
		for r := range b.rows {
			at := func(i int) int { return b.gpu(r, i) }
			b.broadcast(b.cols, k%b.cols, at, high*depth*8, panels[r], nil, here[r*b.cols:(r+1)*b.cols])
		}
		for q := range b.cols {
			at := func(i int) int { return b.gpu(i, q) }
			var after []int32
			for i := range b.rows {
				after = append(after, here[at(i)])
			}
			b.broadcast(b.rows, k%b.rows, at, wide*depth*8, panels[k%b.rows], nil, after)
		}
		previous, arrived = now, here
	}
	return b.run()
}

// FromHost simulates a product of order n whose operands and result are on the host, as it runs
// today: each GPU of a column of the grid gets its rows of A and all of B, one transfer after the
// other, and computes its rows of C.
func (s System) FromHost(n, bits float64) float64 {
	c := s.costs(bits)
	high := n / float64(s.GPUs)
	compute := (high*n+n*n)*(c.scan+c.residues) + c.multiply(bits, high, n, n, n) + high*n*c.finish
	return (2*high*n+n*n)*c.bytes/OwnRate + compute
}
