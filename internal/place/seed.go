package place

// A Seed is an approximation in float64 arithmetic that a place has started to compute. Later
// operations that use it are queued behind it, so a caller can request them before it knows whether
// the seed is ok. If the seed is not ok, the caller must discard their results.
type Seed interface {
	// Settle waits for the seed, reports whether it is ok, and releases it.
	Settle(cfg Config) (ok bool, err error)
	// Drop releases the seed, unless it has been settled.
	Drop()
}

// Made returns a seed that is already ok; nil if ok is false.
func Made(ok bool) Seed {
	if !ok {
		return nil
	}
	return made{}
}

type made struct{}

func (made) Settle(Config) (bool, error) { return true, nil }
func (made) Drop()                       {}

// Spectral is the part of a place that reduces symmetric matrices in float64 arithmetic, with
// errors that have no known bound.
type Spectral interface {
	// Tridiagonal computes the diagonal d and the off-diagonal e of a tridiagonal matrix T =
	// H' A H, for a symmetric n x n matrix A of finite numbers below 1, stored by columns on the
	// host. H is orthogonal. The caller must free the reduction.
	Tridiagonal(cfg Config, a []float64, n int) (r Reduction, d, e []float64, err error)
}

// A Reduction is the matrix H of a Spectral.
type Reduction interface {
	// Apply sets Z = H Z for an n x n matrix Z of the host, stored by columns. It is called at most
	// once.
	Apply(cfg Config, z []float64) error
	Free()
}
