package place

// A Seed is what a place has begun to make in float64 arithmetic. Later operations with it come
// behind, so that they can be asked for before it is known to be ok: what they make of one that is
// not is to be forgotten.
type Seed interface {
	// Settle waits for it, reports whether it is ok, and ends it.
	Settle(cfg Config) (ok bool, err error)
	// Drop ends it, unless it has been settled.
	Drop()
}

// Made returns a seed that is ok, or nil for none.
func Made(ok bool) Seed {
	if !ok {
		return nil
	}
	return made{}
}

type made struct{}

func (made) Settle(Config) (bool, error) { return true, nil }
func (made) Drop()                       {}
