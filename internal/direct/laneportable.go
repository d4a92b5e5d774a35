package direct

// reference returns a unit that computes like u in plain Go.
func (u laneUnit) reference() *laneUnit {
	u.cut, u.mul = u.cutVertical, u.mulVertical
	u.round, u.scale = u.roundVertical, u.scaleVertical
	return &u
}

// EachUnit calls f under every unit, for tests: those of all machines, in plain Go, and that of the
// machine, for any number of products.
func EachUnit(f func(name string)) {
	under("integers", laneUnit{lanes: 8, bits: 52, width: 18}.reference(), f)
	under("floats", laneUnit{lanes: 4, bits: 51, width: 9, floats: true}.reference(), f)
	if u := machineUnit(); u != nil {
		always := *u
		always.few = 0
		under("machine", &always, f)
	}
}

// WithoutUnit calls f as on a machine that has no unit, for tests.
func WithoutUnit(f func()) { under("", nil, func(string) { f() }) }

func under(name string, u *laneUnit, f func(name string)) {
	before := verticalUnit
	defer func() { verticalUnit = before }()
	verticalUnit = func() *laneUnit { return u }
	f(name)
}
