package roots

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/proof/budget"
)

// A bracket is an open interval (m / 2^k, (m + 1) / 2^k) that contains one root, where the sign of
// the polynomial is sign below the root and -sign above. If exact is set, the root is m / 2^k.
type bracket struct {
	m     *big.Int
	k     int
	sign  int
	exact bool
}

// A cell is the interval [m / 2^k, (m + 1) / 2^k] of the search.
type cell struct {
	m *big.Int
	k int
}

// contains reports whether c contains d.
func (c cell) contains(d cell) bool {
	return d.k >= c.k && new(big.Int).Rsh(d.m, uint(d.k-c.k)).Cmp(c.m) == 0
}

// A node is a cell with the coefficients of the polynomial in its Bernstein basis: fixed-point
// numbers in two's complement of words words each, least significant word first, whose errors are
// at most lost units.
type node struct {
	cell
	b           []uint64
	lost        uint64
	left, right int // signs of the polynomial at the ends
}

// An isolator finds the roots of a square-free polynomial p in (0, 1). p has no root at 0 and 1.
type isolator struct {
	p      poly
	values *valuer
	ctx    context.Context
	of     budget.Budget
	words  int // of a coefficient
	found  []bracket
}

// isolate returns brackets of the roots of p in (0, 1).
func isolate(ctx context.Context, of budget.Budget, p poly) ([]bracket, error) {
	s := &isolator{p: p, values: newValuer(p), ctx: ctx, of: of}
	open := []cell{{new(big.Int), 0}}
	for s.words = 2 + (p.degree()+63)/64; ; s.words *= 2 {
		var err error
		if open, err = s.search(open); err != nil || len(open) == 0 {
			return s.found, err
		}
	}
}

// search looks for roots in the given cells, none of which contains another one, and returns the
// cells that need coefficients of more bits.
func (s *isolator) search(cells []cell) (open []cell, err error) {
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	stack := []node{root}
	for len(stack) > 0 {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.of.Check(float64(8*len(root.b)) * float64(len(stack)+2)); err != nil {
			return nil, fmt.Errorf("isolation of the roots of a polynomial of degree %d: %w", s.p.degree(), err)
		}
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		inside, above := false, false // x is part of a cell, or a cell is part of x
		for _, c := range cells {
			inside = inside || c.contains(x.cell)
			above = above || x.contains(c)
		}
		if !inside && !above {
			continue
		}
		if inside {
			sign, least, most, definite := s.changes(&x)
			if most == 0 {
				continue
			}
			if least == 1 && most == 1 {
				s.found = append(s.found, bracket{m: x.m, k: x.k, sign: sign})
				continue
			}
			if !definite {
				open = append(open, x.cell)
				continue
			}
		}
		low, high := s.halves(x, inside)
		for _, y := range []node{high, low} {
			if _, _, most, _ := s.changes(&y); most > 0 {
				stack = append(stack, y)
			}
		}
	}
	return open, nil
}

// root returns the cell [0, 1]. With p = Σ c_j x^j, binomial(d, i) b_i is the coefficient of x^i in
// Σ c_j x^j (1 + x)^(d-j), which is a coefficient of q(x + 1), q = x^d p(1/x).
func (s *isolator) root() (node, error) {
	d := s.p.degree()
	q := make([]*big.Int, d+1)
	for i, c := range s.p {
		q[d-i] = new(big.Int).Set(c)
	}
	for i := range d {
		if err := s.ctx.Err(); err != nil {
			return node{}, err
		}
		for j := d - 1; j >= i; j-- {
			q[j].Add(q[j], q[j+1])
		}
	}
	binomial, most := big.NewInt(1), 0
	shares := make([]*big.Int, d+1)
	for i := range shares {
		shares[i] = new(big.Int).Set(binomial)
		most = max(most, q[d-i].BitLen()-binomial.BitLen()+1)
		binomial.Mul(binomial, big.NewInt(int64(d-i)))
		binomial.Quo(binomial, big.NewInt(int64(i+1)))
	}
	// All coefficients below 2^most become integers below 2^(64 words - 2), rounded down.
	shift := 64*s.words - 3 - most
	x := node{cell: cell{new(big.Int), 0}, b: make([]uint64, (d+1)*s.words), lost: 1}
	one := big.NewInt(1)
	for i := range shares {
		n, by := q[d-i], shares[i]
		if shift >= 0 {
			n.Lsh(n, uint(shift))
		} else {
			by.Lsh(by, uint(-shift))
		}
		n.Div(n, by) // rounds down, as by > 0
		at := x.b[i*s.words : (i+1)*s.words]
		neg := n.Sign() < 0
		if neg {
			n.Add(n, one) // -n = not (n - 1)
		}
		for k, w := range wordsOf(n) {
			at[k] = w
		}
		if neg {
			for k := range at {
				at[k] = ^at[k]
			}
		}
	}
	x.left = s.p[0].Sign()
	x.right = s.values.exactly(one, 0).Sign()
	return x, nil
}

// wordsOf returns the words of |n|.
func wordsOf(n *big.Int) []uint64 {
	if n.Sign() == 0 {
		return nil
	}
	return dyadic{n, 0}.real().Mag
}

// half replaces x by the average of x and y, rounded down.
func half(x, y []uint64) {
	y = y[:len(x)]
	s, c := bits.Add64(x[0], y[0], 0)
	for k := 1; k < len(x); k++ {
		var t uint64
		t, c = bits.Add64(x[k], y[k], c)
		x[k-1] = s>>1 | t<<63
		s = t
	}
	x[len(x)-1] = uint64(int64(s) >> 1)
}

// halves bisects a cell by de Casteljau's algorithm. Averages do not enlarge errors, and rounding
// adds at most half a unit in each of the d steps. If exact is set, a root in the middle is added
// to the roots found.
func (s *isolator) halves(x node, record bool) (low, high node) {
	w, d := s.words, s.p.degree()
	lost := x.lost + uint64(d+1)/2
	left := make([]uint64, len(x.b))
	copy(left, x.b[:w])
	for l := 1; l <= d; l++ {
		for i := 0; i <= d-l; i++ {
			half(x.b[i*w:(i+1)*w], x.b[(i+1)*w:(i+2)*w])
		}
		copy(left[l*w:(l+1)*w], x.b[:w])
	}
	m := new(big.Int).Lsh(x.m, 1)
	high = node{cell: cell{new(big.Int).Add(m, big.NewInt(1)), x.k + 1}, b: x.b, lost: lost, right: x.right}
	low = node{cell: cell{m, x.k + 1}, b: left, lost: lost, left: x.left}
	middle, ok := signOf(high.b[:w], lost)
	if !ok {
		middle, _ = s.values.at(high.m, high.k)
	}
	if middle == 0 && record {
		s.found = append(s.found, bracket{m: high.m, k: high.k, exact: true})
	}
	high.left, low.right = middle, middle
	return low, high
}

// signOf returns the sign of a number with an error of at most lost units, not ok if it has none.
func signOf(x []uint64, lost uint64) (sign int, ok bool) {
	top := x[len(x)-1]
	sign = 1
	var flip uint64
	if int64(top) < 0 {
		sign, flip = -1, ^uint64(0)
	}
	for _, w := range x[1:] {
		if w != flip {
			return sign, true
		}
	}
	return sign, x[0]^flip > lost
}

// size returns the bits of the magnitude of a number, roughly.
func size(x []uint64) int {
	var flip uint64
	if int64(x[len(x)-1]) < 0 {
		flip = ^uint64(0)
	}
	for k := len(x) - 1; k >= 0; k-- {
		if w := x[k] ^ flip; w != 0 {
			return 64*k + bits.Len64(w)
		}
	}
	return 0
}

// changes returns bounds of the number of sign changes of the coefficients. sign is the sign of the
// first coefficient that is not 0. definite reports whether some coefficient exceeds its error by
// so much that halves of the cell are worth a look.
//
// A coefficient of unknown sign may be 0. So the least number of changes is the number without
// it, and the largest one comes from the best choice of its sign.
func (s *isolator) changes(x *node) (sign, least, most int, definite bool) {
	const impossible = -1 << 30
	w, d := s.words, s.p.degree()
	last := 0
	best := [2]int{impossible, impossible} // most changes of sequences that end with - and +
	enough := bits.Len64(x.lost) + 8
	for i := range d + 1 {
		b := x.b[i*w : (i+1)*w]
		c, ok := signOf(b, x.lost)
		switch i {
		case 0:
			c, ok = x.left, true
		case d:
			c, ok = x.right, true
		}
		definite = definite || size(b) > enough
		switch {
		case ok && c == 0:
		case ok:
			if sign == 0 {
				sign = c
			}
			if last != 0 && c != last {
				least++
			}
			last = c
			at := (c + 1) / 2
			best[at] = max(best[at], best[1-at]+1, 0)
			best[1-at] = impossible
		default:
			best[0], best[1] = max(best[0], best[1]+1, 0), max(best[1], best[0]+1, 0)
		}
	}
	return sign, least, max(best[0], best[1], 0), definite
}
