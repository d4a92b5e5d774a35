package linsolve

// Products at the run's place need not look at their factors, and nobody waits for them, where
// what they would find is known: from extents of matrices, or by what is proved of them.
