package linsolve

// Newton's method begins with inverses in slices or by series, of more bits than float64 has: steps
// to these are products of few bits, which take about as long as those of many at usual orders.
