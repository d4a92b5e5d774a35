package product

import (
	"math"
	"math/big"
	"unsafe"

	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/residue"
)

// checkWeights compares the integer V of the reconstruction, in units of 2^cut, with the product X
// modulo the redundant modulus m, as package residue does: with R_t = M/m_t - 2^cut W_t and R = M -
// 2^cut floor(M 2^-cut),
//
//	X = 2^cut V + sum y_t R_t - q R
//
// exactly. The sums of r_t = R_t mod m are computed after the sums of W_t.
//
// The proof in package residue about faults in the residues modulo one m_t holds here: y_t is in
// [0, 4.375 m_t), which may be any representative of its residue class. X lies within M (1/2 - d)
// of 0, and the number X' that faulty residues represent within M (1/2 + d), where d is the error
// of the quotient. So X and X' differ by less than M, and by a multiple of M/m_t that is not a
// multiple of m.
type checkWeights struct {
	modulus int
	rests   []uint32 // r_t
	powers  []uint32 // 2^(cut + 32 w) mod m, w = 0, ..., words
	rest    uint32   // -R mod m
}

func (b *base) checkWeights(w weights) *checkWeights {
	c := &checkWeights{modulus: b.planes[len(b.moduli)], rests: make([]uint32, len(b.moduli)), powers: make([]uint32, w.words+1)}
	m := big.NewInt(int64(c.modulus))
	rest := func(words []uint32) int64 { // modulo 2^cut, then m
		x := new(big.Int)
		for i := w.cut/32 - 1; i >= 0; i-- {
			x.Lsh(x, 32).Or(x, big.NewInt(int64(wordAt(words, i))))
		}
		return x.Mod(x, m).Int64()
	}
	for t := range b.moduli {
		c.rests[t] = uint32(rest(b.words[t]))
	}
	c.rest = uint32((int64(c.modulus) - rest(b.words[len(b.moduli)])) % int64(c.modulus))
	for i := range c.powers {
		c.powers[i] = uint32(new(big.Int).Exp(big.NewInt(2), big.NewInt(int64(w.cut+32*i)), m).Int64())
	}
	return c
}

// faultAt is the offset in Control of the first entry that contradicts its redundant modulus.
const faultAt = int64(unsafe.Offsetof(abi.Control{}.Outcome) + unsafe.Offsetof(abi.Outcome{}.Fault))

// checking returns the argument by which finish checks its integers.
func (m *multiplication) checking() abi.Checking {
	if !m.cfg.Check {
		return abi.Checking{}
	}
	c := m.weights.check
	return abi.Checking{
		Powers: m.weights.powers.Pointer(), Fault: m.control.At(faultAt), Inverse: math.MaxUint64 / uint64(c.modulus),
		Modulus: uint32(c.modulus), Rest: c.rest, Rows: int32(m.a.Rows),
	}
}

// checked returns the error of an entry that contradicts its redundant modulus, if there is one,
// and counts the entries compared.
func (m *multiplication) checked(got abi.Outcome) error {
	if !m.cfg.Check {
		return nil
	}
	if got.Fault != 0 {
		f := ^got.Fault
		place, rows := int(f>>32), m.a.Rows
		return &residue.HardwareError{
			Device: m.s.Device().String(), Row: place % rows, Col: place / rows, Modulus: m.stats.Check.Modulus,
			Integer: int(f >> 16 & math.MaxUint16), Product: int(f & math.MaxUint16),
		}
	}
	m.stats.Check.Compared, m.stats.Check.Unchecked = entriesOf(m.a.Rows, m.b.Rows, m.cfg.Triangle), int64(got.List)
	return nil
}

// entriesOf returns the number of entries of a triangle of an m x n matrix, or of the whole matrix
// for 0.
func entriesOf(m, n int, triangle byte) (count int64) {
	for j := range n {
		switch triangle {
		case 'U':
			count += int64(min(j+1, m))
		case 'L':
			count += int64(max(m-j, 0))
		default:
			count += int64(m)
		}
	}
	return count
}
