package sym

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/symeig"
)

// correction returns X E in the given bits, for the first-order correction E with
//
//	e_kj = (s_kj + d_j r_kj) / (d_j - d_k)
//
// for columns of different clusters, and r_kj/2 for others (Ogita and Aishima, Iterative refinement
// for symmetric eigenvalue decomposition, Japan J. Indust. Appl. Math. 35, 2018). The columns of X
// + X E are orthonormal up to terms of second order. E is rounded to bits bits, X is cut to about
// as many.
//
// e_kj + e_jk = r_kj, so only the entry in the column of the smaller |d| takes a division; the
// error of the difference is small relative to (|s_kj| + |d_j| |r_kj|) / |d_j - d_k| for the larger
// |d|.
//
// The result is on the GPU if X stays there.
func (t *state) correction(p *problem, bits int) (num.Mat, error) {
	if t.away != nil {
		if d, ok, err := t.correctionThere(bits); ok || err != nil && !declined(err) {
			return d, err
		}
		if _, err := t.brought(p, num.Mat{}); err != nil {
			return num.Mat{}, err
		}
	}
	n, s := t.n, t.s
	f := call.MP(bits)
	e := s.MatrixHere(f, n, n)
	defer s.Drop(e)
	rooms := make([]correctionRoom, s.Threads)
	if err := t.tiles(func(w int, z tile) {
		room := &rooms[w]
		z.each(func(k, j int) {
			low, ok := t.entries(e, bits, k, j, &room.scratch)
			room.below[z.at(k, j)], room.stored[z.at(k, j)] = low, !ok
		})
		z.mirrored(func(k, j int) {
			if !room.stored[z.at(k, j)] {
				room.below[z.at(k, j)].store(e.Arr, e.At(j, k))
			}
		})
	}); err != nil {
		return num.Mat{}, err
	}
	x := t.x
	if x.Format().Bits() > bits+16 { // it takes as long as a few bits of the product
		x = s.MatrixHere(f, n, n)
		defer s.Drop(x)
		if err := par.For(s.Ctx, s.Threads, n, func(_, j int) {
			for i := range n {
				x.Arr.Convert(x.At(i, j), t.x.Arr, t.x.At(i, j))
			}
		}); err != nil {
			return num.Mat{}, err
		}
	}
	d0 := s.MatrixHere(f, n, n)
	return d0, s.Gemm(1, x, e, 0, num.Mat{}, d0)
}

// correctionRoom is memory of one worker.
type correctionRoom struct {
	scratch
	below  [tall * stripe]double // entries (j, k) of E for entries (k, j) of a tile
	stored [tall * stripe]bool   // which of them are in E
}

// entries computes entries (k, j) and (j, k) of E, k ≤ j. It stores both, or with ok only (k, j)
// and returns the other one.
func (t *state) entries(e num.Mat, bits, k, j int, b *scratch) (low double, ok bool) {
	if t.of[k] == t.of[j] {
		v := b.read(&b.x, t.r, k, j)
		b.write(e, k, j, v.SetMantExp(v, -1))
		if k != j {
			e.Arr.CopyFrom(e.At(j, k), e.Arr, e.At(k, j))
		}
		return low, false
	}
	small, large := j, k // by |d|
	if t.dSize[k].less(t.dSize[j]) {
		small, large = k, j
	}
	if of, other, ok := t.plainCorrection(bits, k, j, small, large); ok {
		if large == j {
			of, other = other, of
		}
		of.store(e.Arr, e.At(k, j))
		return other, true
	}
	if bits <= pairBits {
		r, m := pairOf(t.r.Arr, t.r.At(k, j)), pairOf(t.sm.Arr, t.sm.At(k, j))
		v := m.add(t.near[small].mul(r)).over(t.difference(small, large))
		v.store(e.Arr, e.At(large, small))
		r.add(v.negated()).store(e.Arr, e.At(small, large))
		return low, false
	}
	p := uint(bits + 8)
	v := t.entryIn(b, k, j, t.d[small]).SetPrec(p)
	q := cleared(&b.y, p).Quo(v, cleared(&b.gap, p).Sub(t.d[small], t.d[large]))
	b.write(e, small, large, cleared(&b.z, p).Sub(b.read(&b.x, t.r, k, j).SetPrec(p), q))
	b.write(e, large, small, q)
	return low, false
}

// difference returns d_i - d_j ≠ 0 with the relative error of pairs. Pairs of numbers that are
// close to each other lose bits.
func (t *state) difference(i, j int) pair {
	z := t.near[i].add(t.near[j].negated())
	if z.hi == 0 || z.e < max(t.near[i].e, t.near[j].e)-4 {
		return pairOfBig(new(big.Float).SetPrec(128).Sub(t.d[i], t.d[j]))
	}
	return z
}

// improve is improved where X and D are. It drops D.
func (t *state) improve(p *problem, d num.Mat, bits int) (x num.Mat, err error) {
	defer func() { drop(t.s, d) }()
	if t.away != nil {
		if x, ok, err := t.improvedThere(d, bits); ok || err != nil && !declined(err) {
			return x, err
		}
		if d, err = t.brought(p, d); err != nil {
			return x, err
		}
	}
	return t.improved(d, bits)
}

// drop drops a matrix of the host or of a GPU.
func drop(s *call.Run, m num.Mat) {
	if m.Arr != nil && !m.OnHost() {
		m.Free()
		return
	}
	s.Drop(m)
}

// improved returns vectors of the given bits, the sum X + D turned within the clusters: the vectors
// of each cluster J are multiplied by the eigenvectors of S_JJ + c R_JJ, from float64 arithmetic.
func (t *state) improved(d num.Mat, bits int) (num.Mat, error) {
	s, n := t.s, t.n
	f := call.MP(bits)
	x := s.MatrixHere(f, n, n)
	if err := s.Sum(t.x, d, x); err != nil {
		return num.Mat{}, err
	}
	for i := range t.clusters {
		c := &t.clusters[i]
		k := c.count()
		if k == 1 {
			continue
		}
		w, err := t.turn(c, bits)
		if err != nil || w.Arr == nil {
			return x, err
		}
		of := s.MatrixHere(f, n, k)
		for q := range k {
			of.Col(q).Mat().CopyFrom(x.Col(t.order[c.first+q]).Mat())
		}
		z := s.MatrixHere(f, n, k)
		if err := s.Gemm(1, of, w, 0, num.Mat{}, z); err != nil {
			return num.Mat{}, err
		}
		for q := range k {
			x.Col(t.order[c.first+q]).Mat().CopyFrom(z.Col(q).Mat())
		}
		s.Drop(of, z)
	}
	return x, nil
}

// turn returns eigenvectors of the couplings within a cluster, orthonormal to the given bits, as
// columns; a matrix without an array if there are no couplings.
func (t *state) turn(c *cluster, bits int) (num.Mat, error) {
	k := c.count()
	j := t.order[c.first : c.last+1]
	entries := make([]*big.Float, k*k)
	top := math.MinInt
	if err := par.For(t.s.Ctx, t.s.Threads, k, func(_, q int) {
		for p := range q {
			entries[p+q*k] = t.entry(j[p], j[q], c.center)
		}
		v := new(big.Float).SetPrec(uint(t.places)).Sub(t.d[j[q]], c.center)
		entries[q+q*k] = v
	}); err != nil {
		return num.Mat{}, err
	}
	for _, v := range entries {
		if v != nil && v.Sign() != 0 {
			top = max(top, v.MantExp(nil))
		}
	}
	if top == math.MinInt {
		return num.Mat{}, nil
	}
	a := make([]float64, k*k)
	for q := range k {
		for p := range q + 1 {
			v := entries[p+q*k]
			x, _ := v.SetMantExp(v, -top).Float64()
			a[p*k+q], a[q*k+p] = x, x
		}
	}
	if _, ok := symeig.Sym(t.s.Ctx, a, k, true, t.s.Threads); !ok {
		return num.Mat{}, t.s.Ctx.Err()
	}
	return t.orthonormal(a, k, bits)
}

// orthonormal returns the k x k matrix W, by rows, with columns that are orthonormal to the given
// bits: W <- W + W (I - Wᵀ W)/2 doubles the bits.
func (t *state) orthonormal(a []float64, k, bits int) (num.Mat, error) {
	s := t.s
	w := num.NewMat(num.Float64, k, k)
	for p := range k {
		for q := range k {
			w.SetFloat64(p, q, a[p*k+q])
		}
	}
	one, err := s.Identity(k)
	if err != nil {
		return num.Mat{}, err
	}
	w = w.Convert(call.MP(64))
	for have := 40; have < bits; have *= 2 {
		f := call.MP(min(2*have, bits) + 16)
		r, d, z := num.NewMat(call.MP(have+16), k, k), num.NewMat(call.MP(have+16), k, k), num.NewMat(f, k, k)
		if err := s.Gemm(-1, w.T(), w, 1, one, r); err != nil {
			return num.Mat{}, err
		}
		if err := s.Gemm(0.5, w, r, 0, num.Mat{}, d); err != nil {
			return num.Mat{}, err
		}
		if err := s.Sum(w, d, z); err != nil {
			return num.Mat{}, err
		}
		w = z
	}
	return w, nil
}

// Seed returns eigenvectors of a symmetric matrix, of float64 precision, as columns in MP.
func Seed(s *call.Run, a num.Mat) (num.Mat, error) {
	a, _, err := normalized(s, a, false)
	if err != nil {
		return num.Mat{}, err
	}
	p := &problem{a: a}
	defer p.release()
	x, err := p.there.seed(s, p)
	switch {
	case declined(err):
		v, order, err := floatSeed(s, a)
		if err != nil {
			return num.Mat{}, err
		}
		return fromSeed(s, v, order, a.Rows)
	case err != nil:
		return num.Mat{}, err
	case x.Arr == nil:
		return unitSeed(a.Rows), nil
	case x.OnHost():
		return x, nil
	}
	defer x.Free()
	return p.there.fetched(s, x)
}

// floatSeed returns float64 eigenvectors of A as columns of a matrix that is stored by rows, and
// their order by decreasing magnitude of the eigenvalues; nil if they cannot be computed.
func floatSeed(s *call.Run, a num.Mat) (x []float64, order []int, err error) {
	x, err = floats(s, a.T()) // the same numbers, read in the order of memory
	if err != nil {
		return nil, nil, err
	}
	w, ok := symeig.Sym(s.Ctx, x, a.Rows, true, s.Threads)
	if !ok {
		return nil, nil, s.Ctx.Err()
	}
	return x, byMagnitude(w), nil
}

// byMagnitude returns the order of numbers by decreasing magnitude.
func byMagnitude(w []float64) []int {
	order := call.All(len(w))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(w[j]), math.Abs(w[i])) })
	return order
}

// fromSeed returns float64 vectors, stored by rows, in MP; the unit matrix for nil.
func fromSeed(s *call.Run, x []float64, order []int, n int) (num.Mat, error) {
	if x == nil {
		return unitSeed(n), nil
	}
	return fromFloats(s, x, order)
}

// unitSeed returns the unit matrix in MP.
func unitSeed(n int) num.Mat { return num.Identity(call.MP(53), n) }

// stripe is the number of columns that a task converts, so that it reads and writes whole cache
// lines of matrices that are stored by rows.
const stripe = 16

// fromFloats returns the columns order[0], order[1], ... of a square matrix in MP.
func fromFloats(s *call.Run, x []float64, order []int) (num.Mat, error) {
	n := len(order)
	z := s.MatrixHere(call.MP(53), n, n)
	return z, par.For(s.Ctx, s.Threads, (n+stripe-1)/stripe, func(_, part int) {
		for j := part * stripe; j < min(n, (part+1)*stripe); j++ {
			for i, k := 0, order[j]; i < n; i, k = i+1, k+n {
				call.SetFloat(z.Arr, z.At(i, j), x[k], 0)
			}
		}
	})
}

// floats returns the entries of a matrix in MP, of magnitudes below 1, by rows, cut to 53 bits.
func floats(s *call.Run, a num.Mat) ([]float64, error) {
	x := make([]float64, a.Rows*a.Cols)
	if a.CS == 1 {
		return x, par.For(s.Ctx, s.Threads, a.Rows, func(_, i int) {
			for j := range a.Cols {
				v, e := a.Arr.Leading(a.At(i, j))
				x[i*a.Cols+j] = scale.Ldexp(v, e)
			}
		})
	}
	return x, par.For(s.Ctx, s.Threads, (a.Cols+stripe-1)/stripe, func(_, part int) {
		for i := range a.Rows {
			for j := part * stripe; j < min(a.Cols, (part+1)*stripe); j++ {
				v, e := a.Arr.Leading(a.At(i, j))
				x[i*a.Cols+j] = scale.Ldexp(v, e)
			}
		}
	})
}
