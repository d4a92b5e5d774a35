package seed

import "github.com/halfulp/halfulp/internal/cuda"

// A Seed is what has been begun to be made of a matrix. Settle or Drop ends it. What is to be done
// with it can be queued before: a GPU has something to do then while the host finds out that it is
// ok, as nearly all are.
type Seed struct {
	status *cuda.Fetch // nil if it is known to be ok
	bad    int64       // what is not ok of it
}

// trivial is the seed for a matrix of order 0, or of one that is too large.
func trivial(n int) *Seed {
	if n > 0 {
		return nil
	}
	return new(Seed)
}

// begin queues stages in s, and gets exponents, which are known before. The stages set a status, in
// which bad bits tell that they have failed.
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

// Settle waits until all is made, within Device.Do, and reports whether it is ok.
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

// Drop forgets a seed, from any goroutine, unless it has been settled.
func (z *Seed) Drop() { z.status.Drop() }
