// Package function computes correctly rounded powers and exponentials of matrices.
//
// A matrix is enclosed by a midpoint and a radius for each entry. Products of enclosures are
// computed in more and more bits until all entries round to one number. The graph of the nonzeros
// shows which entries are 0 for all matrices with that graph. It also shows which blocks of an
// exponential are exponentials of nilpotent matrices; their entries are rational and so may be
// ties. Ties of powers are proved modulo primes. Ties of other entries of exponentials cannot be
// proved: they are counted as undecided.
package function
