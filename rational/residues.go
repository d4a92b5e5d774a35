package rational

import (
	"math"
	"math/big"
	"sort"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// primeBits is the number of bits that each of modular.Prime(i) exceeds.
const primeBits = 60

// modulo returns n modulo the field's prime, row by row.
func (s *run) modulo(f *modular.Field, n ints) ([][]uint64, error) {
	rows := make([][]uint64, n.rows)
	return rows, par.For(s.Ctx, s.Threads, n.rows, func(_, i int) {
		rows[i] = make([]uint64, n.cols)
		var mag []uint64
		for j, x := range n.row(i) {
			switch {
			case x == nil:
			case x.IsInt64():
				if v := x.Int64(); v >= 0 {
					rows[i][j] = f.Element(uint64(v))
				} else {
					rows[i][j] = f.Sub(0, f.Element(-uint64(v)))
				}
			default:
				mag = num.FromInt(mag[:0], x)
				rows[i][j] = f.Real(num.Real{Class: num.Finite, Neg: x.Sign() < 0, Mag: mag})
			}
		}
	})
}

// A remainders has the data of the Chinese remainder theorem for some primes with product M.
type remainders struct {
	fields  []*modular.Field
	factors []uint64 // of number i: 1 / (M / p_i) modulo p_i, an element
	tree    [][]*big.Int
	half    *big.Int // M / 2
}

// newRemainders returns the data for the given fields.
func newRemainders(fields []*modular.Field) *remainders {
	r := &remainders{fields: fields, factors: make([]uint64, len(fields))}
	level := make([]*big.Int, len(fields))
	for i, f := range fields {
		level[i] = new(big.Int).SetUint64(f.P)
	}
	r.tree = [][]*big.Int{level}
	for len(level) > 1 {
		var next []*big.Int
		for i := 0; i < len(level); i += 2 {
			if i+1 == len(level) {
				next = append(next, level[i])
			} else {
				next = append(next, new(big.Int).Mul(level[i], level[i+1]))
			}
		}
		r.tree, level = append(r.tree, next), next
	}
	m := r.product()
	r.half = new(big.Int).Rsh(m, 1)
	for i, f := range fields {
		r.factors[i] = f.Invert(f.Integer(new(big.Int).Quo(m, r.tree[0][i])))
	}
	return r
}

// product returns M.
func (r *remainders) product() *big.Int { return r.tree[len(r.tree)-1][0] }

// integer returns the integer of magnitude below M / 2 that is element x(i) modulo prime i. With
// y_i = x_i / (M / p_i) modulo p_i it is ∑ y_i M / p_i, a sum that a tree of products computes.
func (r *remainders) integer(x func(i int) uint64) *big.Int {
	v := make([]*big.Int, len(r.fields))
	for i, f := range r.fields {
		v[i] = new(big.Int).SetUint64(f.Value(f.Mul(x(i), r.factors[i])))
	}
	t := new(big.Int)
	for k := 0; len(v) > 1; k++ {
		m := r.tree[k]
		for i := 0; i < len(v); i += 2 {
			z := v[i]
			if i+1 < len(v) {
				z = z.Add(t.Mul(z, m[i+1]), v[i+1].Mul(v[i+1], m[i]))
				t = new(big.Int)
			}
			v[i/2] = z
		}
		v = v[:(len(v)+1)/2]
	}
	z := v[0].Mod(v[0], r.product())
	if z.Cmp(r.half) > 0 {
		z.Sub(z, r.product())
	}
	return z
}

// log2 returns an upper bound of log2 |x|, or 0 if x is 0. It returns 0 for ±1.
func log2(x *big.Int) float64 {
	if x.CmpAbs(one) <= 0 {
		return 0
	}
	m := new(big.Float).SetPrec(53).SetMode(big.AwayFromZero).SetInt(x)
	e := m.MantExp(m)
	v, _ := m.Float64()
	return float64(e) + math.Log2(math.Abs(v)) + 0x1p-30
}

// squares returns the sums of the squares of each row.
func (n ints) squares() []*big.Int {
	z := make([]*big.Int, n.rows)
	t := new(big.Int)
	for i := range z {
		z[i] = new(big.Int)
		for _, x := range n.row(i) {
			if x != nil {
				z[i].Add(z[i], t.Mul(x, x))
			}
		}
	}
	return z
}

// hadamard returns a bound of the bits of the determinant of a square matrix: Hadamard's bound by
// rows or by columns.
func (n ints) hadamard() int {
	sum := func(squares []*big.Int) (bits float64) {
		for _, x := range squares {
			bits += float64(log2(x)/2) + 0x1p-20
		}
		return bits
	}
	return int(min(sum(n.squares()), sum(n.transposed().squares()))) + 1
}

// cramer returns a bound of the bits of the determinants of the square matrix n with one of its
// columns replaced by a column of b, by rows or by columns.
func (n ints) cramer(b ints) int {
	rows, byRows := n.squares(), 0.0
	for i, x := range rows {
		most := new(big.Int)
		for _, y := range b.row(i) {
			if y != nil && y.CmpAbs(most) > 0 {
				most = y
			}
		}
		byRows += float64(log2(new(big.Int).Add(x, new(big.Int).Mul(most, most)))/2) + 0x1p-20
	}
	norms := make([]float64, 0, n.cols)
	byCols := 0.0
	for _, x := range n.transposed().squares() {
		norms = append(norms, float64(log2(x)/2)+0x1p-20)
		byCols += norms[len(norms)-1]
	}
	sort.Float64s(norms)
	most := 0.0
	for _, x := range b.transposed().squares() {
		most = max(most, float64(log2(x)/2)+0x1p-20)
	}
	if len(norms) > 0 {
		byCols += max(0, most-norms[0])
	}
	return int(min(byRows, byCols)) + 1
}

// primesFor returns fields of primes that do not divide d, with a product above 2^(bits + 1):
// integers of so many bits are determined by their residues.
func primesFor(bits int, d *big.Int) (fields []*modular.Field) {
	for i := 0; len(fields)*primeBits <= bits; i++ {
		f := modular.New(modular.Prime(i))
		if f.Integer(d) != 0 {
			fields = append(fields, f)
		}
	}
	return fields
}
