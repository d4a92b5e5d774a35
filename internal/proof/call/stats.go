package call

import "github.com/halfulp/halfulp/internal/residue"

// Stats says how a routine ran and what proved its result.
type Stats struct {
	Device, Method             string
	Threads                    int
	Exact, Overflow, Underflow int64
	Stages                     []residue.Stage
	Check                      *residue.Check // nil if products are not to be checked
	Proof
}

// Proof is what a result rests on.
type Proof struct {
	Cond      string  // bound of the condition number, three digits
	Rounds    int     // float64 decompositions
	Rho       float64 // bound of ‖I - R A‖
	Steps     int     // of refinement
	Precision int     // bits that were worked with last
	Primes    int     // modulo which A was decomposed
	Solved    int     // columns that solve the system exactly
	Ties      int     // zeros and ties decided by p-adic digits
	Digits    int     // p-adic digits of these, and of solutions in rational numbers
	Undecided int     // entries that seem to be 0 or ties
}
