package expansion

import "math"

// PublishedDD is a DD with the arithmetic of the paper: see [Published].
type PublishedDD DD

// Add returns a + b.
func (a PublishedDD) Add(b PublishedDD) PublishedDD {
	z0, z1 := publishedAddDD(a[0], a[1], b[0], b[1])
	return PublishedDD(finishDD(z0, z1, a[0]+b[0]))
}

// Sub returns a - b.
func (a PublishedDD) Sub(b PublishedDD) PublishedDD {
	z0, z1 := publishedAddDD(a[0], a[1], -b[0], -b[1])
	return PublishedDD(finishDD(z0, z1, a[0]-b[0]))
}

// Mul returns a b.
func (a PublishedDD) Mul(b PublishedDD) PublishedDD {
	z0, z1 := publishedMulDD(a[0], a[1], b[0], b[1])
	return PublishedDD(finishDD(z0, z1, float64(a[0]*b[0])))
}

// Div returns a / b.
func (a PublishedDD) Div(b PublishedDD) PublishedDD {
	z0, z1 := publishedDivDD(a[0], a[1], b[0], b[1])
	return PublishedDD(finishDD(z0, z1, a[0]/b[0]))
}

// Sqrt returns √a.
func (a PublishedDD) Sqrt() PublishedDD {
	f, g := rootScale(a[0])
	z0, z1 := publishedSqrtDD(float64(a[0]*f), float64(a[1]*f))
	return PublishedDD(finishDD(float64(z0*g), float64(z1*g), math.Sqrt(a[0])))
}

// Exp returns e^a.
func (a PublishedDD) Exp() PublishedDD {
	m, k, ok := powerInExp(a[0])
	if !ok {
		return PublishedDD{specialExp(a[0])}
	}
	z0, z1 := publishedExpDD(a[0], a[1], m)
	f, g := powersOf2(k)
	z0, z1 = float64(float64(z0*f)*g), float64(float64(z1*f)*g)
	if k < -800 { // words may have been rounded
		z0, z1 = fastTwoSum(z0, z1)
	}
	return PublishedDD(finishDD(z0, z1, z0))
}

// Log returns ln a.
func (a PublishedDD) Log() PublishedDD {
	if !(a[0] > 0) || math.IsInf(a[0], 1) {
		return PublishedDD{specialLog(a[0])}
	}
	k, start := logParts(a[0])
	f, g := powersOf2(-k)
	z0, z1 := publishedLogDD(float64(float64(a[0]*f)*g), float64(float64(a[1]*f)*g), start, k)
	return PublishedDD(finishDD(z0, z1, 1))
}

// Sin returns sin a.
func (a PublishedDD) Sin() PublishedDD {
	if !(math.Abs(a[0]) < publishedCircleLimit) {
		return PublishedDD{math.NaN()}
	}
	z0, z1 := publishedCircleDD(a[0], a[1], 0)
	return PublishedDD(finishDD(z0, z1, a[0]))
}

// Cos returns cos a.
func (a PublishedDD) Cos() PublishedDD {
	if !(math.Abs(a[0]) < publishedCircleLimit) {
		return PublishedDD{math.NaN()}
	}
	z0, z1 := publishedCircleDD(a[0], a[1], 1)
	return PublishedDD(finishDD(z0, z1, 1))
}

// PublishedQD is a QD with the arithmetic of the paper: see [Published].
type PublishedQD QD

// Add returns a + b.
func (a PublishedQD) Add(b PublishedQD) PublishedQD {
	z0, z1, z2, z3 := publishedAddQD(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
	return PublishedQD(finishQD(z0, z1, z2, z3, a[0]+b[0]))
}

// Sub returns a - b.
func (a PublishedQD) Sub(b PublishedQD) PublishedQD {
	z0, z1, z2, z3 := publishedAddQD(a[0], a[1], a[2], a[3], -b[0], -b[1], -b[2], -b[3])
	return PublishedQD(finishQD(z0, z1, z2, z3, a[0]-b[0]))
}

// Mul returns a b.
func (a PublishedQD) Mul(b PublishedQD) PublishedQD {
	z0, z1, z2, z3 := publishedMulQD(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
	return PublishedQD(finishQD(z0, z1, z2, z3, float64(a[0]*b[0])))
}

// Div returns a / b.
func (a PublishedQD) Div(b PublishedQD) PublishedQD {
	z0, z1, z2, z3 := publishedDivQD(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])
	return PublishedQD(finishQD(z0, z1, z2, z3, a[0]/b[0]))
}

// Sqrt returns √a.
func (a PublishedQD) Sqrt() PublishedQD {
	f, g := rootScale(a[0])
	z0, z1, z2, z3 := publishedSqrtQD(float64(a[0]*f), float64(a[1]*f), float64(a[2]*f), float64(a[3]*f))
	return PublishedQD(finishQD(float64(z0*g), float64(z1*g), float64(z2*g), float64(z3*g), math.Sqrt(a[0])))
}

// Exp returns e^a.
func (a PublishedQD) Exp() PublishedQD {
	m, k, ok := powerInExp(a[0])
	if !ok {
		return PublishedQD{specialExp(a[0])}
	}
	z0, z1, z2, z3 := publishedExpQD(a[0], a[1], a[2], a[3], m)
	f, g := powersOf2(k)
	z0, z1, z2, z3 = float64(float64(z0*f)*g), float64(float64(z1*f)*g), float64(float64(z2*f)*g), float64(float64(z3*f)*g)
	if k < -800 { // words may have been rounded
		z0, z1, z2, z3 = renormQD(z0, z1, z2, z3)
	}
	return PublishedQD(finishQD(z0, z1, z2, z3, z0))
}

// Log returns ln a.
func (a PublishedQD) Log() PublishedQD {
	if !(a[0] > 0) || math.IsInf(a[0], 1) {
		return PublishedQD{specialLog(a[0])}
	}
	k, start := logParts(a[0])
	f, g := powersOf2(-k)
	z0, z1, z2, z3 := publishedLogQD(float64(float64(a[0]*f)*g), float64(float64(a[1]*f)*g), float64(float64(a[2]*f)*g), float64(float64(a[3]*f)*g), start, k)
	return PublishedQD(finishQD(z0, z1, z2, z3, 1))
}

// Sin returns sin a.
func (a PublishedQD) Sin() PublishedQD {
	if !(math.Abs(a[0]) < publishedCircleLimit) {
		return PublishedQD{math.NaN()}
	}
	z0, z1, z2, z3 := publishedCircleQD(a[0], a[1], a[2], a[3], 0)
	return PublishedQD(finishQD(z0, z1, z2, z3, a[0]))
}

// Cos returns cos a.
func (a PublishedQD) Cos() PublishedQD {
	if !(math.Abs(a[0]) < publishedCircleLimit) {
		return PublishedQD{math.NaN()}
	}
	z0, z1, z2, z3 := publishedCircleQD(a[0], a[1], a[2], a[3], 1)
	return PublishedQD(finishQD(z0, z1, z2, z3, 1))
}
