package expansion

import "testing"

type field[T any] interface {
	Add(T) T
	Mul(T) T
	FMA(T, T) T
	Div(T) T
	Sqrt() T
}

func benchmark[T field[T]](b *testing.B, name string, x, y T) {
	for _, op := range []struct {
		name string
		run  func(x, y T) T
	}{
		{"add", T.Add},
		{"mul", T.Mul},
		{"fma", func(x, y T) T { return x.FMA(y, x) }},
		{"div", T.Div},
		{"sqrt", func(x, _ T) T { return x.Sqrt() }},
	} {
		b.Run(name+"/"+op.name, func(b *testing.B) {
			var z T
			for b.Loop() {
				z = op.run(x, y)
			}
			_ = z
		})
	}
}

// BenchmarkScalar measures single operations, a call included.
func BenchmarkScalar(b *testing.B) {
	x, y := QDOf(3).Recip(), QDOf(7).Sqrt()
	benchmark(b, "DD", x.DD(), y.DD())
	benchmark(b, "TD", x.TD(), y.TD())
	benchmark(b, "QD", x, y)
}
