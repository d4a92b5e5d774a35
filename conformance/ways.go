package conformance

import (
	"math"
	"strings"

	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// The problems in the tables of ways, as a call.Record names them.
const (
	aSystem      = "*solve.problem"
	anInverse    = "*solve.inverse"
	aDeterminant = "*det.enclosed"
	anLU         = "*factors.lu"
	aCholesky    = "*factors.cholesky"
	anLDLT       = "*factors.ldltFactors"
	aQR          = "*factors.qrFactors"
)

// wide lists families whose numbers spread so far that products take thousands of bits. Emulated
// GPUs, written in Go for tests, take minutes for them.
var wide = map[string]bool{
	"spread 500": true, "powers of two": true, "ties": true, "huge": true, "subnormal": true, "adversarial": true,
	"scaled rows and columns": true,
}

// Bits of condition numbers from which float64 factors, or a series, may not suffice, and bits of
// the spread of exponents from which numbers may leave their range.
const (
	illBits       = 32
	seriesIllBits = 12
	spreadBits    = 400
	sliceBits     = 100 // errors of slices are parts of the largest entry of a column
)

// mayLeave returns why a way may leave open a problem that has been solved, "" if it has to decide
// all of it.
func mayLeave(routine, problem, way, family string, a, b lintest.Matrix, outOfRange bool) (why string) {
	k := len(a)
	if k > 0 {
		k = min(k, len(a[0]))
	}
	square := lintest.New(k, k)
	for i := range square {
		copy(square[i], a[i])
	}
	if problem == aQR {
		square = a.T(k).Times(a, k)
	}
	cond, seeded, ill := square.ConditionBits(), false, illBits
	switch way {
	case call.BySeries:
		seeded, ill = true, seriesIllBits
	case call.ByTriangles, call.BySlices, call.ByFloats, call.ByFloat64, call.ByNewton, call.ByTraces:
		seeded = true
	case call.ByBlocks:
		seeded = problem == aDeterminant
	}
	switch decides := way == call.ByRationals || way == call.ByProducts || way == call.BySeeds || way == call.ByPrimes; {
	case decides:
		return ""
	case problem == aDeterminant && cond == math.MaxInt:
		return "singular"
	case (seeded || way == call.ByIntervals) && cond > ill: // intervals are too wide
		return "ill-conditioned"
	case (seeded || problem == aSystem) && (wide[family] || family == "graded" || square.SpreadBits() > spreadBits):
		return "exponents far apart"
	case way == call.BySlices && square.SpreadBits() > sliceBits:
		return "exponents far apart"
	case problem == anLU && (seeded || way == call.ByLongSeed) && a.NearPivots(k):
		return "pivots that are nearly equal"
	case problem == anLDLT && (seeded || way == call.ByDigits || way == call.ByLongSeed) && a.HasEqual():
		return "equal entries, with which pivots may be equal"
	case problem != aSystem:
		return ""
	case outOfRange:
		return "results out of range"
	}
	if strings.HasPrefix(routine, "Inverse") {
		b = lintest.Identity(k)
	}
	if square.Solve(b).HasDyadic() {
		return "zeros, ties or numbers of the format"
	}
	return ""
}
