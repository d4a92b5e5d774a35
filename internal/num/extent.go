package num

import (
	"cmp"
	"slices"
	"unsafe"
)

// An Extent is the memory from address First to just before End that the numbers of a view occupy,
// or one term of its numbers. Owner is the caller's.
type Extent struct {
	First, End uintptr
	Owner      int
}

// Extents appends the memory of m to z, with the gaps between its numbers. It appends nothing for a
// matrix without entries, or outside the host if its storage has no method Range.
func (m Mat) Extents(z []Extent, owner int) []Extent {
	if m.Rows == 0 || m.Cols == 0 {
		return z
	}
	first, last := m.Off, m.Off
	for _, d := range [...]int{(m.Rows - 1) * m.RS, (m.Cols - 1) * m.CS} {
		first, last = first+min(d, 0), last+max(d, 0)
	}
	if !m.OnHost() {
		s, ok := m.Arr.Away.(interface {
			Range(first, last int) (from, to uintptr)
		})
		if ok {
			from, to := s.Range(first, last)
			z = append(z, Extent{from, to, owner})
		}
		return z
	}
	switch a := m.Arr; a.Kind {
	case F32:
		z = append(z, extent(a.F32, first, last, owner))
	case MP:
		z = append(z, extent(a.Exp, first, last, owner))
	default:
		for t := range a.Terms() {
			z = append(z, extent(a.F64[t], first, last, owner))
		}
	}
	return z
}

func extent[T any](x []T, first, last, owner int) Extent {
	at := func(i int) uintptr { return uintptr(unsafe.Pointer(&x[i])) }
	return Extent{at(first), at(last) + unsafe.Sizeof(x[last]), owner}
}

// SortExtents sorts z by First and returns it, in z or in other memory.
func SortExtents(z []Extent) []Extent {
	const digit = 11
	if len(z) < 1<<(digit-3) {
		slices.SortFunc(z, func(x, y Extent) int { return cmp.Compare(x.First, y.First) })
		return z
	}
	low, high := z[0].First, z[0].First
	for _, x := range z {
		low, high = min(low, x.First), max(high, x.First)
	}
	to := make([]Extent, len(z))
	for shift := 0; (high-low)>>shift != 0; shift += digit { // digit by digit, the lowest first
		var at [1 << digit]int
		for _, x := range z {
			at[(x.First-low)>>shift%(1<<digit)]++
		}
		sum := 0
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		for _, x := range z {
			d := (x.First - low) >> shift % (1 << digit)
			to[at[d]] = x
			at[d]++
		}
		z, to = to, z
	}
	return z
}
