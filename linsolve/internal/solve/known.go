package solve

import (
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// Known is a square matrix with the approximate inverse that the first solution computes for all
// later ones.
type Known struct {
	A     num.Mat
	mutex sync.Mutex
	here  num.Mat // A on the host, if near is known
	near  *seed.Approximate
}

// Solve returns the solution of A X = B in format f by the stored approximate inverse. Several
// goroutines may call it at once.
func (y *Known) Solve(s *call.Run, b num.Mat, f num.Format) (num.Mat, error) {
	z := num.NewMat(f, b.Rows, b.Cols)
	if b.Rows == 0 || b.Cols == 0 {
		return z, s.Ctx.Err()
	}
	if err := call.Finite("B", b); err != nil {
		return num.Mat{}, err
	}
	if err := call.Workable(f.Bits()+64, b); err != nil {
		return num.Mat{}, err
	}
	p, err := y.approximate(s)
	if err != nil {
		return num.Mat{}, err
	}
	return z, With(s, p, y.here, b, z)
}

// approximate returns the approximate inverse, which it computes and stores at the first call.
func (y *Known) approximate(s *call.Run) (*seed.Approximate, error) {
	y.mutex.Lock()
	defer y.mutex.Unlock()
	if y.near == nil {
		on, err := OnHost(y.A)
		if err != nil {
			return nil, err
		}
		if err := call.Finite("A", on[0]); err != nil {
			return nil, err
		}
		p, err := ApproximateInverse(s, on[0])
		if err != nil {
			return nil, err
		}
		y.near, y.here = p, on[0]
	}
	return y.near, nil
}
