package linsolve

// Columns of QRPivoted are in the order in which longestColumns has them in so many bits, which
// takes n³ operations on big.Float. The same order comes from float64 arithmetic where the factors
// tell afterwards that each pivot is by more than longestColumns may err larger than all that it is
// chosen from.
