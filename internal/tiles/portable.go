package tiles

// portable is the unit of all machines, in plain Go.
var portable = Unit{run: tileRowsGeneric, spread: spreadDigits, dot: tileDotGeneric}

// EachUnit calls f under every unit, for tests: the portable unit in plain Go and the unit of this
// machine, which is used for dot products of fewProducts numbers or more and for products with a
// vector of any size.
func EachUnit(fewProducts int, f func(name string)) {
	under("portable", portable, fewProducts, f)
	if u := machineTiles(); u != nil {
		under("machine", *u, fewProducts, f)
	}
}

func under(name string, u Unit, fewProducts int, f func(name string)) {
	defer func() { tilesOf = machineTiles }()
	u.rows, u.few, u.samples, u.FewProducts = Rows, 0, 0, fewProducts
	tilesOf = func() *Unit { return &u }
	f(name)
}
