package linsolve

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
)

// guard is how many bits, in units of the largest entry of a column, a result has beyond the last
// place of its format: enclosures of entries that are 2^-20 of the largest one still decide all but
// one of 2^28 entries that are no ties.
const guard = 48

// newton is an approximate inverse X of F = diag(2^scale) A diag(2^weights), with ‖I - X F‖∞ ≤ rho
// proved.
//
// A step is X' = X + E' X + d for E' = E + h about E = I - X F, so that
//
//	I - X' F = -h + E' E - d F,    F^-1 = X + E X + E² (I - E)^-1 X.
//
// E is known to be small before it is computed: so its product is bounded (exact.Bound), and takes
// moduli for as many bits as X' has, and not for those of X and F together.
type newton struct {
	s   *solver
	by  scaling // of F
	f   *halfulp.Matrix
	row []int64 // Σ_j |f_ij| ≤ 2^row[i]
	x   *halfulp.Matrix
	rho *big.Float
	amp *big.Float // ≥ ‖|X| |F|‖∞
	// column j of X is at most 2^(col[j]+1), whatever the steps; all X have norms of 2^(norm+1) at
	// most.
	col  []int64
	norm int
}

// newNewton returns X = R for a matrix that p approximates the inverse of; nil if A has numbers of
// more than most bits.
func (s *solver) newNewton(a *halfulp.Matrix, p *approximate, most int) *newton {
	by := scaling{p.scale, p.weights}
	t := &newton{s: s, by: by, rho: p.rho}
	if t.f = scaled(a, by, most); t.f == nil {
		return nil
	}
	if t.x = scaled(p.r, scaling{negated(p.weights), negated(p.scale)}, math.MaxInt32); t.x == nil {
		return nil
	}
	sums := boundsOf(raw.Matrix(t.f), make([]int64, t.n()), make([]int64, t.n())).sums()
	for _, v := range sums {
		t.row = append(t.row, int64(v.MantExp(nil)))
	}
	t.amp = p.abs.times(sums)
	t.col = p.abs.columns()
	t.norm = p.abs.norm().MantExp(nil)
	return t
}

func (t *newton) n() int { return t.f.Rows() }

// scaled returns diag(2^rows) A diag(2^cols) exactly; nil for numbers of more than most bits, or of
// exponents that MP may not have.
func scaled(a *halfulp.Matrix, by scaling, most int) *halfulp.Matrix {
	bits := a.Format().Bits()
	m := raw.Matrix(a)
	if m.Arr.Terms() > 1 {
		bits = int(min(longest(a), math.MaxInt32))
	}
	if bits > most {
		return nil
	}
	z := halfulp.NewMatrix(halfulp.MP(uint(max(bits, halfulp.MinPrec))), m.Rows, m.Cols)
	to := raw.Matrix(z)
	var buf [num.MaxValueWords]uint64
	const far = 1 << 29
	for j := range m.Cols {
		for i := range m.Rows {
			x := m.Arr.Value(m.At(i, j), buf[:])
			if x.Class != num.Finite {
				continue
			}
			shift := by.rows[i] + by.cols[j]
			if e := x.Exp + int64(num.BitLen(x.Mag)); max(e, -e) > far || max(shift, -shift) > far {
				return nil
			}
			x.Exp += shift
			to.Arr.Set(to.At(i, j), x)
		}
	}
	return z
}

// columns returns exponents of bounds of the columns: entries of column j are at most 2^exponent.
func (b bounds) columns() []int64 {
	z := make([]int64, b.cols)
	for j := range z {
		z[j] = math.MinInt32
		for i, x := range b.x[j*b.rows : (j+1)*b.rows] {
			if x > 0 && b.exp[i] != zeros {
				_, e := math.Frexp(x)
				z[j] = max(z[j], int64(e)+b.exp[i])
			}
		}
	}
	return z
}

// power returns 2^e.
func power(e int) *big.Float { return upper().SetMantExp(big.NewFloat(1), e) }

// gain returns some bits g with rho ≤ 2^-g.
func (t *newton) gain() int { return -t.rho.MantExp(nil) }

// refine raises the precision until ‖I - X F‖ ≤ 2^-bits. A step from rho to 2^-next with
// next ≤ 2 gain - 2 adds at most (1/8 + 1/4 + 1/4) 2^-next.
func (t *newton) refine(bits int) error {
	for t.gain() < bits {
		next := bits // of the last step, of the one before, ...
		for (next+3)/2 > t.gain() {
			next = (next + 3) / 2
		}
		if err := t.step(next); err != nil {
			return err
		}
	}
	return nil
}

// errorMatrix returns E' with ‖E' - E‖ ≤ lost, which is 2^-bits rho.
func (t *newton) errorMatrix(bits int) (e *halfulp.Matrix, lost *big.Float, err error) {
	n := t.n()
	e = halfulp.NewMatrix(halfulp.MP(uint(max(bits, 24))), n, n)
	b := &exact.Bound{Rows: make([]int64, n), Cols: make([]int64, n)}
	for i := range b.Rows {
		b.Rows[i] = int64(t.rho.MantExp(nil))
	}
	t.s.stats.Steps++
	err = t.s.gemmWithin(-1, t.x, t.f, 1, halfulp.Identity(halfulp.Float64, n), e, b)
	return e, upper().SetMantExp(t.rho, -bits), err
}

// step makes rho about 2^-next, next ≤ 2 gain - 2.
func (t *newton) step(next int) error {
	g := t.gain()
	e, h, err := t.errorMatrix(next - g + 3)
	if err != nil {
		return err
	}
	n := t.n()
	// X' has errors of 2^-prec, and those of E' X that much: d is below (2^-prec + 2^-prec +
	// 2^-prec) (|X| + |E'| |X|).
	prec := max(next+t.amp.MantExp(nil)+4, 64)
	d := halfulp.NewMatrix(halfulp.MP(uint(max(prec-g+1, 24))), n, n)
	if err := t.s.gemm(1, e, t.x, 0, nil, d); err != nil {
		return err
	}
	x := halfulp.NewMatrix(halfulp.MP(uint(prec)), n, n)
	if err := t.s.sum(t.x, d, x); err != nil {
		return err
	}
	t.x = x
	t.s.stats.Precision = prec
	// rho' = h + (rho + h) rho + 3 2^-prec amp (1 + rho + h)
	near := upper().Add(t.rho, h)
	rho := upper().Add(h, upper().Mul(near, t.rho))
	t.amp = upper().Mul(t.amp, upper().Add(upper().Add(near, power(2-prec)), big.NewFloat(1)))
	t.rho = upper().Add(rho, upper().Mul(t.amp, power(2-prec)))
	return nil
}

// gemmWithin is gemm for a result that is proved to be within a bound.
func (s *solver) gemmWithin(alpha float64, a, b *halfulp.Matrix, beta float64, c, d *halfulp.Matrix, bound *exact.Bound) error {
	st, err := raw.GemmWithin(alpha, a, b, beta, c, d, bound, &s.opt)
	if err == nil {
		s.stats.Device = st.(halfulp.Stats).Device
	}
	return err
}

// adder adds numbers of matrices in MP, into words that others do not share.
type adder struct {
	words int
	sum   []uint64
	y     []uint64
}

func newAdder(words int) *adder {
	return &adder{words, make([]uint64, words+1), make([]uint64, words+1)}
}

// add returns x_ij + y_ij: mag 2^exp, with an error below 2 units of mag, which are 2^(-64 words) of
// the larger of the two or less; an exponent of 0 and no mag for zeros.
func (a *adder) add(x, y num.Mat, i, j int) (neg bool, mag []uint64, exp int64) {
	p, q := x.At(i, j), y.At(i, j)
	zp, zq := x.Arr.Class(p) == num.Zero, y.Arr.Class(q) == num.Zero
	switch {
	case zp && zq:
		return false, nil, 0
	case zp:
		exp = int64(y.Arr.Exp[q])
	case zq:
		exp = int64(x.Arr.Exp[p])
	default:
		exp = int64(max(x.Arr.Exp[p], y.Arr.Exp[q]))
	}
	exp -= int64(64 * a.words)
	clear(a.sum)
	if !zp {
		a.place(a.sum, x.Arr, p, exp)
		neg = x.Arr.Cls[p].Neg()
	}
	if !zq {
		a.place(a.y, y.Arr, q, exp)
		if other := y.Arr.Cls[q].Neg(); zp || other == neg {
			neg = other
			num.AddShifted(a.sum, a.y)
		} else {
			num.SubShifted(a.sum, a.y)
			if int64(a.sum[a.words]) < 0 {
				num.Negate(a.sum)
				neg = !neg
			}
		}
	}
	mag = a.sum
	for len(mag) > 0 && mag[len(mag)-1] == 0 {
		mag = mag[:len(mag)-1]
	}
	return neg, mag, exp
}

// place writes the magnitude of number i in units of 2^exp, cut off.
func (a *adder) place(to []uint64, m *num.Array, i int, exp int64) {
	l := m.Limbs()
	sig := m.Sig[i*l : i*l+l]
	from := exp - (int64(m.Exp[i]) - int64(64*l)) // bit of sig that is bit 0
	for k := range to {
		to[k] = num.WordAt(sig, from+int64(64*k))
	}
}

// words returns how many words hold bits bits below the first one, 32 of them to spare.
func words(bits int) int { return (bits + 32 + 63) / 64 }

// sum stores X + Y, of one shape, rounded in Z; all are in MP and share nothing. What is cut off
// first is below 2^-(prec+30) (|x| + |y|).
func (s *solver) sum(x, y, z *halfulp.Matrix) error {
	mx, my, mz := raw.Matrix(x), raw.Matrix(y), raw.Matrix(z)
	count := words(z.Format().Bits())
	adders := make([]*adder, s.threads)
	return par.For(s.ctx, s.threads, mz.Cols, func(w, j int) {
		if adders[w] == nil {
			adders[w] = newAdder(count)
		}
		for i := range mz.Rows {
			neg, mag, exp := adders[w].add(mx, my, i, j)
			if len(mag) > 0 {
				mz.Arr.Set(mz.At(i, j), num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: exp})
			}
		}
	})
}
