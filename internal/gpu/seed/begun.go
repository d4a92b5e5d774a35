package seed

import "github.com/halfulp/halfulp/internal/cuda"

// A Seed is an approximate inverse that is being computed on the GPU. Settle or Drop ends it. Work
// that uses it can be queued before, so that the GPU has work while the host learns whether the
// seed is good, as nearly all seeds are.
type Seed struct {
	status *cuda.Fetch // nil if the seed is known to be good
	bad    int64       // status bits that mean failure
}

// trivial returns the seed of a matrix of order 0, and nil for a matrix that is too large.
func trivial(n int) *Seed {
	if n > 0 {
		return nil
	}
	return new(Seed)
}

// begin queues stages in s and downloads exponents, which are computed before the stages. The
// stages set a status, in which the bits bad mean failure.
func begin(s *cuda.Stream, from cuda.Pointer, exps []int64, status cuda.Pointer, bad int64, stages ...func() error) (*Seed, error) {
	known, err := s.Fetch(from, 8*len(exps))
	if err != nil {
		return nil, err
	}
	defer known.Drop()
	for _, stage := range stages {
		if err := stage(); err != nil {
			return nil, err
		}
	}
	z := &Seed{bad: bad}
	if z.status, err = s.Fetch(status, 8); err != nil {
		return nil, err
	}
	if err := cuda.Arrive(known, exps); err != nil {
		z.Drop()
		return nil, err
	}
	return z, nil
}

// Settle waits until the seed is computed, and reports whether it is good. It must be called within
// Device.Do.
func (z *Seed) Settle() (ok bool, err error) {
	if z.status == nil {
		return true, nil
	}
	var told [1]int64
	if err := cuda.Arrive(z.status, told[:]); err != nil {
		return false, err
	}
	return told[0]&z.bad == 0, nil
}

// Drop abandons a seed, unless it has been settled. It may be called from any goroutine.
func (z *Seed) Drop() { z.status.Drop() }
