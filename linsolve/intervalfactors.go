package linsolve

// Enclosures by approximate inverses of the factors tell entries up to a bound for all of a row or
// column: nothing of those that are smaller by more bits than the bound has. Where exponents are
// that far apart elimination in interval arithmetic, entry by entry, tells them (Neumaier, Interval
// methods for systems of equations, 1990, section 4.5): mostly one term of a sum is far above the
// others there, so that nothing is lost. It proves that pivots are not 0 on its way.
