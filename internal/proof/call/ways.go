package call

import (
	"context"
	"errors"
)

// The ways that systems are solved by, for Forcing. What one leaves open the last one decides.
const (
	ByTriangles   = "triangles"   // float64 inverses of the factors' triangles, and refinement
	BySlices      = "slices"      // an inverse in float64 slices
	BySeries      = "series"      // an inverse by a series of float64 matrices
	ByDigits      = "digits"      // an inverse by elimination in fixed point
	ByFloats      = "floats"      // Newton's method that begins with float64 slices or a series
	ByElimination = "elimination" // an elimination in fixed point or by blocks, and refinement
	ByRationals   = "rationals"   // p-adic digits, and the rational numbers they are those of
	ByProducts    = "products"    // an approximate inverse by products in many bits
)

// SystemWays are the names of all of them, in the order in which they are tried.
var SystemWays = []string{ByTriangles, BySlices, BySeries, ByDigits, ByFloats, ByElimination, ByRationals, ByProducts}

// ErrWay is wrapped by errors about ways that do not apply.
var ErrWay = errors.New("this way is none for this problem")

type forcedKey struct{}

// Forcing returns a context with which systems are solved in a way, however fast it is, for tests
// and measurements; the error wraps ErrWay where it does not apply.
func Forcing(ctx context.Context, way string) context.Context {
	return context.WithValue(ctx, forcedKey{}, way)
}

// Forced returns the way of Forcing, "" if there is none.
func Forced(ctx context.Context) string {
	way, _ := ctx.Value(forcedKey{}).(string)
	return way
}
