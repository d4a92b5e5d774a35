package expansion

import "fmt"

// A Function is an elementary function of one or two arguments.
type Function int

// The functions, each described at the method of [DD] of its name.
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

var functions = [...]struct {
	name   string
	unary  func(e *evaluator, z, x *block)
	binary func(e *evaluator, z, x, y *block)
}{
	Exp:   {name: "exp", unary: (*evaluator).exp},
	Expm1: {name: "expm1", unary: (*evaluator).expm1},
	Exp2:  {name: "exp2", unary: (*evaluator).exp2},
	Log:   {name: "log", unary: (*evaluator).log},
	Log1p: {name: "log1p", unary: (*evaluator).log1p},
	Log2:  {name: "log2", unary: (*evaluator).log2},
	Log10: {name: "log10", unary: (*evaluator).log10},
	Pow:   {name: "pow", binary: (*evaluator).pow},
	Cbrt:  {name: "cbrt", unary: (*evaluator).cbrt},
	Hypot: {name: "hypot", binary: (*evaluator).hypot},
	Sin:   {name: "sin", unary: (*evaluator).sin},
	Cos:   {name: "cos", unary: (*evaluator).cos},
	Tan:   {name: "tan", unary: (*evaluator).tan},
	Asin:  {name: "asin", unary: (*evaluator).asin},
	Acos:  {name: "acos", unary: (*evaluator).acos},
	Atan:  {name: "atan", unary: (*evaluator).atan},
	Atan2: {name: "atan2", binary: (*evaluator).atan2},
	Sinh:  {name: "sinh", unary: (*evaluator).sinh},
	Cosh:  {name: "cosh", unary: (*evaluator).cosh},
	Tanh:  {name: "tanh", unary: (*evaluator).tanh},
	Asinh: {name: "asinh", unary: (*evaluator).asinh},
	Acosh: {name: "acosh", unary: (*evaluator).acosh},
	Atanh: {name: "atanh", unary: (*evaluator).atanh},
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

// ParseFunction returns the function of the given name.
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

// apply sets z = f(x) or f(x, y); z is neither x nor y.
func (e *evaluator) apply(f Function, z, x, y *block) {
	if g := functions[f].binary; g != nil {
		g(e, z, x, y)
	} else {
		functions[f].unary(e, z, x)
	}
}

// one is f of one number or pair.
func one[E DD | TD | QD](f Function, x, y E) (z E) {
	e := evaluators.Get().(*evaluator)
	e.a, e.w, e.n = &portable, len(x), 1
	t := e.take(3)
	for k := range len(x) {
		t[1][k][0], t[2][k][0] = x[k], y[k]
	}
	e.apply(f, &t[0], &t[1], &t[2])
	for k := range len(x) {
		z[k] = t[0][k][0]
	}
	e.give(3)
	evaluators.Put(e)
	return z
}
