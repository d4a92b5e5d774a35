package det

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/residue"
)

// On the host blocks are at least as fast as traces: with two threads traces took 1.0 to 1.6 times
// as long at n = 300 and 1.0 to 2.2 times as long at n = 600, for Float64, MP(106) and MP(424).

// A nearUnit holds Z and U with Z F U = I + E for a small E. F is diag(2^rows) A diag(2^cols) with
// its rows in the order of the pivots. Z is lower triangular with ones on its diagonal, U is upper
// triangular, so that
//
//	det F = det(I + E) / Π u_jj,    log det(I + E) = Σ (-1)^(k+1) tr(E^k) / k.
//
// Norms are Frobenius norms: |tr(X Y)| ≤ ‖X‖ ‖Y‖, hence |tr(E^k)| ≤ ‖E‖^k for k ≥ 2. For a computed
// E' = E + Δ, h bounds both ‖Δ‖ and |tr Δ|.
type nearUnit struct {
	s       *call.Run
	by      scale.Scaling
	odd     bool // the order of F's rows is an odd permutation
	f, z, u num.Mat
	one     num.Mat
	rows    []int64    // the sum of row i of |Z| is at most 2^rows[i]
	cols    []int64    // the sum of column j of |F| is at most 2^cols[j]
	sizeF   *big.Float // bounds of norms
	sizeZ   *big.Float
	sizeU   *big.Float
	rho     *big.Float // ‖E‖ ≤ rho; nil if nothing is known
	pivots  num.Mat    // the diagonal of U, on the host
	// bounds of the columns of F, the rows of Z and the columns of U for products; nil if not known
	ofF, ofZ, ofU *residue.Vectors
	ends, flipped num.Mat // copies of the diagonal and of the transpose of the last E'
}

// LeastTraces is the least order of matrices whose determinants are computed from traces where they
// live. At n = 100 an H100 takes 4.1 ms for Float64 and 9.8 ms for MP(424), 16 threads of its host
// 32 ms for both. The time of the host falls with n, the time of the GPU does not.
const LeastTraces = 96

// Least returns the least order of matrices whose determinants are enclosed where they live.
func Least(s *call.Run) int {
	if call.Forced(s.Ctx, call.ByTraces) {
		return 1
	}
	return LeastTraces
}

// seedGain is about the gain of a seed, the bits g of ‖E‖ ≤ 2^-g.
const seedGain = 24

// leastNear is the least gain with which the computation continues.
const leastNear = 8

// Traced returns the determinant of a regular A at the run's place, known up to a factor e^±log
// with a log of about 2^-places. It returns nil if float64 factors do not suffice.
func Traced(s *call.Run, a num.Mat, places int) (*seed.Determinant, error) {
	if places > bound.MaxBits-4*hopeless {
		return nil, nil
	}
	t, err := newNearUnit(s, a, 4*places+2048)
	s.Stage("approximate factors")
	if err != nil || t == nil {
		return nil, err
	}
	for gain := seedGain; gain >= leastNear; gain = gainOf(t.rho) {
		if _, step := traceCost(gain, places); step {
			err := t.step(2*gain + newton.LateBits)
			s.Stage("refinement")
			if err != nil {
				return nil, err
			}
			continue
		}
		first := t.rho == nil
		e, f, h, err := t.errorMatrix(places + 2)
		s.Stage("products")
		if err != nil {
			return nil, err
		}
		if gain = gainOf(t.rho); gain < leastNear {
			break
		}
		if _, step := traceCost(gain, places); !first || !step {
			return t.determinant(e, f, h, places)
		}
		s.Drop(e, t.ends, t.flipped)
	}
	return nil, nil
}

// gainOf returns g with x ≤ 2^-g.
func gainOf(x *big.Float) int { return -x.MantExp(nil) }

// traceLaunch is the number of bits of a product that take as long as the kernel launches of any
// product: a guess.
const traceLaunch = 64

// powers returns the least m for which E, E², ..., E^m give log det(I + E) to some places if
// ‖E‖ ≤ 2^-gain. They give the traces of the powers up to 2 m, each a product of two of these
// powers.
func powers(gain, places int) int { return max((places+gain-1)/gain, 2) / 2 }

// traceCost returns the remaining cost, in bits of products, and whether the cheapest plan begins
// with a step. A step takes four products with twice the gain as bits. E^k takes one product with
// the bits of the places to which it contributes.
func traceCost(gain, places int) (cost int, step bool) {
	m := powers(gain, places)
	for k := 2; k <= m; k++ {
		cost += max(places-(2*k-1)*gain, 0) + traceLaunch
	}
	if m == 1 || gain < leastNear {
		return cost, false
	}
	later, _ := traceCost(2*gain-3, places)
	if with := later + 4*(2*gain+traceLaunch); with < cost {
		return with, true
	}
	return cost, false
}

// newNearUnit returns Z and U in float64. Only their triangular shapes are proved so far. It
// returns nil if float64 factors fail, or if entries of A have more than most bits.
func newNearUnit(s *call.Run, a num.Mat, most int) (*nearUnit, error) {
	n := a.Rows
	z, err := s.Matrix(num.Float64, n, n)
	if err != nil {
		return nil, err
	}
	u, err := s.Matrix(num.Float64, n, n)
	if err != nil {
		return nil, err
	}
	if err := s.NewTally(); err != nil {
		return nil, err
	}
	s.Stats.Rounds = 1
	t := &nearUnit{s: s, z: z, u: u}
	ok := false
	for attempt := 0; !ok; attempt++ {
		rows, cols, begun, err := s.Triangles(a, z, u, attempt)
		if err != nil || begun == nil {
			return nil, err
		}
		t.by = scale.Scaling{Rows: rows, Cols: cols}
		if ok, err = t.take(a, most, begun, attempt == 0); err != nil {
			return nil, err
		}
	}
	if t.f.Arr == nil {
		return nil, nil
	}
	pivots, err := diagonalThere(s, t.u)
	if err != nil {
		return nil, err
	}
	found, err := sizes(s, t.f.T(), t.u, t.z, t.u.T())
	if err != nil {
		return nil, err
	}
	if t.pivots, err = here(s, pivots); err != nil {
		return nil, err
	}
	t.sizeF, t.cols, t.sizeU, t.sizeZ, t.rows = found[0].norm, found[0].rows, found[1].norm, found[2].norm, found[2].rows
	t.ofF, t.ofZ, t.ofU = found[0].vectors, found[2].vectors, found[3].vectors
	if t.amp().MantExp(nil) > hopeless {
		return nil, nil
	}
	return t, nil
}

// take makes the rows of F those of the factors. It reports whether the factors are ok. F is the
// zero value if they cannot be used, or if entries of A have more than most bits. What does not
// depend on the order of the rows is queued while the place computes the factors.
func (t *nearUnit) take(a num.Mat, most int, begun place.Triangular, first bool) (ok bool, err error) {
	s, n := t.s, a.Rows
	defer func() {
		if begun != nil {
			begun.Drop()
		}
	}()
	f, err := s.Scaled(a, t.by, most)
	if err != nil || f.Arr == nil {
		return true, err
	}
	defer s.Drop(f)
	if first {
		if t.one, err = s.Identity(n); err != nil {
			return false, err
		}
	}
	order, ok, err := begun.Settle(s.Config())
	begun = nil
	if err != nil || !ok {
		return false, err
	}
	if t.odd, ok = Parity(order); !ok {
		return true, nil
	}
	if t.f, err = s.Room(f.Format(), n, n); err != nil {
		return false, err
	}
	return true, s.Gather(f, order, t.f)
}

// hopeless is log2 of the ‖Z‖ ‖F‖ ‖U‖ beyond which float64 factors are useless.
const hopeless = 256

// amp returns a bound of ‖Z‖ ‖F‖ ‖U‖.
func (t *nearUnit) amp() *big.Float {
	return bound.Upper().Mul(bound.Upper().Mul(t.sizeZ, t.sizeF), t.sizeU)
}

// Parity reports whether order is an odd permutation, and whether it is a permutation at all.
func Parity(order []int32) (odd, ok bool) {
	seen := make([]bool, len(order))
	for _, p := range order {
		if p < 0 || int(p) >= len(order) || seen[p] {
			return false, false
		}
		seen[p] = true
	}
	// A cycle of k elements is the product of k - 1 exchanges.
	for i := range order {
		for j := i; seen[j]; j = int(order[j]) {
			seen[j] = false
			odd = odd != (j != i)
		}
	}
	return odd, true
}

// A size holds a bound of the Frobenius norm of a matrix, and for each row the exponent of a bound
// of its sum of magnitudes.
type size struct {
	norm    *big.Float
	rows    []int64
	vectors *residue.Vectors // of the rows, for products
}

// sizes returns the sizes of matrices at the run's place. It waits for the place once.
func sizes(s *call.Run, list ...num.Mat) (found []size, err error) {
	all, err := s.Extents(list...)
	for _, x := range all {
		found = append(found, sizeIn(x))
	}
	return found, err
}

// sizeIn returns the size of a matrix from the bounds x of its rows.
func sizeIn(x place.Extents) size {
	vectors := call.VectorsOf(x)
	if vectors != nil {
		vectors.Top = slices.Clone(vectors.Top)
	}
	// Σ_j |m_ij|² ≤ 2^top Σ_j |m_ij|
	squares := make([]int64, len(x.Top))
	for i, top := range x.Top {
		if squares[i] = call.NoNumber; top > call.NoNumber {
			frac, e := frexp(x.Norm[i])
			x.Norm[i], x.Top[i] = frac, top+e
			squares[i] = 2*top + e
		}
	}
	// A size must not be 0, as its logarithm is taken.
	return size{bound.Largest([]*big.Float{rootUp(call.SumUp(x.Norm, squares)), bound.Exp2(-bound.MaxBits)}), x.Top, vectors}
}

// frexp is math.Frexp for a positive number, with less work where it is normal.
func frexp(x float64) (frac float64, exp int64) {
	const fraction, half = 1<<52 - 1, 1022 << 52
	u := math.Float64bits(x)
	if e := u >> 52; 0 < e && e < 1<<11-1 {
		return math.Float64frombits(u&fraction | half), int64(e) - 1022
	}
	frac, e := math.Frexp(x)
	return frac, int64(e)
}

// rootUp returns an upper bound of a square root.
func rootUp(x *big.Float) *big.Float {
	r := bound.Upper().Sqrt(x)
	return r.Mul(r, big.NewFloat(1+0x1p-50))
}

// A nearResidue holds W', an approximation of W = Z F, and the parameters with which E' = W' U - I
// is computed.
type nearResidue struct {
	t      *nearUnit
	w      num.Mat
	lost   *big.Float // ‖(W' - W) U‖ and its trace are at most lost
	top    int64      // entries of W' U - I are at most 2^top
	within int64      // entries of E' may be in error by 2^(top - within) beside their rounding
	bits   int        // of E'
}

// residue computes W' for an E' with an error of about 2^-places.
//
// Entries of W are at most 2^(rows_i + cols_j); let ω be the norm of the matrix of these bounds.
// With errors of 2^-b times these bounds, and results of b bits, ‖W' - W‖ ≤ 2^(2-b) ω.
func (t *nearUnit) residue(places int) (*nearResidue, error) {
	n := t.f.Rows
	omega := rootUp(bound.Upper().Mul(call.SumUp(nil, doubled(t.rows)), call.SumUp(nil, doubled(t.cols))))
	amp := bound.Upper().Mul(omega, t.sizeU)
	r := &nearResidue{t: t}
	width := max(places+amp.MantExp(nil)+3, 24)
	var err error
	if r.w, err = t.s.Room(num.Precision(uint(width)), n, n); err != nil {
		return nil, err
	}
	b := t.s.Known(&residue.Bound{Rows: t.rows, Cols: t.cols, Within: int64(width)}, t.ofZ, t.ofF)
	if err := t.s.GemmWithin(1, t.z, t.f, 0, num.Mat{}, r.w, b); err != nil {
		return nil, err
	}
	t.s.Stats.Steps++
	t.s.Stats.Precision = width
	r.lost = bound.Upper().Mul(amp, bound.Exp2(2-width))
	// |W' U - I| ≤ ‖E‖ + lost if rho is known. Otherwise only the bound |I| + |W'| |U| is known.
	most, gain := bound.Upper().Add(bound.Upper().Add(amp, amp), big.NewFloat(1)), seedGain/2
	if t.rho != nil {
		most, gain = t.rho, gainOf(t.rho)
	}
	r.top = int64(bound.Upper().Add(most, r.lost).MantExp(nil))
	size := bits.Len(uint(n))
	r.within = max(int64(places+size+3)+r.top, 1)
	r.bits = max(places-gain+size/2+4, 24)
	return r, nil
}

// doubled returns 2 x.
func doubled(x []int64) []int64 {
	y := make([]int64, len(x))
	for i, v := range x {
		y[i] = 2 * v
	}
	return y
}

// bound returns the bound of the entries of W' U - I, for m rows and columns.
func (r *nearResidue) bound(m int) *residue.Bound {
	b := &residue.Bound{Rows: make([]int64, m), Cols: make([]int64, m), Within: r.within}
	for i := range b.Rows {
		b.Rows[i] = r.top
	}
	return b
}

// vectors returns bounds of the rows of W', whose entries are at most 2^(rows_i + cols_j) beside
// their errors, which the bounds of the exponents by one more contain.
func (r *nearResidue) vectors() *residue.Vectors {
	rows, cols := r.t.rows, r.t.cols
	most := slices.Max(cols)
	if slices.Min(rows) <= call.NoNumber || most <= call.NoNumber {
		return nil
	}
	sum, _ := bound.Upper().SetMantExp(call.SumUp(nil, cols), int(-most)).Float64()
	v := &residue.Vectors{Top: make([]int64, len(rows)), Norm: min(sum*(1+0x1p-50), float64(len(cols)))}
	for i, row := range rows {
		v.Top[i] = row + most + 1
	}
	return v
}

// learn returns h for an E' whose norm is at most size, and sets rho to size + h.
func (r *nearResidue) learn(size *big.Float) (h *big.Float) {
	order := bits.Len(uint(r.t.f.Rows))
	h = bound.Upper().Add(r.lost, bound.Exp2(int(r.top-r.within)+order))
	// The trace of the rounding errors is at most 2^-bits √n ‖E'‖.
	h.Add(h, bound.Upper().Mul(size, bound.Exp2(order/2+1-r.bits)))
	r.t.rho = bound.Upper().Add(size, h) // of E' as well
	r.t.s.Stats.Rho = call.Measure(r.t.rho)
	return h
}

// errorMatrix returns E' with an error of about 2^-places, a bound size of its norm, and the bound
// h of its error. It leaves copies of the diagonal and of the transpose of E' at the place.
func (t *nearUnit) errorMatrix(places int) (e num.Mat, size, h *big.Float, err error) {
	n := t.f.Rows
	r, err := t.residue(places)
	if err != nil {
		return num.Mat{}, nil, nil, err
	}
	if e, err = t.s.Room(num.Precision(uint(r.bits)), n, n); err != nil {
		return num.Mat{}, nil, nil, err
	}
	if err := t.s.GemmWithin(1, r.w, t.u, -1, t.one, e, t.s.Known(r.bound(n), r.vectors(), t.ofU)); err != nil {
		return num.Mat{}, nil, nil, err
	}
	t.s.Drop(r.w)
	if t.ends, err = diagonalThere(t.s, e); err != nil {
		return num.Mat{}, nil, nil, err
	}
	if t.flipped, err = t.s.Room(e.Format(), n, n); err != nil {
		return num.Mat{}, nil, nil, err
	}
	if err := t.s.CopyNumbers(t.flipped, e.T()); err != nil {
		return num.Mat{}, nil, nil, err
	}
	found, err := sizes(t.s, e)
	if err != nil {
		return num.Mat{}, nil, nil, err
	}
	return e, found[0].norm, r.learn(found[0].norm), nil
}

// step replaces Z and U so that ‖E‖ becomes about its square. It computes E' with an error of
// 2^-places. Let E' = N + M with the strictly lower triangle N and the upper triangle M. Then
//
//	Z' = Z - N Z + ζ,    U' = U - U M + η
//
// with roundings ζ and η. Sums are rounded to prec bits. Products, which are less than 2^-gain
// times the sums, are rounded to gain - 1 bits less. So ‖ζ‖ ≤ 2^(1-prec) ‖Z‖ and ‖η‖ ≤ 2^(1-prec)
// ‖U‖. Without roundings
//
//	Z' F U' - I = (I - N) (I + E) (I - M) - I = E - E' - N E - E M + N M + N E M,
//
// whose norm is at most h + 3 rho² + rho³, since ‖N‖, ‖M‖ ≤ ‖E'‖. The roundings add ζ F U', Z' F η
// and ζ F η: at most 2^(3-prec) ‖Z‖ ‖F‖ ‖U‖. Only the triangles of the products that may be nonzero
// are computed: Z' and U' have the zeros and ones of Z and U.
func (t *nearUnit) step(places int) error {
	s, n := t.s, t.f.Rows
	r, err := t.residue(places)
	if err != nil {
		return err
	}
	format := num.Precision(uint(r.bits))
	low, err := s.Matrix(format, n, n)
	if err != nil {
		return err
	}
	up, err := s.Matrix(format, n, n)
	if err != nil {
		return err
	}
	if err := s.GemmTriangle('L', 1, r.w.Slice(1, n, 0, n), t.u.Slice(0, n, 0, n-1), 0, num.Mat{}, low.Slice(1, n, 0, n-1), r.bound(n-1)); err != nil {
		return err
	}
	if err := s.GemmTriangle('U', 1, r.w, t.u, -1, t.one, up, r.bound(n)); err != nil {
		return err
	}
	s.Drop(r.w)
	found, err := sizes(s, low, up)
	if err != nil {
		return err
	}
	sizeN, sizeM := found[0].norm, found[1].norm
	size := rootUp(bound.Upper().Add(bound.Upper().Mul(sizeN, sizeN), bound.Upper().Mul(sizeM, sizeM)))
	h := r.learn(size)
	gain := gainOf(t.rho)
	if gain < leastNear {
		return nil
	}
	amp := t.amp()
	prec := max(2*gain+amp.MantExp(nil)+5, 64)
	format = num.Precision(uint(max(prec-gain+1, 24)))
	d, err := s.Matrix(format, n, n)
	if err != nil {
		return err
	}
	if err := s.GemmTriangle('L', -1, low.Slice(1, n, 0, n), t.z.Slice(0, n, 0, n-1), 0, num.Mat{}, d.Slice(1, n, 0, n-1), nil); err != nil {
		return err
	}
	if t.z, err = plus(s, t.z, d, prec); err != nil {
		return err
	}
	if d, err = s.Matrix(format, n, n); err != nil {
		return err
	}
	if err := s.GemmTriangle('U', -1, t.u, up, 0, num.Mat{}, d, nil); err != nil {
		return err
	}
	if t.u, err = plus(s, t.u, d, prec); err != nil {
		return err
	}
	s.Drop(low, up)
	square := bound.Upper().Mul(t.rho, t.rho)
	rho := bound.Upper().Add(h, bound.Upper().Mul(square, bound.Upper().Add(big.NewFloat(3), t.rho)))
	t.rho = rho.Add(rho, bound.Upper().Mul(amp, bound.Exp2(3-prec)))
	pivots, err := diagonalThere(s, t.u)
	if err != nil {
		return err
	}
	if found, err = sizes(s, t.u, t.z, t.u.T()); err != nil {
		return err
	}
	if t.pivots, err = here(s, pivots); err != nil {
		return err
	}
	t.sizeU, t.sizeZ, t.rows = found[0].norm, found[1].norm, found[1].rows
	t.ofZ, t.ofU = found[1].vectors, found[2].vectors
	return nil
}

// plus returns X + D in prec bits and drops both. X is in MP or Float64, D in MP.
func plus(s *call.Run, x, d num.Mat, prec int) (num.Mat, error) {
	if x.Format() == num.Float64 {
		y, err := shifted(s, x, num.Precision(scale.SeedBits))
		if err != nil {
			return num.Mat{}, err
		}
		s.Drop(x)
		x = y
	}
	z, err := s.Room(num.Precision(uint(prec)), x.Rows, x.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	if err := s.Sum(x, d, z); err != nil {
		return num.Mat{}, err
	}
	s.Drop(x, d)
	return z, nil
}

// determinant returns the determinant from E', whose error is at most h and whose norm is at most
// f, with f + h below 2^-8. K with I + E = (I + E') (I + K) has |tr K| and ‖K‖ of at most
// k = h / (1 - f), and
//
//	|log det(I + E) - log det(I + E')| ≤ k / (1 - k).
//
// P_k approximates E'^k. Its norm is at most p_k and the norm of its error at most d_k, so that
//
//	|tr(P_k²) - tr(E'^2k)| ≤ 2 d_k p_k,    |tr(P_(k+1) P_k) - tr(E'^(2k+1))| ≤ d_(k+1) p_k + d_k p_(k+1)
//
// and the traces of powers beyond 2 m sum up to at most f^(2m+1) / ((2m+1) (1 - f)).
func (t *nearUnit) determinant(e num.Mat, f, h *big.Float, places int) (*seed.Determinant, error) {
	s, n := t.s, t.f.Rows
	prec := uint(places + 128)
	s.Drop(t.f, t.z, t.u)
	ends, err := here(s, t.ends)
	if err != nil {
		return nil, err
	}
	log := columnSum(ends, prec)
	// Sums of numbers below 1 are rounded a few times here, and the product of the pivots n times.
	lost := bound.Exp2(2*bits.Len(uint(n)) + 8 - int(prec))
	mul := func(x ...*big.Float) *big.Float {
		z := bound.Upper().Set(x[0])
		for _, v := range x[1:] {
			z.Mul(z, v)
		}
		return z
	}
	// add adds (-1)^(k+1) tr(X Y) / k to log, given the transpose of Y, and the error err to lost.
	add := func(k int, x, transposed num.Mat, err *big.Float) error {
		format := num.Precision(uint(max(places+8-k*gainOf(f), 24)))
		s.Stage("products")
		v, failed := s.Dot(flattened(x).Col(0), flattened(transposed).Col(0), format)
		s.Stage("traces")
		if failed != nil {
			return failed
		}
		trace := v.Big()
		lost.Add(lost, err)
		lost.Add(lost, mul(bound.UpperOf(trace), bound.Exp2(-format.Bits())))
		trace = trace.SetPrec(prec).Quo(trace, new(big.Float).SetInt64(int64(k)))
		if k%2 == 0 {
			trace.Neg(trace)
		}
		log.Add(log, trace)
		return nil
	}
	gain, size := gainOf(f), bits.Len(uint(n))
	m := powers(gain, places)
	p, pk, dk := e, f, bound.Upper() // P_k
	flipped := t.flipped
	for k := 1; ; k++ {
		if k > 1 {
			s.Drop(flipped)
			if flipped, err = transposed(s, p); err != nil {
				return nil, err
			}
		}
		if err := add(2*k, p, flipped, mul(dk, pk, bound.Exp2(1))); err != nil {
			return nil, err
		}
		if k == m {
			break
		}
		// P_(k+1) is needed with errors up to 2^-places / f^k.
		b := &residue.Bound{Rows: make([]int64, n), Cols: make([]int64, n)}
		top := mul(pk, f).MantExp(nil)
		for i := range b.Rows {
			b.Rows[i] = int64(top)
		}
		b.Within = int64(max(places+8-k*gain+top+size, 1))
		format := num.Precision(uint(max(places+8-k*gain+top, 24)))
		next, err := s.Room(format, n, n)
		if err != nil {
			return nil, err
		}
		if err := s.GemmWithin(1, p, e, 0, num.Mat{}, next, b); err != nil {
			return nil, err
		}
		if p != e {
			s.Drop(p)
		}
		within := bound.Exp2(top - int(b.Within) + size)
		pn := mul(bound.Upper().Add(mul(pk, f), within), bound.Upper().Add(big.NewFloat(1), bound.Exp2(1-format.Bits())))
		dn := bound.Upper().Add(bound.Upper().Add(mul(dk, f), within), mul(pn, bound.Exp2(-format.Bits())))
		if err := add(2*k+1, next, flipped, bound.Upper().Add(mul(dn, pk), mul(dk, pn))); err != nil {
			return nil, err
		}
		p, pk, dk = next, pn, dn
	}
	s.Drop(flipped, p, e)
	// 1/(1 - f) and 1/(1 - k) are below 1 + 2^-6.
	more := big.NewFloat(1 + 0x1p-6)
	lost.Add(lost, mul(h, more, more))
	rest := more
	for range 2*m + 1 {
		rest = mul(rest, f)
	}
	lost.Add(lost, rest)
	product := columnProduct(t.pivots, prec)
	if product.Sign() == 0 {
		return nil, nil
	}
	mid := bigfun.Exp(log, prec).SetPrec(prec)
	mid.Quo(mid, product)
	if t.odd {
		mid.Neg(mid)
	}
	d := &seed.Determinant{Mid: mid, Log: lost}
	for i := range n {
		d.Shift -= t.by.Rows[i] + t.by.Cols[i]
	}
	return d, nil
}

// diagonalThere returns a copy in MP of the diagonal of a square matrix in MP or Float64.
func diagonalThere(s *call.Run, m num.Mat) (num.Mat, error) {
	v := m
	v.RS, v.CS, v.Cols = v.RS+v.CS, 0, 1
	z, err := s.Room(num.Precision(uint(m.Format().Bits())), v.Rows, 1)
	if err != nil {
		return num.Mat{}, err
	}
	return z, s.CopyNumbers(z, v)
}

// here returns a copy of a matrix on the host, and releases the matrix.
func here(s *call.Run, m num.Mat) (num.Mat, error) {
	defer s.Drop(m)
	return place.On(nil, m)
}

// transposed returns a copy of the transpose of a matrix in MP.
func transposed(s *call.Run, m num.Mat) (num.Mat, error) {
	return shifted(s, m.T(), m.Format())
}

// shifted returns a copy in format f, an MP, of a view of finite numbers in MP or Float64 with no
// more bits than f.
func shifted(s *call.Run, v num.Mat, f num.Format) (num.Mat, error) {
	z, err := s.Room(f, v.Rows, v.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	odd, err := s.Shift(v, nil, nil, z, nil)
	if err == nil && odd > 0 {
		err = fmt.Errorf("exponents beyond 2^29 among results: %w", call.ErrRange)
	}
	return z, err
}

// flattened returns the entries of a matrix, made by Run.Matrix, as one column.
func flattened(m num.Mat) num.Mat {
	m.Rows *= m.Cols
	m.CS, m.Cols = m.Rows, 1
	return m
}
