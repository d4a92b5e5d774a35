package lanes

// reference returns a unit that computes like u in plain Go.
func (u Unit) reference() *Unit {
	u.cut, u.mul = u.cutVertical, u.mulVertical
	u.round, u.scale = u.roundVertical, u.scaleVertical
	return &u
}

// EachUnit calls f under every unit, for tests: the portable units in plain Go and the unit of this
// machine, which is used for any number of products.
func EachUnit(f func(name string)) {
	under("integers", Unit{Lanes: 8, Bits: 52, width: 18}.reference(), f)
	under("floats", Unit{Lanes: 4, Bits: 51, width: 9, Floats: true}.reference(), f)
	if u := machineUnit(); u != nil {
		always := *u
		always.Few = 0
		under("machine", &always, f)
	}
}

// WithoutUnit calls f as on a machine without a unit, for tests.
func WithoutUnit(f func()) { under("", nil, func(string) { f() }) }

func under(name string, u *Unit, f func(name string)) {
	before := unitOf
	defer func() { unitOf = before }()
	unitOf = func() *Unit { return u }
	f(name)
}
