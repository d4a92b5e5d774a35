package rational

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp"
)

// Pow returns A^k for a square matrix A; the unit matrix for k = 0. For k < 0 it returns (A^-1)^-k;
// if A is proved to be singular, the error is a [SingularError]. The error wraps
// [halfulp.ErrMemory] if the result may take more than Options.MemoryLimit.
//
// Powers are computed by squaring and multiplying integers (Knuth, The Art of Computer Programming
// 2, section 4.6.3).
func Pow(a *Matrix, k int, opt *halfulp.Options) (*Matrix, error) {
	if of(a).n.rows != a.n.cols {
		panic(errShape)
	}
	s, err := begin("Pow", opt)
	if err != nil {
		return nil, err
	}
	z, err := s.power(a, k)
	if err := s.end("Pow", err); err != nil {
		return nil, err
	}
	return z, nil
}

func (s *run) power(a *Matrix, k int) (*Matrix, error) {
	e := uint(k)
	if k < 0 {
		e = -e
		var err error
		if a, err = s.inverse(a); err != nil {
			return nil, err
		}
	}
	n := a.n.rows
	if e == 0 || n == 0 {
		return Identity(n), nil
	}
	g, den := a.common()
	// The entries of G^e are at most the power of the largest sum of magnitudes of a row or column.
	norm := g.norm()
	if other := g.transposed().norm(); other.Cmp(norm) < 0 {
		norm = other
	}
	if err := s.room(float64(n*n), float64(e)*(log2(norm)+log2(den)/float64(n))); err != nil {
		return nil, err
	}
	z := g
	var err error
	for b := bits.Len(e) - 2; b >= 0; b-- {
		if z, err = s.product(z, z); err != nil {
			return nil, err
		}
		if e>>b&1 != 0 {
			if z, err = s.product(z, g); err != nil {
				return nil, err
			}
		}
	}
	den = new(big.Int).Exp(den, new(big.Int).SetUint64(uint64(e)), nil)
	d := make([]*big.Int, n)
	for i := range d {
		d[i] = den
	}
	return over(z, d), nil
}

// entryBytes are the bytes of an integer of a matrix beside its words: the pointer to it and its
// header.
const entryBytes = 40

// room returns an error that wraps halfulp.ErrMemory if so many integers of so many bits on average
// take more memory than is allowed.
func (s *run) room(integers, bits float64) error {
	return s.Budget.Check(integers * (entryBytes + math.Ceil(bits/64)*8)) // may fuse: an estimate
}
