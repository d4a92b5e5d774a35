package main

import "math"

// System is a number of GPUs, with their links.
type System struct {
	*Measured
	GPUs int
	// Links of 400 Gb/s of a node of eight GPUs: eight, one a GPU, or one, which they share.
	Links int
	// Unlimited memory, for the time that one GPU would take.
	Unlimited bool
}

// grid returns the sides of the grid and of a node's part of it, each a power of two.
func (s System) grid() (rows, cols, nodeRows, nodeCols int) {
	rows, cols = 1, 1
	for rows*cols < s.GPUs {
		if cols > rows {
			rows *= 2
		} else {
			cols *= 2
		}
	}
	return rows, cols, min(2, rows), min(NodeGPUs/2, cols)
}

// A GPU has a stream, and a way in and a way out of its peers' link and of the network; with one
// link a node the ways of the network are the node's.
const (
	stream = iota
	peerOut
	peerIn
	linkOut
	linkIn
	kinds
)

// builder makes the tasks of a simulation.
type builder struct {
	System
	simulation
	rows, cols         int
	nodeRows, nodeCols int
}

func (s System) build(parts float64) *builder {
	b := &builder{System: s}
	b.rows, b.cols, b.nodeRows, b.nodeCols = s.grid()
	b.free, b.parts, b.latency = make([]float64, kinds*s.GPUs), parts, PeerDelay
	return b
}

func (b *builder) gpu(row, col int) int { return row*b.cols + col }

func (b *builder) resource(gpu, kind int) int32 {
	if b.Links == 1 && (kind == linkOut || kind == linkIn) {
		row, col := gpu/b.cols, gpu%b.cols
		gpu = b.gpu(row/b.nodeRows*b.nodeRows, col/b.nodeCols*b.nodeCols)
	}
	return int32(gpu*kinds + kind)
}

// transfer adds one from a GPU to another.
func (b *builder) transfer(from, to int, bytes float64) int32 {
	same := from/b.cols/b.nodeRows == to/b.cols/b.nodeRows && from%b.cols/b.nodeCols == to%b.cols/b.nodeCols
	if same {
		return b.add(PeerDelay+bytes/PeerRate, b.resource(from, peerOut), b.resource(to, peerIn))
	}
	return b.add(LinkDelay+bytes/LinkRate, b.resource(from, linkOut), b.resource(to, linkIn))
}

// broadcast sends what the GPU at place root of a line of the grid has to the others, each of which
// sends parts on to the next one. before and after are tasks, by place: those a GPU's buffer waits
// for, and those that wait for what arrives.
func (b *builder) broadcast(n, root int, at func(place int) int, bytes float64, start int32, before, after []int32) {
	last := int32(-1)
	for i := 1; i < n; i++ {
		from, to := (root+i-1)%n, (root+i)%n
		t := b.transfer(at(from), at(to), bytes)
		if last >= 0 {
			b.wait(t, last, true)
		} else {
			b.wait(t, start, false)
		}
		if before != nil {
			b.wait(t, before[to], false)
		}
		b.wait(after[to], t, false)
		last = t
	}
	b.wait(after[root], start, false)
}

// Cost is what a simulation says; the time and the volume only where it fits.
type Cost struct {
	Seconds float64
	Bytes   float64 // that a GPU receives
	Fits    bool
}

// steps lists how many panels a product may have: each GPU of a line of the grid sends as many.
func (s System) steps(rows, cols int) (list []int) {
	for k := max(rows, cols); k <= max(32, rows); k *= 2 {
		list = append(list, k)
		if s.GPUs == 1 {
			break
		}
	}
	return list
}

// maxPieces is how many pieces a GPU's part of C is cut into before a product counts as one that
// does not fit.
const maxPieces = 64

// Gemm simulates C = A B of order n: SUMMA. Blocks of all matrices are dealt out over the grid;
// panels of A travel along rows of the grid and panels of B along its columns, one ahead of the
// products; each GPU turns what arrives into residues, multiplies, and adds up residues of its part
// of C, whose numbers it reconstructs in the end. A part of C whose residues do not fit is made in
// pieces by columns, for each of which A travels again. The number of panels is the best of some.
func (s System) Gemm(n, bits float64) Cost {
	c := s.costs(bits)
	rows, cols, _, _ := s.grid()
	p := float64(s.GPUs)
	high, wide := n/float64(rows), n/float64(cols)
	residue := c.count(bits, n) // bytes
	matrices := 3 * n * n / p * c.bytes
	var best Cost
	for pieces := 1; pieces <= maxPieces; pieces *= 2 {
		for _, steps := range s.steps(rows, cols) {
			w, depth := wide/float64(pieces), n/float64(steps)
			need := matrices + 2*(high+w)*depth*c.bytes + (high+w)*depth*residue + high*w*residue
			if need > roomShare*s.Memory && !s.Unlimited {
				continue
			}
			cost := s.summa(c, n, bits, steps, pieces)
			cost.Fits = true
			if !best.Fits || cost.Seconds < best.Seconds {
				best = cost
			}
		}
		if best.Fits {
			break
		}
	}
	return best
}

func (s System) summa(c costs, n, bits float64, steps, pieces int) Cost {
	b := s.build(16)
	high, wide := n/float64(b.rows), n/float64(b.cols)/float64(pieces)
	depth := n / float64(steps)
	work := (high+wide)*depth*c.residues + c.multiply(bits, high, depth, wide, n)
	if steps > 1 { // residues of C are read and written
		work += 2 * high * wide * c.count(bits, n) / MemoryRate
	}
	// Exponents of all rows and columns first: maxima, by halves of the grid's lines.
	first := 2*n*n/float64(s.GPUs)*c.scan + (math.Log2(float64(s.GPUs)) * LinkDelay)
	done := make([]int32, s.GPUs)
	for g := range done {
		done[g] = b.add(first, b.resource(g, stream))
	}
	previous := [2][]int32{done, done} // products of the step before, and of that before it
	for k := range steps * pieces {
		now := make([]int32, s.GPUs)
		for g := range now {
			now[g] = b.add(work, b.resource(g, stream))
			b.wait(now[g], previous[0][g], false)
		}
		line := func(count int, at func(i int) int) (before, after []int32) {
			for i := range count {
				before, after = append(before, previous[1][at(i)]), append(after, now[at(i)])
			}
			return before, after
		}
		for r := range b.rows {
			at := func(i int) int { return b.gpu(r, i) }
			before, after := line(b.cols, at)
			b.broadcast(b.cols, k%b.cols, at, high*depth*c.bytes, done[at(k%b.cols)], before, after)
		}
		for q := range b.cols {
			at := func(i int) int { return b.gpu(i, q) }
			before, after := line(b.rows, at)
			b.broadcast(b.rows, k%b.rows, at, wide*depth*c.bytes, done[at(k%b.rows)], before, after)
		}
		previous[1], previous[0] = previous[0], now
	}
	seconds := b.run() + n*n/float64(s.GPUs)*c.finish
	volume := 0.0
	if b.cols > 1 {
		volume += high * n * c.bytes * float64(pieces) * float64(b.cols-1) / float64(b.cols)
	}
	if b.rows > 1 {
		volume += wide * n * float64(pieces) * c.bytes * float64(b.rows-1) / float64(b.rows)
	}
	return Cost{Seconds: seconds, Bytes: volume}
}
