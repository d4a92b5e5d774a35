// Package ziv rounds numbers that are enclosed by intervals, and proves the cases that intervals
// cannot decide.
//
// An entry of a result is rounded correctly once both ends of an interval that encloses it round to
// the same number (Ziv, Fast evaluation of elementary mathematical functions with correctly rounded
// last bit, 1991). [Decide] computes narrower intervals with more bits until all entries are
// rounded. It fails if an entry is still open with a number of bits that is sufficient in theory.
//
// Entries that are 0, or halfway between two numbers of the format (ties), have exact proofs. A
// column of a solution that consists of such numbers is substituted into the system. A single entry
// of a solution is compared with its tie by p-adic digits. An entry of a factor is a quotient of
// minors; it is compared with its tie by these minors modulo primes. In both cases an integer is 0
// because it is divisible by a power of p, or a product of primes, that exceeds a bound of the
// integer.
//
// Entries that are 0 for all matrices with the same pattern of zeros need no proof; [Pattern] finds
// them.
package ziv
