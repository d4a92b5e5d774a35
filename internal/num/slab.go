package num

// A Slab allocates small arrays many at a time. Arrays of one slab share memory, which is freed
// with the last of them.
type Slab struct {
	arrays []Array
	f64    []float64
	sig    []uint64
	exp    []int32
	cls    []Cls
}

const (
	slabArrays = 16      // arrays that share memory
	slabBytes  = 1 << 10 // numbers of an array of a slab take at most this memory
)

// New is the function New.
func (s *Slab) New(f Format, n int) *Array {
	if f.Kind != MP && f.Kind != F64 || n < 1 || n > slabBytes || int64(n)*SizeOf(f) > slabBytes {
		return New(f, n)
	}
	if len(s.arrays) == 0 {
		s.arrays = make([]Array, slabArrays)
	}
	a := &s.arrays[0]
	s.arrays = s.arrays[1:]
	a.Format = f
	if f.Kind == F64 {
		a.F64[0] = part(&s.f64, n)
		return a
	}
	a.Sig, a.Exp, a.Cls = part(&s.sig, n*f.Limbs()), part(&s.exp, n), part(&s.cls, n)
	return a
}

// part takes n numbers from the beginning of x, which it allocates if there are too few.
func part[T any](x *[]T, n int) []T {
	if len(*x) < n {
		*x = make([]T, slabArrays*n)
	}
	z := (*x)[:n:n]
	*x = (*x)[n:]
	return z
}
