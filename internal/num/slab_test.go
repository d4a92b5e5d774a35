package num

import "testing"

// TestSlab checks that arrays of a slab are zero, as long as arrays of New, and apart.
func TestSlab(t *testing.T) {
	s := new(Slab)
	var all []*Array
	for i := range 100 {
		f := []Format{Float64, {Kind: MP, Prec: 70}, {Kind: MP, Prec: 424}, Float32, {Kind: DD}}[i%5]
		n := []int{0, 1, 3, 8, 70, 2000}[i%6]
		a, b := s.New(f, n), New(f, n)
		if a.Format != b.Format || a.Len() != n || len(a.Sig) != len(b.Sig) || len(a.Cls) != len(b.Cls) || len(a.F64[0]) != len(b.F64[0]) {
			t.Fatalf("%v, %d: %d numbers", f, n, a.Len())
		}
		for k := range n {
			if !a.SameBits(k, b, k) {
				t.Fatalf("%v, %d: number %d is not 0", f, n, k)
			}
			a.SetFloat64(k, 1)
		}
		for _, o := range all {
			if a.Overlaps(o) {
				t.Fatalf("%v, %d: overlaps an older array", f, n)
			}
		}
		all = append(all, a)
	}
}
