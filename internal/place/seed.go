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
