package reproduce

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// sumSet is one of the sets of numbers on which the paper measures accuracy (003, table 1). It has
// the paper's figures: the exact sum, and the sums and relative errors, at most 1, of float and
// double arithmetic. The errors of MPRES come from table 2.
type sumSet struct {
	name   string
	terms  []float64
	digits int // printed by the paper

	exact          string
	float, double  string
	floatE, doublE float64

	mpres map[int][3]sumCell // by bits: recursive, pairwise, hybrid
}

// sumCell is a sum of table 2 and its relative error.
type sumCell struct {
	sum string
	err float64
}

func same(c sumCell) [3]sumCell { return [3]sumCell{c, c, c} }

// sumSets returns the three sets. Set 3 has terms x^i / i! of powers and factorials that are
// rounded to doubles: with these the exact sum is the one that the paper gives.
func sumSets() []sumSet {
	set1 := make([]float64, 4096)
	for i := range set1 {
		switch {
		case i <= 2046:
			set1[i] = 10
		case i <= 2048:
			set1[i] = 1e-18
		default:
			set1[i] = -10
		}
	}
	set2 := make([]float64, 1+1000000)
	for i := range set2 {
		set2[i] = 1e-16
	}
	set2[0] = 1
	set3 := make([]float64, 64)
	x := new(big.Rat).SetFloat64(-4 * math.Pi)
	power, factorial := big.NewRat(1, 1), big.NewRat(1, 1)
	for i := range set3 {
		p, _ := power.Float64()
		f, _ := factorial.Float64()
		set3[i] = p / f
		power.Mul(power, x)
		factorial.Mul(factorial, big.NewRat(int64(i+1), 1))
	}
	return []sumSet{
		{
			name: "set 1", terms: set1, digits: 1,
			exact: "2e-18", float: "0", floatE: 1, double: "0", doublE: 1,
			mpres: map[int][3]sumCell{
				30:  same(sumCell{"0", 1}),
				60:  same(sumCell{"0", 1}),
				120: {{"2e-18", 5e-15}, {"2e-18", 0}, {"2e-18", 5e-15}},
				240: same(sumCell{"2e-18", 0}),
			},
		},
		{
			name: "set 2", terms: set2, digits: 11,
			exact: "1.0000000001", float: "1.0", floatE: 1e-10, double: "1.0", doublE: 1e-10,
			mpres: map[int][3]sumCell{
				30:  same(sumCell{"1.0", 1e-10}),
				60:  same(sumCell{"1.0000000001", 9e-13}),
				120: same(sumCell{"1.0000000001", 6e-13}),
				240: same(sumCell{"1.0000000001", 6e-13}),
			},
		},
		{
			name: "set 3", terms: set3, digits: 9,
			exact: "3.48733745e-6", float: "2.00600782e-3", floatE: 1, double: "3.48733650e-6", doublE: 3e-7,
			mpres: map[int][3]sumCell{
				30:  {{"1.24597778e-5", 1}, {"1.31716952e-5", 1}, {"1.31716952e-5", 1}},
				60:  {{"3.48733745e-6", 1e-17}, {"3.48733745e-6", 1e-10}, {"3.48733738e-6", 2e-8}},
				120: {{"3.48733745e-6", 0}, {"3.48733745e-6", 0}, {"3.48733745e-6", 6e-27}},
				240: same(sumCell{"3.48733745e-6", 0}),
			},
		},
	}
}

// uniform returns n doubles, uniform in [0, 1), always the same ones.
func uniform(n int) []float64 {
	r := rand.New(rand.NewPCG(6, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64()
	}
	return x
}
