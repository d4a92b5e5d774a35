package call

import "github.com/halfulp/halfulp/internal/residue"

// Stats describes how a routine ran and what proved its result.
type Stats struct {
	Device, Method             string
	Threads                    int
	Exact, Overflow, Underflow int64
	Stages                     []residue.Stage
	Check                      *residue.Check // nil if products are not to be checked
	Proof
}

// Proof lists the computations that prove a result.
type Proof struct {
	Cond      string  // bound of the condition number, in three digits
	Rounds    int     // float64 decompositions
	Rho       float64 // bound of ‖I - R A‖
	Steps     int     // steps of refinement
	Precision int     // bits of the last attempt
	Primes    int     // number of primes modulo which A was decomposed
	Solved    int     // columns that solve the system exactly
	Ties      int     // zeros and ties decided by p-adic digits
	Digits    int     // p-adic digits for these, and for rational solutions
	Undecided int     // entries that seem to be 0 or ties
}
