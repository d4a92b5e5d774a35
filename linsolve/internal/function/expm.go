package function

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// ErrNorm is wrapped by errors about matrices whose exponentials may be beyond all formats.
var ErrNorm = errors.New("norm exceeds 2^28")

// maxExponent bounds log2 of the norms of matrices, and of the shifts, that Expm accepts.
const maxExponent = 28

// position is the position of an entry of a matrix.
type position struct{ row, col int }

// Expm stores the exponential of a in z, whose entries must be 0.
func Expm(s *call.Run, a, z num.Mat) error {
	n := a.Rows
	if n == 0 {
		return s.Ctx.Err()
	}
	s.Vanish = true
	reach := Reachable(a)
	bits := z.Format().Bits()
	var open []position // of all finished parts
	parts := Components(reach)
	for done, nodes := range parts {
		if len(nodes) == 1 && ziv.IsZero(a.Entry(nodes[0], nodes[0])) {
			z.SetFloat64(nodes[0], nodes[0], 1)
			continue
		}
		var wanted []position
		for _, i := range nodes {
			for _, j := range nodes {
				if reach[i].Has(j) {
					wanted = append(wanted, position{i, j})
				}
			}
		}
		part := a
		if len(nodes) < n {
			part = modular.Chosen(a, nodes, nodes)
		}
		left, err := expmOf(s, part, nodes, wanted, z, 2*bits, false)
		if err != nil {
			return err
		}
		open = append(open, left...)
		if len(parts) > 1 {
			s.Did(1)
			s.Plan(float64(len(parts) - done - 1))
		}
	}
	if len(open) == 0 {
		return nil
	}
	back := Reachable(a.T())
	groups := map[string][]position{}
	var order []string
	for _, p := range open {
		key := reach[p.row].And(back[p.col]).Key()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	for done, key := range order {
		group := groups[key]
		nodes := reach[group[0].row].And(back[group[0].col]).Members(n)
		sub := modular.Chosen(a, nodes, nodes)
		if exact, err := expmNilpotent(s, sub, nodes, group, z); err != nil {
			return err
		} else if !exact {
			if group, err = expmOf(s, sub, nodes, group, z, 16*bits+4096, true); err != nil {
				return err
			}
			s.Stats.Undecided += len(group)
		}
		s.Did(1)
		s.Plan(float64(len(order) - done - 1))
	}
	return nil
}

// Components returns the connected parts of a graph, the nodes of each in order. reach is the
// result of Reachable.
func Components(reach []ziv.Set) (parts [][]int) {
	n := len(reach)
	label := make([]int, n) // union-find: an earlier node of the same part, or the node itself
	for i := range label {
		label[i] = i
	}
	first := func(i int) int {
		for label[i] != i {
			label[i] = label[label[i]]
			i = label[i]
		}
		return i
	}
	for i := range n {
		for _, j := range reach[i].Members(n) {
			x, y := first(i), first(j)
			label[max(x, y)] = min(x, y)
		}
	}
	at := make([]int, n)
	for i := range n {
		f := first(i)
		if f == i {
			at[i] = len(parts)
			parts = append(parts, nil)
		}
		parts[at[f]] = append(parts[at[f]], i)
	}
	return parts
}

// Reachable returns for each i the set of all j with i = j or a path of nonzeros a_ik, a_kl, ...
// from i to j (Warshall, A theorem on Boolean matrices, 1962).
func Reachable(a num.Mat) []ziv.Set {
	n := a.Rows
	r := make([]ziv.Set, n)
	for i := range r {
		r[i] = make(ziv.Set, (n+63)/64)
		for j := range n {
			if i == j || a.Arr.Class(a.At(i, j)) != num.Zero {
				r[i][j/64] |= 1 << (j % 64)
			}
		}
	}
	for k := range n {
		for i := range n {
			if i != k && r[i].Has(k) {
				for w, x := range r[k] {
					r[i][w] |= x
				}
			}
		}
	}
	return r
}

// expmOf stores the open entries of the exponential of a in z. a consists of the rows and columns
// nodes of a larger matrix. It returns the entries that about most bits do not decide. If last is
// set, it continues until only entries are left that seem to be zeros or ties, and stores those as
// linsolve.Expm describes.
func expmOf(s *call.Run, a num.Mat, nodes []int, open []position, z num.Mat, most int, last bool) ([]position, error) {
	f := z.Format()
	at := inverseOf(nodes, z.Rows)
	err := ziv.Decide(s, ziv.Loop{What: "an exponential", First: f.Bits() + 64}, func(bits int) (missing int, err error) {
		e, err := ExponentialOf(s, a, bits)
		if err != nil {
			return 0, err
		}
		left, more := open[:0], false
		for _, p := range open {
			mid, radius := e.Entry(at[p.row], at[p.col])
			lower, upper := ziv.Ends(f, mid, radius)
			if lower.Same(upper) {
				z.SetEntry(p.row, p.col, lower)
				ziv.Lose(s, z, p.row, p.col, new(big.Float).Sub(mid, radius), new(big.Float).Add(mid, radius))
				continue
			}
			if magnitude := new(big.Float).Abs(mid); magnitude.Cmp(radius) > 0 {
				z.SetEntry(p.row, p.col, lower)
				if t, _ := ziv.Tie(lower, upper); t == nil {
					more = true
				}
			} else {
				z.SetEntry(p.row, p.col, num.NewScalar(f, new(big.Float)))
				if last && bits > most && ziv.IsZero(lower) && ziv.IsZero(upper) {
					continue
				}
			}
			left = append(left, p)
		}
		open = left
		if len(open) == 0 || bits > most && !(last && more) {
			return ziv.Done, nil
		}
		return ziv.Double, nil
	})
	return open, err
}

// inverseOf returns z of length n with z[nodes[i]] = i.
func inverseOf(nodes []int, n int) []int {
	z := make([]int, n)
	for i, k := range nodes {
		z[k] = i
	}
	return z
}

// Exponential approximates exp(A) by factor p, with error bounds: ‖exp(A) / e^μ - p‖∞ ≤ lost, and
// factor ≈ e^μ has a relative error below 2^-bits.
type Exponential struct {
	p      num.Mat
	lost   *big.Float
	factor *big.Float
	bits   int
}

// Entry returns an enclosure of an entry.
func (e *Exponential) Entry(i, j int) (mid, radius *big.Float) {
	p := e.p.Big(i, j)
	mid = new(big.Float).SetPrec(p.Prec()+64).Mul(p, e.factor)
	radius = bound.Upper().Mul(e.lost, e.factor)
	radius.Add(radius, bound.Upper().SetMantExp(bound.UpperOf(mid), 1-e.bits))
	radius.Add(radius, radius) // the factor in the first term is not exact either
	return mid, radius
}

// ExponentialOf returns the exponential of a with errors of about 2^-bits times its norm.
func ExponentialOf(s *call.Run, a num.Mat, bits int) (*Exponential, error) {
	n := a.Rows
	shift, err := meanDiagonal(a)
	if err != nil {
		return nil, err
	}
	unscaled := make([]int64, n)
	norm := func(m num.Mat) *big.Float { return bound.BoundsOf(m, unscaled, unscaled).Norm() }
	// shifted returns A - μ I, every entry rounded once to p bits, times 2^-e.
	shifted := func(p, e int) num.Mat {
		x := num.NewMat(num.Precision(uint(p)), n, n)
		for j := range n {
			for i := range n {
				v := a.Big(i, j)
				if i == j {
					v = new(big.Float).SetPrec(uint(p)).Sub(v, shift)
				}
				x.SetBig(i, j, v.SetMantExp(v, -e))
			}
		}
		return x
	}
	size := norm(shifted(64, 0)).MantExp(nil)
	if size > maxExponent {
		return nil, ErrNorm
	}
	squarings, degree := scalingAndDegree(size, bits)
	width := bits + squarings + 16
	if width > bound.MaxBits {
		return nil, fmt.Errorf("%d bits: %w", width, call.ErrMemory)
	}
	s.Stats.Precision = width
	add := func(x, y *big.Float) *big.Float { return bound.Upper().Add(x, y) }
	mul := func(x, y *big.Float) *big.Float { return bound.Upper().Mul(x, y) }
	ulp := bound.Upper().SetMantExp(big.NewFloat(1), 1-width)
	// Far above underflow errors, and far below everything relevant. Much smaller addends would
	// make additions slow.
	tiny := bound.Upper().SetMantExp(big.NewFloat(1), -4*width)
	// rounding bounds the norm of the rounding errors, underflow included, of a matrix with this
	// norm.
	rounding := func(norm *big.Float) *big.Float { return mul(ulp, bound.Largest([]*big.Float{norm, tiny})) }

	// Column i of powers is vec(X^i), i < k.
	x := shifted(width, squarings)
	k := int(math.Ceil(math.Sqrt(float64(degree + 1))))
	blocks := (degree + k) / k
	powers := num.NewMat(x.Format(), n*n, k)
	power := num.Identity(x.Format(), n)
	normX := norm(x)
	// ‖X^i‖ ≤ sizes[i] + losts[i]
	sizes, losts := make([]*big.Float, k+1), make([]*big.Float, k+1)
	sizes[0], losts[0] = bound.Upper().SetInt64(1), bound.Upper()
	for i := 1; i <= k; i++ {
		if err := place.Copy(square(powers, n, i-1), power); err != nil {
			return nil, err
		}
		next := x
		losts[i] = bound.Upper()
		if i > 1 {
			next = num.NewMat(x.Format(), n, n)
			if err := s.Gemm(1, power, x, 0, num.Mat{}, next); err != nil {
				return nil, err
			}
			losts[i] = add(mul(losts[i-1], normX), rounding(norm(next)))
		}
		power, sizes[i] = next, norm(next)
	}
	// Block j is Σ X^i / (j k + i)! over i < k.
	coefficients := num.NewMat(x.Format(), k, blocks)
	c := new(big.Float).SetPrec(uint(width + 64)).SetInt64(1)
	lost := make([]*big.Float, blocks)
	for d := range degree + 1 {
		i, j := d%k, d/k
		if d > 0 {
			c.Quo(c, big.NewFloat(float64(d)))
		}
		coefficients.SetBig(i, j, c)
		if i == 0 {
			lost[j] = bound.Upper()
		}
		up := bound.Upper().Set(c)
		up = add(up, mul(up, ulp))
		lost[j] = add(lost[j], mul(up, losts[i]))
		lost[j] = add(lost[j], mul(mul(up, ulp), add(sizes[i], losts[i])))
	}
	sums := num.NewMat(x.Format(), n*n, blocks)
	if err := s.Gemm(1, powers, coefficients, 0, num.Mat{}, sums); err != nil {
		return nil, err
	}
	p := square(sums, n, blocks-1)
	limit := add(lost[blocks-1], rounding(norm(p)))
	for j := blocks - 2; j >= 0; j-- {
		block, next := square(sums, n, j), num.NewMat(x.Format(), n, n)
		if err := s.Gemm(1, p, power, 1, block, next); err != nil {
			return nil, err
		}
		// (P + dP)(X^k + dX) + B + dB
		limit = add(mul(limit, add(sizes[k], losts[k])), mul(norm(p), losts[k]))
		limit = add(limit, add(lost[j], rounding(norm(block))))
		limit = add(limit, rounding(norm(next)))
		p = next
	}
	// The sum of the omitted terms is at most twice the first one, as ‖X‖ ≤ 1.
	tail := bound.Upper().SetInt64(2)
	for d := range degree + 1 {
		tail = mul(tail, bound.Upper().Quo(normX, bound.Upper().SetInt64(int64(d+1))))
	}
	limit = add(limit, tail)
	// ‖exp(X + E) - exp(X)‖ ≤ ‖E‖ e^(‖X‖ + ‖E‖), E the rounding of X
	limit = add(limit, mul(bound.Upper().SetInt64(4), rounding(normX)))
	for range squarings {
		next := num.NewMat(x.Format(), n, n)
		if err := s.Gemm(1, p, p, 0, num.Mat{}, next); err != nil {
			return nil, err
		}
		old := norm(p)
		limit = add(mul(limit, add(add(old, old), limit)), rounding(norm(next)))
		p = next
	}
	return &Exponential{p: p, lost: limit, factor: bigfun.Exp(shift, uint(width)), bits: width}, nil
}

// square returns column j of m, n^2 numbers, as an n x n matrix stored by columns.
func square(m num.Mat, n, j int) num.Mat {
	v := m
	return num.Mat{Arr: v.Arr, Off: v.At(0, j), RS: v.RS, CS: n * v.RS, Rows: n, Cols: n}
}

// meanDiagonal returns an integer near the mean of the diagonal.
func meanDiagonal(a num.Mat) (*big.Float, error) {
	n := a.Rows
	mean := new(big.Float).SetPrec(128)
	for i := range n {
		mean.Add(mean, a.Big(i, i))
	}
	mean.Quo(mean, big.NewFloat(float64(n)))
	if mean.MantExp(nil) > maxExponent {
		return nil, ErrNorm
	}
	v, _ := mean.Float64()
	return big.NewFloat(math.Round(v)), nil
}

// scalingAndDegree returns s and m for which (2^(size-s))^(m+1) / (m+1)! is below 2^-(bits+s+16),
// and size - s ≤ 0, with the fewest products: s + 2 √m.
func scalingAndDegree(size, bits int) (s, m int) {
	best := math.Inf(1)
	for r := range 64 {
		squarings := max(0, size+r)
		log := float64(squarings - size) // -log2 ‖X‖
		have, degree := log, 0
		for have < float64(bits+squarings+16) {
			degree++
			have += log + math.Log2(float64(degree+1))
		}
		if cost := float64(squarings) + 2*math.Sqrt(float64(degree)); cost < best {
			best, s, m = cost, squarings, degree
		}
	}
	return s, m
}

// expmNilpotent stores the entries of the exponential of a in z if a is proved to be nilpotent, and
// reports whether it did. a consists of the rows and columns nodes of a larger matrix.
func expmNilpotent(s *call.Run, a num.Mat, nodes []int, entries []position, z num.Mat) (bool, error) {
	n := a.Rows
	m := a
	if zero, err := modular.New(modular.Primes()()).Nilpotent(s.Ctx, s.Threads, m); err != nil || !zero {
		return false, err
	}
	bits := ziv.PowerBits(s.Threads, m, n)
	if bits > bound.MaxBits {
		return false, nil
	}
	if p, err := enclosedPower(s, a, n, bits); err != nil || !p.vanishes() {
		return false, err
	}
	// (n-1)! exp(A) = Σ (n-1)!/k! A^k over k < n, exactly, by Horner's rule.
	factorial := new(big.Int).MulRange(1, int64(n-1))
	top, low := int64(0), int64(0)
	for i := range n {
		for j := range n {
			if c, t, l := m.Arr.Span(m.At(i, j)); c == num.Finite {
				top, low = max(top, t), min(low, l)
			}
		}
	}
	width := int64(n)*(top-low+int64(mathbits.Len(uint(n)))) + int64(factorial.BitLen()) + 64
	if width > bound.MaxBits {
		return false, nil
	}
	f := num.Precision(uint(width))
	diagonal := func(c *big.Int) num.Mat {
		d := num.NewMat(f, n, n)
		v := new(big.Float).SetPrec(uint(max(c.BitLen(), 64))).SetInt(c)
		for i := range n {
			d.SetBig(i, i, v)
		}
		return d
	}
	c := big.NewInt(1)
	t := diagonal(c)
	for k := n - 1; k > 0; k-- {
		c.Mul(c, big.NewInt(int64(k))) // (n-1)!/(k-1)!
		next := num.NewMat(f, n, n)
		if err := s.Gemm(1, a, t, 1, diagonal(c), next); err != nil {
			return false, err
		}
		t = next
	}
	at := inverseOf(nodes, z.Rows)
	for _, e := range entries {
		v, x := quotient(z.Format(), t.Big(at[e.row], at[e.col]), factorial)
		z.SetEntry(e.row, e.col, v)
		ziv.Lose(s, z, e.row, e.col, x, x)
		s.Stats.Exact++
	}
	return true, nil
}

// quotient returns x / y rounded once to format f, for y > 0, and a big.Float that rounds like x /
// y.
func quotient(f num.Format, x *big.Float, y *big.Int) (num.Scalar, *big.Float) {
	if x.Sign() == 0 {
		return num.NewScalar(f, new(big.Float)), x
	}
	prec := uint(f.Bits() + 64)
	if !f.IsMP() && f.Bits() > 53 {
		// The last term of an expansion is rounded to a multiple of 2^-1074, wherever its first
		// term lies.
		prec = max(prec, uint(max(0, min(1024, x.MantExp(nil)-y.BitLen()+1)+1200)))
	}
	q := new(big.Float).SetPrec(prec).SetMode(big.ToZero).Quo(x, new(big.Float).SetPrec(uint(y.BitLen())).SetInt(y))
	if q.Acc() != big.Exact { // a bit below all others stands for the remainder
		rest := new(big.Float).SetMantExp(big.NewFloat(float64(q.Sign())), q.MantExp(nil)-int(prec)-1)
		q.SetPrec(prec+2).Add(q, rest)
	}
	return num.NewScalar(f, q), q
}
