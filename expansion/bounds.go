package expansion

// bounds has the error bounds of the methods, in units of u^words, u = 2^-53, for DD, TD and QD.
var bounds = map[string][3]float64{
	"add":   {3, 8, 16},
	"sub":   {3, 8, 16},
	"mul":   {4, 32, 106},
	"sqr":   {4, 18, 61},
	"fma":   {4, 32, 106}, // of |a b| + |a b + c|
	"div":   {12, 80, 600},
	"recip": {9, 42, 304},
	"sqrt":  {25. / 8, 24, 140},
	"rsqrt": {13, 66, 444},
	"addF":  {2, 6, 8},
	"mulF":  {2, 7, 17},
}

// Bound returns a bound on the relative error of an operation in numbers of 2, 3 or 4 words, in
// units of u^words, u = 2^-53. Operations are the methods Add, Sub, Mul, Sqr, Div, Recip, Sqrt and
// Rsqrt, AddFloat (addF) and MulFloat (mulF), by their names in lower case, and fma, whose bound is
// relative to |a b| + |a b + c|. Bound panics for other names.
func Bound(operation string, words int) float64 {
	b, ok := bounds[operation]
	if !ok || words < 2 || words > 4 {
		panic("expansion: no such operation or number of words")
	}
	return b[words-2]
}
