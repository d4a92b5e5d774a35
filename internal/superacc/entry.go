package superacc

import "github.com/halfulp/halfulp/internal/num"

// FewFloats is the number of binary64 addends from which an accumulator for binary64
// numbers is faster.
const FewFloats = 16

// AddDot adds the products x_h y_h.
func (a *Acc) AddDot(x, y num.Vec) { a.addDot(false, 0, x, y) }

// addDot adds the products (-1)^neg 2^exp x_h y_h.
func (a *Acc) addDot(neg bool, exp int64, x, y num.Vec) {
	if x.N >= FewFloats && x.Arr.Kind != num.MP && y.Arr.Kind != num.MP {
		if IsFloat(x.Arr.Format) && IsFloat(y.Arr.Format) {
			a.addFloats(asProducts, neg, exp, x, y)
		} else {
			a.addExpansions(asProducts, neg, exp, x, y)
		}
		return
	}
	bx, by := a.values[0][:], a.values[1][:]
	i, j := x.Off, y.Off
	for range x.N {
		u, v := x.Arr.Value(i, bx), y.Arr.Value(j, by)
		u.Neg = u.Neg != neg
		u.Exp += exp
		a.AddProduct(u, v)
		i += x.Inc
		j += y.Inc
	}
}

// AddVec adds the entries of x.
func (a *Acc) AddVec(x num.Vec) {
	if x.N >= manyDigits && x.Arr.Kind != num.MP && sumUnit() {
		a.addTerms(x, false)
		return
	}
	if x.N >= FewFloats && IsFloat(x.Arr.Format) {
		a.addFloats(asNumbers, false, 0, x, x)
		return
	}
	if x.N >= FewFloats && x.Arr.Terms() > 1 {
		a.addExpansions(asNumbers, false, 0, x, x)
		return
	}
	if a.addLimbs(x, false) {
		return
	}
	buf := a.values[0][:]
	i := x.Off
	for range x.N {
		a.Add(x.Arr.Value(i, buf))
		i += x.Inc
	}
}

// AddAbs adds the absolute values of the entries of x.
func (a *Acc) AddAbs(x num.Vec) {
	if x.N >= manyDigits && x.Arr.Kind != num.MP && sumUnit() {
		a.addTerms(x, true)
		return
	}
	if x.N >= FewFloats && IsFloat(x.Arr.Format) {
		a.addFloats(asMagnitudes, false, 0, x, x)
		return
	}
	if x.N >= FewFloats && x.Arr.Terms() > 1 {
		a.addExpansions(asMagnitudes, false, 0, x, x)
		return
	}
	if a.addLimbs(x, true) {
		return
	}
	buf := a.values[0][:]
	i := x.Off
	for range x.N {
		r := x.Arr.Value(i, buf)
		r.Neg = false
		a.Add(r)
		i += x.Inc
	}
}

// AddEntry adds the products alpha x_h y_h and the product beta c. If alpha = 0 it does
// not read x and y; if beta = 0 it does not read c.
func (a *Acc) AddEntry(alpha num.Real, x, y num.Vec, beta, c num.Real) {
	part := max(x.N, 1)
	if a.Stopped != nil && alpha.Class != num.Zero {
		part = Part(x.Arr.Format, y.Arr.Format)
	}
	a.AddScaledDots(alpha, (x.N+part-1)/part, func(k int) (u, v num.Vec) {
		if a.Stopped != nil && a.Stopped() {
			return x.Slice(0, 0), y.Slice(0, 0)
		}
		return x.Slice(k*part, min((k+1)*part, x.N)), y.Slice(k*part, min((k+1)*part, x.N))
	})
	if beta.Class != num.Zero {
		a.AddProduct(beta, c)
	}
}

// partWords bounds the products of 64-bit words in a part of a sum: some milliseconds.
const partWords = 1 << 22

// Part returns the number of products of numbers of formats x and y between two looks at a context:
// from 16 to 2^14.
func Part(x, y num.Format) int {
	words := (x.Bits()/64 + 1) * (y.Bits()/64 + 1)
	return max(1<<4, min(1<<14, partWords/words))
}

// AddScaledDots adds the products alpha u_h v_h of n pairs of vectors. If alpha = 0 it does not
// read them.
func (a *Acc) AddScaledDots(alpha num.Real, n int, pair func(k int) (u, v num.Vec)) {
	switch alpha.Class {
	case num.Zero:
	case num.Finite:
		if e, ok := PowerOfTwo(alpha.Mag); ok {
			for k := range n {
				u, v := pair(k)
				a.addDot(alpha.Neg, alpha.Exp+e, u, v)
			}
			break
		}
		if a.scaled == nil {
			a.scaled = new(Acc)
		}
		a.scaled.Reset()
		for k := range n {
			a.scaled.AddDot(pair(k))
		}
		a.addScaled(a.scaled, alpha)
	default:
		for k := range n {
			u, v := pair(k)
			for h := range u.N {
				a.AddProduct3(alpha, u.Arr.Value(u.At(h), a.values[0][:]), v.Arr.Value(v.At(h), a.values[1][:]))
			}
		}
	}
}

// Entry returns sum_h alpha x_h y_h + beta c for rounding to format f: exact, or sticky if
// bits lie so far below the leading bit that only their sign matters. The addends are the
// products alpha x_h y_h, unless alpha = 0, and beta c, unless beta = 0; operands of
// omitted products are not read. The result's Mag lies in a and is valid until a changes.
// The former sum of a is lost.
func (a *Acc) Entry(f num.Format, alpha num.Real, x, y num.Vec, beta, c num.Real) num.Real {
	a.Reset()
	a.AddEntry(alpha, x, y, beta, c)
	return a.Value(f)
}
