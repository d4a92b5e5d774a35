// Package function computes powers and exponentials of matrices, rounded correctly.
//
// Matrices are enclosed by a midpoint and a radius of each entry; products of enclosures have more
// and more bits until all entries round to one number. The graph of the nonzeros tells which
// entries are 0 for all matrices with that graph, and blocks of the exponential that are
// exponentials of nilpotent matrices, which are rational and so may be ties. Ties of powers are
// proved modulo primes. Ties of other entries of exponentials cannot be proved: they are counted
// as undecided.
package function
