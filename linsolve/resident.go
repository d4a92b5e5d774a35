package linsolve

// Matrices of Newton's method live where their operands do: on the host, or at the run's place.
// The functions here are what the method does with them beside products.
