package place

import "github.com/halfulp/halfulp/internal/num"

// Refiner is the part of a place that solves systems for some columns in fixed point.
type Refiner interface {
	// Refine stores y in Z and returns what bounds r: see Refinement. It is not ok, and Z
	// unspecified, where numbers are too long for it.
	Refine(cfg Config, r Refinement, z num.Mat) (lengths [][]int, ok bool, err error)
}

// Refinement is r = g - F y for columns g of G, y a sum of vectors c, in fixed point, with F n x n
// of finite numbers of MP and G of such. Step k takes for c about 2^-Scale X r, X of Float64,
// rounded to integers in units of 2^-(62 - Scale) of the leading bits of r, and of F what Planes[k]
// words tell. In units of 2^(Shift[j] - 64 Words)
//
//	|r| ≤ 2^lengths[j][k]
//
// is what step k begins with, and what the last one leaves, where these are at most 64 Words + 1.
// An entry of r is in error by less than 1 unit at first, and each step adds 1, and
//
//	n 2^(Scale + lengths[j][k] + Top - 7 - 64 Planes[k]),
//
// but nothing of the latter where F is a multiple of 2^(Top + 1 - 64 Planes[k]), and |c| ≤ 2^51, as
// it is for ‖X‖∞ ≤ 2^(Scale-11). Z has Words + 2 limbs.
type Refinement struct {
	F, X, G num.Mat
	Top     int64   // |F| < 2^Top
	Shift   []int64 // column j of |G| is below 2^Shift[j]
	Words   int
	Scale   int
	Planes  []int
}
