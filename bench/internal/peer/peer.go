// Package peer is the interface between the measurements and the libraries measured.
package peer

import (
	"encoding/json"
	"math/big"

	"github.com/halfulp/halfulp/bench/internal/problem"
)

// Library is a program to measure.
type Library interface {
	// Name is how the tables call the library.
	Name() string
	// Version is what the library says about itself at run time.
	Version() string
	// Load converts the problem's data to the library's own representation, which is not timed.
	// It returns no methods if the library has none for the problem, say because its precisions are
	// fixed.
	Load(p problem.Problem, threads int) (*Loaded, error)
}

// Loaded is a problem in a library's representation, with the ways to solve it.
type Loaded struct {
	Methods []Method
	Close   func() // frees what lies outside the Go heap; may be nil
}

// Method is one way to solve a loaded problem.
type Method struct {
	// Name distinguishes the library's methods; it includes the library's name.
	Name string
	// Role says how the method enters the comparison.
	Role Role
	// Rounded: the result is the exact value rounded to nearest, ties to even.
	Rounded bool
	// MinColumns is the least number of columns of C that shows the method's cost a multiply-add
	// fairly; 0 means that only the whole product does.
	MinColumns int
	// Linear: every column costs the same, so that a part shows the cost of the whole.
	Linear bool
	// Threads that the method uses.
	Threads int
	// Run computes the first columns columns of C and keeps them inside.
	Run func(columns int) error
	// At returns entry (i, j) of the last result.
	At func(i, j int) *big.Float
	// Detail returns what the method tells about its last run; may be nil.
	Detail func() json.RawMessage
}

// Role says how a method enters the comparison.
type Role string

// The roles.
const (
	Peer      Role = "peer"
	Reference Role = "reference" // hardware arithmetic: the unit of the ratios, not a competitor
	Subject   Role = "subject"   // halfulp
)
