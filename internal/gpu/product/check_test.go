package product

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFaults flips bits of residues of factors and of products, one at a time. Each fault is
// caught, and the error for a fault in a product names the entry.
func TestFaults(t *testing.T) {
	t.Run("reference", func(t *testing.T) {
		spoilProducts(t, gputest.Reference(t, &fake.Driver{}), 3, 4, 5, testlength.Of(3, 5, 30))
	})
	t.Run("device", func(t *testing.T) { spoilProducts(t, gputest.Machine(t), 70, 60, 50, testlength.Of(20, 100, 1500)) })
}

func spoilProducts(t *testing.T, dev *cuda.Device, m, n, k, faults int) {
	rng := testseed.Rand(t, 11, 12)
	caught := 0
	formats := []num.Format{num.Float64, num.Float32, num.QDouble, gputest.MP(53), gputest.MP(212), gputest.MP(424), gputest.MP(2040)}
	for trial, f := range testlength.Of(formats[:5], formats, formats) {
		triangle := "\x00\x00UL\x00\x00\x00"[trial]
		if triangle != 0 {
			m = n
		}
		alpha := gputest.Scalar([]float64{1, -1, 3}[trial%3])
		a, b := gputest.RandomMat(rng, f, gputest.Uniform, m, k), gputest.RandomMat(rng, f, gputest.Uniform, n, k).T()
		c := num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}
		// run multiplies with the residues that spoil leaves.
		run := func(spoil func(m *multiplication, r room, ofProduct bool) error) (residue.Stats, error) {
			cfg := Config{Pattern: place.Pattern{Triangle: triangle}, Run: par.Run{Ctx: context.Background(), Check: true}, spoil: spoil}.defaults()
			return multiply(dev, cfg, alpha, a, b, num.Real{}, c, c)
		}
		// residues returns the residues of entries of the product, modulus after modulus and column
		// after column.
		residues := func(mul *multiplication, r room) ([]int, error) {
			y, wide := make([]uint8, r.n*int64(mul.base.plain)), make([]uint16, r.n*int64(mul.base.karatsuba()))
			if err := errors.Join(cuda.Download(mul.s, y, r.y.Pointer()), cuda.Download(mul.s, wide, r.wide.Pointer())); err != nil {
				return nil, err
			}
			var out []int
			for p, modulus := range mul.base.planes {
				for j := range n {
					for i := range m {
						if triangle == 'U' && i > j || triangle == 'L' && i < j {
							continue
						}
						if at := j*r.ld + i; p < mul.base.plain {
							out = append(out, int(y[p*int(r.n)+at])%modulus)
						} else {
							out = append(out, int(wide[(p-mul.base.plain)*int(r.n)+at])%modulus)
						}
					}
				}
			}
			return out, nil
		}
		var right []int
		st, err := run(func(mul *multiplication, r room, ofProduct bool) (err error) {
			if ofProduct {
				right, err = residues(mul, r)
			}
			return err
		})
		if err != nil || st.Check.Compared == 0 || st.Exact > st.Check.Compared/2 {
			t.Fatalf("%v: without a fault: %v, %+v", f, err, st)
		}
		for range faults {
			i, j := rng.IntN(m), rng.IntN(n)
			for triangle == 'U' && i > j || triangle == 'L' && i < j {
				i, j = rng.IntN(m), rng.IntN(n)
			}
			var plane, bit int
			_, err := run(func(mul *multiplication, r room, ofProduct bool) error {
				if !ofProduct {
					return nil
				}
				at := int64(j*r.ld + i)
				plane = rng.IntN(len(mul.base.planes))
				if plane < mul.base.plain {
					bit = rng.IntN(8)
					return flip[uint8](mul.s, r.y, int64(plane)*r.n+at, bit)
				}
				bit = rng.IntN(16)
				return flip[uint16](mul.s, r.wide, int64(plane-mul.base.plain)*r.n+at, bit)
			})
			var fault *residue.HardwareError
			if !errors.As(err, &fault) || fault.Row != i || fault.Col != j || fault.Device != dev.String() || fault.Integer == fault.Product {
				t.Fatalf("%v: bit %d of entry (%d, %d) modulo number %d: error %v", f, bit, i, j, plane, err)
			}
			caught++
		}
		inFactors := faults / 10
		if f.Bits() > 1000 { // much to look at
			inFactors = 1
		}
		for range inFactors {
			var bad bool
			var place int64
			var bit int
			_, err := run(func(mul *multiplication, r room, ofProduct bool) error {
				if !ofProduct {
					of := []*cuda.Memory{r.left, r.right}[rng.IntN(2)]
					data := make([]uint8, of.Size())
					if err := cuda.Download(mul.s, data, of.Pointer()); err != nil {
						return err
					}
					for place = rng.Int64N(of.Size()); data[place] == 0; { // padding, most of it
						place = rng.Int64N(of.Size())
					}
					bit = rng.IntN(8)
					return flip[uint8](mul.s, of, place, bit)
				}
				got, err := residues(mul, r)
				for x, v := range got {
					bad = bad || v != right[x]
				}
				return err
			})
			if bad != errors.Is(err, residue.ErrHardware) || err != nil && !bad {
				t.Fatalf("%v: bit %d of byte %d of a factor's residues, wrong: %v, error %v", f, bit, place, bad, err)
			}
			if bad {
				caught++
			}
		}
	}
	t.Logf("%d faults were caught", caught)
}

// TestFaultInPart spoils one part of a product after the other: the error names the entry of the
// whole.
func TestFaultInPart(t *testing.T) {
	devs, _ := gputest.References(t, 2)
	for _, triangle := range []byte{0, 'U', 'L'} {
		q := newPartsProblem(40, 40, 3)
		q.triangle = triangle
		list := (&parts{devs: devs, limit: 5000, least: 8}).list(part{a: q.a, b: q.b, old: q.old, c: q.result(), triangle: triangle})
		if len(list) < 3 {
			t.Fatalf("%d parts", len(list))
		}
		seen := map[[2]int]bool{}
		for k := range list {
			var count atomic.Int64
			spoil := func(m *multiplication, r room, ofProduct bool) error {
				if !ofProduct || count.Add(1) != int64(k+1) {
					return nil
				}
				return flip[uint8](m.s, r.y, 0, 1) // entry (0, 0)
			}
			_, _, err := q.run(devs, Config{Run: par.Run{Check: true}, spoil: spoil}, 5000, 8)
			var fault *residue.HardwareError
			if !errors.As(err, &fault) {
				t.Fatalf("part %d: error %v", k, err)
			}
			if !slices.ContainsFunc(list, func(p part) bool { return p.i0 == fault.Row && p.j0 == fault.Col }) {
				t.Errorf("part %d: %v", k, fault)
			}
			seen[[2]int{fault.Row, fault.Col}] = true
		}
		if len(seen) < 2 {
			t.Error("one place for all parts")
		}
	}
}

// flip flips a bit of number at of some memory.
func flip[T uint8 | uint16](s *cuda.Stream, of *cuda.Memory, at int64, bit int) error {
	one := make([]T, 1)
	p := of.At(at * int64(unsafe.Sizeof(one[0])))
	if err := cuda.Download(s, one, p); err != nil {
		return err
	}
	one[0] ^= 1 << bit
	return cuda.Upload(s, p, one)
}
