package expansion

import (
	"slices"
	"strings"
)

// publishedPrefix is the prefix of the names of Published's operations and functions at places.
const publishedPrefix = "Published"

// publishedOperation is an operation or function of Published.
type publishedOperation int

const (
	publishedAdd publishedOperation = iota
	publishedSub
	publishedMul
	publishedDiv
	publishedSqrt
	publishedExp
	publishedLog
	publishedSin
	publishedCos
)

// publishedNames are the names of the operations' routines and of the functions.
var publishedNames = []string{"Add", "Sub", "Mul", "Div", "Sqrt", "exp", "log", "sin", "cos"}

// hasPublished reports whether a routine on arrays supports Published; routine "" stands for any.
func hasPublished(routine string) bool {
	return routine == "" || routine == "Map" || slices.Contains(publishedNames[:publishedExp], routine)
}

func (f Function) published() bool { return slices.Contains(publishedNames[publishedExp:], f.String()) }

func publishedFunctionNames() string { return strings.Join(publishedNames[publishedExp:], ", ") }

// published sets z to the operation or function of the given name, on the CPU.
func (r elementwise) published(name string) error {
	op := publishedOperation(slices.Index(publishedNames, name))
	return r.each(func(p *piece) {
		t := benches.Get().(*bench)
		defer benches.Put(t)
		for i := 0; i < p.z.N; i += lanes {
			n := min(lanes, p.z.N-i)
			for j, x := range p.in[:p.operands] {
				t.in[j].load(x, p.words, i, n)
			}
			if p.words == 2 {
				op.lanesDD(&t.z, &t.in[0], &t.in[1], n)
			} else {
				op.lanesQD(&t.z, &t.in[0], &t.in[1], n)
			}
			t.z.store(p.z, p.words, i, n)
		}
	})
}

// lanesDD computes the operation on n lanes, in the form of arrays. It is publishedOf with the
// arithmetic written out, since Go keeps words in registers but not arrays of words.
func (op publishedOperation) lanesDD(z, x, y *block, n int) {
	for i := range n {
		a0, a1, b0, b1 := x[0][i], x[1][i], y[0][i], y[1][i]
		var z0, z1, s float64
		switch op {
		case publishedAdd:
			z0, z1 = publishedAddDD(a0, a1, b0, b1)
			s = a0 + b0
		case publishedSub:
			z0, z1 = publishedAddDD(a0, a1, -b0, -b1)
			s = a0 - b0
		case publishedMul:
			z0, z1 = publishedMulDD(a0, a1, b0, b1)
			s = float64(a0 * b0)
		case publishedDiv:
			z0, z1 = publishedDivDD(a0, a1, b0, b1)
			s = a0 / b0
		default:
			c := publishedOf(op, PublishedDD{a0, a1}, PublishedDD{b0, b1})
			z0, z1, s = c[0], c[1], c[0]
		}
		if ordinary(z0) {
			z0, z1 = fastTwoSum(z0, z1)
			z[0][i], z[1][i] = z0, 0+z1
		} else {
			z[0][i], z[1][i] = special(z0, s), 0
		}
	}
}

func (op publishedOperation) lanesQD(z, x, y *block, n int) {
	for i := range n {
		a0, a1, a2, a3 := x[0][i], x[1][i], x[2][i], x[3][i]
		b0, b1, b2, b3 := y[0][i], y[1][i], y[2][i], y[3][i]
		var z0, z1, z2, z3, s float64
		switch op {
		case publishedAdd:
			z0, z1, z2, z3 = publishedAddQD(a0, a1, a2, a3, b0, b1, b2, b3)
			s = a0 + b0
		case publishedSub:
			z0, z1, z2, z3 = publishedAddQD(a0, a1, a2, a3, -b0, -b1, -b2, -b3)
			s = a0 - b0
		case publishedMul:
			z0, z1, z2, z3 = publishedMulQD(a0, a1, a2, a3, b0, b1, b2, b3)
			s = float64(a0 * b0)
		case publishedDiv:
			z0, z1, z2, z3 = publishedDivQD(a0, a1, a2, a3, b0, b1, b2, b3)
			s = a0 / b0
		default:
			c := publishedOf(op, PublishedQD{a0, a1, a2, a3}, PublishedQD{b0, b1, b2, b3})
			z0, z1, z2, z3, s = c[0], c[1], c[2], c[3], c[0]
		}
		if ordinary(z0) && z0+z1 == z0 && z1+z2 == z1 && z2+z3 == z2 && !tie(z0, z1) && !tie(z1, z2) {
			z[0][i], z[1][i], z[2][i], z[3][i] = z0, 0+z1, 0+z2, 0+z3
			continue
		}
		c := storedQD(finishQD(z0, z1, z2, z3, s))
		z[0][i], z[1][i], z[2][i], z[3][i] = c[0], c[1], c[2], c[3]
	}
}

// publishedNumber is PublishedDD or PublishedQD.
type publishedNumber[T any] interface {
	Add(T) T
	Sub(T) T
	Mul(T) T
	Div(T) T
	Sqrt() T
	Exp() T
	Log() T
	Sin() T
	Cos() T
}

// publishedOf computes the operation on two numbers, or the function of the first.
func publishedOf[T publishedNumber[T]](op publishedOperation, a, b T) T {
	switch op {
	case publishedAdd:
		return a.Add(b)
	case publishedSub:
		return a.Sub(b)
	case publishedMul:
		return a.Mul(b)
	case publishedDiv:
		return a.Div(b)
	case publishedSqrt:
		return a.Sqrt()
	case publishedExp:
		return a.Exp()
	case publishedLog:
		return a.Log()
	case publishedSin:
		return a.Sin()
	}
	return a.Cos()
}
