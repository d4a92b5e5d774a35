package blocks

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// may fuse throughout: estimates of memory, none of them a result.

// ReserveDet counts the memory of a determinant of so many places by blocks, or returns an error if
// that exceeds the limit: F, and half as much again as a matrix of order n in some more bits for
// the blocks of the first step, S among them, and the solution for it. Measured for random matrices
// of order 600 in 53 bits and of order 120 in 1000. Float64 factors of blocks are counted as they
// are made.
func ReserveDet(s *call.Run, a num.Mat, places int) error {
	bytes, factors := detBytes(a, places)
	if err := s.Budget.Reserve(bytes + factors); err != nil {
		return err
	}
	return s.Budget.Reserve(bytes)
}

// CheckDet returns the error that ReserveDet returns once there are float64 factors of A.
func CheckDet(s *call.Run, a num.Mat, places int) error {
	bytes, factors := detBytes(a, places)
	return s.Budget.Check(bytes + 2*factors)
}

// detBytes returns the bytes of ReserveDet, and those of the factors of all blocks of orders n/2,
// n/4 and so on, which are as large as those of A.
func detBytes(a num.Mat, places int) (bytes, factors float64) {
	n := a.Rows
	bytes = float64(call.MatrixBytes(call.MP(a.Format().Bits()), n, n)) + 1.6*float64(call.MatrixBytes(call.MP(places+64), n, n))
	return bytes, 8 * float64(n) * float64(n)
}

// eliminationBytes returns the bytes of an elimination by blocks in so many bits: the scaled
// matrix, what is left of it and the factors.
func eliminationBytes(n, bits int) float64 {
	return 2.5 * float64(call.MatrixBytes(call.MP(bits), n, n))
}
