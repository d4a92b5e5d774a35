package place

import "github.com/halfulp/halfulp/internal/num"

// Refiner is the part of a place that solves systems with a few right-hand sides in fixed point.
type Refiner interface {
	// Refine stores y in Z and returns bounds of r: see Refinement. ok is false, and Z unspecified,
	// if numbers are too long.
	Refine(cfg Config, r Refinement, z num.Mat) (lengths [][]int, ok bool, err error)
}

// Refinement computes r = g - F y in fixed point, for columns g of G; y is a sum of vectors c. F is
// an n x n matrix of finite numbers of MP, and G has finite numbers of MP as well. Step k computes
// c from the leading 62 bits of r and X, of Float64: it rounds 2^-Scale X r to integers, which are
// in units of 2^-(62 - Scale) of the leading bits of r. For F c it uses the first Planes[k] words
// of F. In units of 2^(Shift[j] - 64 Words)
//
//	|r| ≤ 2^lengths[j][k]
//
// holds at the beginning of step k, and the last length bounds the final r. These bounds are at
// most 64 Words + 1. At first an entry of r is in error by less than 1 unit. Each step adds 1 and
//
//	n 2^(Scale + lengths[j][k] + Top - 7 - 64 Planes[k]),
//
// or only 1 if F is a multiple of 2^(Top + 1 - 64 Planes[k]) and |c| ≤ 2^51, which holds for ‖X‖∞ ≤
// 2^(Scale-11). Z has Words + 2 limbs.
type Refinement struct {
	F, X, G num.Mat
	Top     int64   // |F| < 2^Top
	Shift   []int64 // column j of |G| is below 2^Shift[j]
	Words   int
	Scale   int
	Planes  []int
}
