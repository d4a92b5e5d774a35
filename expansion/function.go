package expansion

import "fmt"

// A Function is an elementary function of one or two arguments. Scalars and arrays, CPUs and GPUs
// compute the same bits.
//
// Arguments count exactly, also in the reduction of sines of huge numbers. Special values are the
// same as in package math. The relative error of a result is at most [Function.Bound], unless the
// result or a word of it that matters falls below 2^-1022: then absolute errors of a few 2^-1074
// come on top.
type Function int

// The functions, in the order of [Functions]. Pow is x^y, Hypot √(x² + y²), and Atan2 the
// angle of the point (y, x), its arguments in the order of [math.Atan2].
const (
	Exp Function = iota
	Expm1
	Exp2
	Log
	Log1p
	Log2
	Log10
	Pow
	Cbrt
	Hypot
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Atan2
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
)

// Bounds add up the worst effects of the errors of the last operations, to first order, in units of
// u^w of the result. A, M, D, S, F and G are the bounds of additions, products, quotients, roots,
// additions of a float64 and products by a float64: (3, 4, 12, 25/8, 2, 2) for DD, (8, 32, 80, 24,
// 6, 7) for TD and (16, 106, 600, 140, 8, 17) for QD. A constant counts 1.
//
//	exp, exp2   F + 0.42 (A + 1): |s| <= 0.42 (1 + s)
//	expm1 (B)   2F + 1.4 (A + 1) for x about ±ln 2, 3A + 2 near 0
//	log, log1p  F + 1/2: all but the leading part is below 2^-12 of the result
//	log2, log10 2F + M + 1, F + M + 2
//	pow         exp, and 745 · 2^-14 (4A + 2M) + 1 from the logarithm's lower part
//	cbrt        A + 4/3 G: the error of m s² counts a third, the error of m s³ two thirds
//	hypot       S + (A + M)/2
//	sin, cos    3A + M + F + 3 + (A + G + 1)/6 at k = ±1, where sin a is twice the result
//	tan         twice that and D
//	atan, atan2 2G + 5A + D + 4 at c = 1/128, where c v is twice the result
//	asin, acos  that and S + F + M/2
//	sinh        B + A + (D + F)/2
//	cosh, tanh  B + 2F + M + D
//	asinh       F + A + (2M + 2D + 3F + S)/4 + F + 1
//	acosh       A + S + (M + F)/2 + 2F + 1
//	atanh       D + 2F + 1
var functions = [...]struct {
	name   string
	unary  func(e *evaluator, z, x *block)
	binary func(e *evaluator, z, x, y *block)
	bounds [3]float64 // of 2, 3 and 4 words: see Function.Bound
}{
	Exp:   {name: "exp", unary: (*evaluator).exp, bounds: [3]float64{4, 12, 24}},
	Expm1: {name: "expm1", unary: (*evaluator).expm1, bounds: [3]float64{12, 30, 60}},
	Exp2:  {name: "exp2", unary: (*evaluator).exp2, bounds: [3]float64{4, 12, 24}},
	Log:   {name: "log", unary: (*evaluator).log, bounds: [3]float64{3, 9, 17}},
	Log1p: {name: "log1p", unary: (*evaluator).log1p, bounds: [3]float64{3, 9, 17}},
	Log2:  {name: "log2", unary: (*evaluator).log2, bounds: [3]float64{9, 45, 123}},
	Log10: {name: "log10", unary: (*evaluator).log10, bounds: [3]float64{8, 40, 116}},
	Pow:   {name: "pow", binary: (*evaluator).pow, bounds: [3]float64{6, 16, 32}},
	Cbrt:  {name: "cbrt", unary: (*evaluator).cbrt, bounds: [3]float64{6, 20, 40}},
	Hypot: {name: "hypot", binary: (*evaluator).hypot, bounds: [3]float64{7, 72, 528}},
	Sin:   {name: "sin", unary: (*evaluator).sin, bounds: [3]float64{20, 68, 172}},
	Cos:   {name: "cos", unary: (*evaluator).cos, bounds: [3]float64{20, 68, 172}},
	Tan:   {name: "tan", unary: (*evaluator).tan, bounds: [3]float64{52, 216, 944}},
	Asin:  {name: "asin", unary: (*evaluator).asin, bounds: [3]float64{44, 204, 1176}},
	Acos:  {name: "acos", unary: (*evaluator).acos, bounds: [3]float64{44, 204, 1176}},
	Atan:  {name: "atan", unary: (*evaluator).atan, bounds: [3]float64{36, 140, 720}},
	Atan2: {name: "atan2", binary: (*evaluator).atan2, bounds: [3]float64{36, 140, 720}},
	Sinh:  {name: "sinh", unary: (*evaluator).sinh, bounds: [3]float64{22, 78, 372}},
	Cosh:  {name: "cosh", unary: (*evaluator).cosh, bounds: [3]float64{32, 150, 772}},
	Tanh:  {name: "tanh", unary: (*evaluator).tanh, bounds: [3]float64{32, 150, 772}},
	Asinh: {name: "asinh", unary: (*evaluator).asinh, bounds: [3]float64{20, 100, 600}},
	Acosh: {name: "acosh", unary: (*evaluator).acosh, bounds: [3]float64{20, 110, 600}},
	Atanh: {name: "atanh", unary: (*evaluator).atanh, bounds: [3]float64{18, 94, 620}},
}

// Functions lists all functions.
func Functions() []Function {
	all := make([]Function, len(functions))
	for i := range all {
		all[i] = Function(i)
	}
	return all
}

func (f Function) String() string {
	if f < 0 || int(f) >= len(functions) {
		return fmt.Sprintf("Function(%d)", int(f))
	}
	return functions[f].name
}

// ParseFunction returns the function of the given name: the name in package math in lower case.
func ParseFunction(name string) (Function, error) {
	for f := range functions {
		if functions[f].name == name {
			return Function(f), nil
		}
	}
	return 0, fmt.Errorf("expansion: unknown function %q", name)
}

// Arity is the number of arguments of f, 1 or 2.
func (f Function) Arity() int {
	if functions[f].binary != nil {
		return 2
	}
	return 1
}

// Bound returns a bound on the relative error of f in numbers of 2, 3 or 4 words, in units of
// u^words, u = 2^-53. It adds the bounds of the operations of f, to first order, each times the
// largest factor by which its error counts, and the terms that series leave out. Among 10^5
// arguments a function, the errors stay below 7, 10 and 21 units, and below 3 in the exponential
// functions, logarithms, sines and cosines: see bench/records/epyc-expansion-functions.json.gz.
func (f Function) Bound(words int) float64 { return functions[f].bounds[words-2] }

// apply sets z = f(x) or f(x, y); z is neither x nor y.
func (e *evaluator) apply(f Function, z, x, y *block) {
	if g := functions[f].binary; g != nil {
		g(e, z, x, y)
	} else {
		functions[f].unary(e, z, x)
	}
}

// oneLane computes f by an evaluator of one lane, with the words of x and y in blocks.
func oneLane[E DD | TD | QD](x, y E, f func(e *evaluator, z, x, y *block)) (z E) {
	e := evaluators.Get().(*evaluator)
	e.a, e.w, e.n = &portable, len(x), 1
	t := e.take(3)
	for k := range len(x) {
		t[1][k][0], t[2][k][0] = x[k], y[k]
	}
	f(e, &t[0], &t[1], &t[2])
	for k := range len(x) {
		z[k] = t[0][k][0] + 0 // no -0 but as the leading word
	}
	z[0] = t[0][0][0]
	e.give(3)
	evaluators.Put(e)
	return z
}

// applyOne is f of one number, or of two.
func applyOne[E DD | TD | QD](f Function, x, y E) E {
	return oneLane(x, y, func(e *evaluator, z, x, y *block) { e.apply(f, z, x, y) })
}

// sinCos is the sine and the cosine of x.
func sinCos[E DD | TD | QD](x E) (sin, cos E) {
	sin = oneLane(x, x, func(e *evaluator, z, x, y *block) {
		e.sinCos(z, y, x)
		for k := range e.w {
			cos[k] = y[k][0] + 0
		}
	})
	return sin, cos
}
