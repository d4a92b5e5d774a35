// Package ziv rounds numbers that are enclosed by intervals, and decides what intervals do not.
//
// An entry of a result is rounded correctly once both ends of an interval that encloses it round
// to the same number (Ziv, Fast evaluation of elementary mathematical functions with correctly
// rounded last bit, 1991). [Decide] makes intervals narrower with more bits until all entries are
// rounded, and fails once theory excludes that so many bits leave one open. Entries that are 0 or
// lie halfway between two numbers of the format, on a tie, have exact proofs. A column of a
// solution is tried in the system itself; a single entry is compared with its tie by p-adic digits,
// an entry of a factor, which is a quotient of minors, by these minors modulo primes, up to bounds
// by which an integer that all these primes divide is 0.
//
// Entries that are 0 for all matrices with the same pattern of zeros need no proof; the pattern
// tells which these are.
package ziv
