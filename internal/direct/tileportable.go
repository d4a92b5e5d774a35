package direct

// portable is the unit of all machines, in plain Go.
var portable = tileUnit{run: tileRowsGeneric, spread: spreadDigits, dot: tileDotGeneric}

// EachTileUnit calls f under every unit, for tests: that of all machines, in plain Go, and that of the machine,
// for dot products from so many numbers on and products with a vector of any size.
func EachTileUnit(fewProducts int, f func(name string)) {
	underTiles("portable", portable, fewProducts, f)
	if u := machineTiles(); u != nil {
		underTiles("machine", *u, fewProducts, f)
	}
}

func underTiles(name string, u tileUnit, fewProducts int, f func(name string)) {
	defer func() { tilesOf = machineTiles }()
	u.rows, u.few, u.samples, u.fewProducts = tileRows, 0, 0, fewProducts
	tilesOf = func() *tileUnit { return &u }
	f(name)
}
