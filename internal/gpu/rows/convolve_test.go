package rows

import (
	"fmt"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// convolveSources have the kernels of kernels/rows/convolve.cuh.
const convolveSources = "rows/convolve17 rows/convolve32 rows/convolve62"

// convolveProblems cover all kernels: rows and columns near the sizes of a tile and of a step,
// several tiles and slices, even and odd counts of limbs, numbers shorter and longer than what
// kernels keep, two lengths of numbers, and results shorter and longer than factors.
func convolveProblems() (list []rowProblem) {
	kinds := []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Cancel, gputest.Special, gputest.Scattered, gputest.Ascending}
	for i, p := range []int{330, 424, 640, 848, 1024, 1344, 1696} {
		f := gputest.MP(p)
		for j, shape := range [][2]int{{17, 1}, {33, 3}, {20, 133}} {
			q := rowProblem{in: f, inX: f, out: f, kind: kinds[(i+j)%len(kinds)], m: shape[0], k: shape[1], alpha: 1, inc: 1 - 3*(j%2), trans: i%2 == 0}
			list = append(list, q)
			q.trans, q.kind = !q.trans, kinds[(i+j+1)%len(kinds)]
			list = append(list, q)
		}
	}
	// Rows side by side of numbers with an odd count of limbs: steps are copied by pairs of words,
	// but for the last one if its count of columns is odd as well.
	for _, bits := range []int{192, 320, 424, 448, 576, 704} {
		for k := 21; k < 25; k++ {
			list = append(list, rowProblem{in: gputest.MP(bits), inX: gputest.MP(424), out: gputest.MP(456), m: 23, k: k, alpha: -1, inc: 1, trans: true, pad: k % 2})
		}
	}
	for i, p := range [][3]int{{424, 64, 700}, {1000, 424, 424}, {70, 1696, 848}, {2500, 53, 424}, {500, 1100, 1696}} {
		list = append(list, rowProblem{in: gputest.MP(p[0]), inX: gputest.MP(p[1]), out: gputest.MP(p[2]), kind: kinds[i%3], m: 18 + i, k: 90, alpha: -2, inc: 1, trans: i%2 == 0})
	}
	return list
}

// convolving returns a fake device with room for all kernels.
func convolving(t *testing.T) *cuda.Device {
	return gputest.RowReference(t, &fake.Driver{Shared: 227 << 10})
}

// checkConvolve compares products of one of every `every` problems.
func checkConvolve(t *testing.T, dev *cuda.Device, every int) {
	for i, p := range convolveProblems() {
		if i%every == 0 {
			checkGemv(t, dev, p)
		}
	}
	if c := dev.Counters(); c.InUse != 0 {
		t.Errorf("%d bytes left", c.InUse)
	}
}

// TestConvolveReference runs the host's part, with Go functions for the kernels.
func TestConvolveReference(t *testing.T) { checkConvolve(t, convolving(t), testlength.Of(5, 3, 1)) }

// TestConvolveEmulated runs the kernels themselves, compiled for the host.
func TestConvolveEmulated(t *testing.T) {
	t.Setenv(gputest.Emulate, convolveSources)
	dev := convolving(t)
	checkConvolve(t, dev, testlength.Of(19, 13, 1))
	if testlength.Long() {
		checkColumns(t, dev, 1)
	}
}

// sameRows calls f with the sums of rows times y: row i has the numbers of x from step i on.
func sameRows(t *testing.T, dev *cuda.Device, x, y *num.Array, rows, step, digits int, f func(h *hostSums, q *rowSums)) {
	t.Helper()
	withVectors(t, dev, x, y, func(s *cuda.Stream, a, b mem.Vector) error {
		right := b.Row()
		q := &rowSums{s: s, a: mem.Matrix{Arr: a.Arr, RS: step, CS: 1, Rows: rows, Cols: b.N}, x: &right}
		defer q.free()
		if !q.convolves(digits) {
			t.Errorf("%d digits are not for these kernels", digits)
		}
		h, err := q.sums(digits)
		if err == nil {
			f(h, q)
		}
		return err
	})
}

// TestConvolveLongest adds as many products as sums of 32 bits hold, and more, of the digits that
// make them largest: -128 of first factors, which are 0x04808080... 2^5, and 255 of second ones.
func TestConvolveLongest(t *testing.T) {
	if !testlength.Long() {
		t.Skip("millions of products on an emulated GPU")
	}
	t.Setenv(gputest.Emulate, convolveSources)
	const digits, p = 13, 6 * 64
	n := abi.ConvolveColumns*abi.ConvolveShapeOf(digits).Longest*abi.ConvolveShapeOf(digits).Warps + 1
	x, y := num.New(gputest.MP(p), n), num.New(gputest.MP(p), n)
	for i := range n {
		r := num.Real{Class: num.Finite, Neg: true, Exp: -p, Mag: make([]uint64, p/64)}
		for w := range r.Mag {
			r.Mag[w] = 0x1010101010101010
		}
		r.Mag[len(r.Mag)-1] |= 1 << 63
		x.Set(i, r)
		y.Set(i, num.Real{Class: num.Finite, Exp: -p, Mag: onesOf(p)})
	}
	sameRows(t, convolving(t), x, y, fewRows+1, 0, digits, func(h *hostSums, _ *rowSums) {
		checkSum(t, "longest", h, fewRows, num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 1, N: n})
	})
}

// TestConvolveSlices adds products of uneven numbers, of which blocks have other references than
// others.
func TestConvolveSlices(t *testing.T) {
	t.Setenv(gputest.Emulate, convolveSources)
	checkSlices(t, convolving(t), 320, testlength.Of([]int{17}, []int{17}, []int{17, 62}))
}

func checkSlices(t *testing.T, dev *cuda.Device, n int, digits []int) {
	rng := testseed.Rand(t, 5, 9)
	const rows = fewRows + 3
	for _, k := range digits {
		for trial := range testlength.Of(3, 3, 6) {
			x, y, _ := uneven(rng, k, n+rows, trial)
			y = part(y, n)
			sameRows(t, dev, x, y, rows, 1, k, func(h *hostSums, _ *rowSums) {
				for i := range rows {
					checkSum(t, fmt.Sprintf("%d digits, trial %d, row %d", k, trial, i), h, i, num.Vec{Arr: x, Off: i, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 1, N: n})
				}
			})
		}
	}
}

// part returns the first n numbers of x.
func part(x *num.Array, n int) *num.Array {
	y := num.New(x.Format, n)
	for i := range n {
		y.CopyFrom(i, x, i)
	}
	return y
}

// TestConvolveSpread checks, at the limit, that sums are exact of which that is said: of
// u v 2^s - u v 2^s + u v, u and v without zeros at the end.
func TestConvolveSpread(t *testing.T) {
	t.Setenv(gputest.Emulate, convolveSources)
	for _, digits := range []int{13, 17, 32} {
		for _, p := range []int{65, 96, 100, 127} {
			for _, neg := range []bool{false, true} {
				q := &rowSums{a: mem.Matrix{Arr: &mem.Array{Format: gputest.MP(p)}}, x: &mem.Matrix{Arr: &mem.Array{Format: gputest.MP(p)}}}
				spread := q.convolveSpread(digits)
				x, y := num.New(gputest.MP(p), 3), num.New(gputest.MP(p), 3)
				for i := range 3 {
					r := num.Real{Class: num.Finite, Neg: (i == 1) != neg, Mag: onesOf(p), Exp: -2 * int64(p)}
					y.Set(i, r)
					r.Neg = neg && i == 2
					if i < 2 {
						r.Exp += spread - rowMargin
					}
					x.Set(i, r)
				}
				sameRows(t, convolving(t), x, y, fewRows+1, 0, digits, func(h *hostSums, _ *rowSums) {
					if !h.exact(fewRows) {
						t.Errorf("%d digits, %d bits: spread %d of %d is not exact", digits, p, h.spread(fewRows), spread)
					}
					checkSum(t, fmt.Sprintf("%d digits, %d bits", digits, p), h, fewRows, num.Vec{Arr: x, Inc: 1, N: 3}, num.Vec{Arr: y, Inc: 1, N: 3})
				})
			}
		}
	}
}

// TestConvolve compares products on a GPU by these kernels with products on the host.
func TestConvolve(t *testing.T) {
	dev := gputest.Machine(t)
	list := convolveProblems()
	for i, p := range []int{424, 848, 1696} {
		f := gputest.MP(p)
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Cancel} {
			for _, trans := range []bool{false, true} {
				list = append(list, rowProblem{in: f, inX: f, out: f, kind: kind, m: 203 + i, k: 301, alpha: 1, inc: 1, trans: trans})
			}
		}
	}
	for _, p := range list {
		checkGemv(t, dev, p)
	}
	checkSlices(t, dev, 1700, []int{13, 17, 24, 32, 48, 62})
}

// TestSanitizeConvolve runs a small problem with each of them, with units of one word and of two.
func TestSanitizeConvolve(t *testing.T) {
	dev := gputest.Machine(t)
	for i, p := range []int{330, 424, 640, 848, 1300, 1696} {
		f := gputest.MP(p)
		for _, k := range []int{100, 131} {
			checkGemv(t, dev, rowProblem{in: f, inX: f, out: f, kind: gputest.Special, m: 37, k: k, alpha: 1, inc: 1, trans: (i+k)%2 == 0})
		}
	}
}

// TestConvolveShapes checks that sums that are kept weigh no less than the last column and fit 32
// bits, and that buffers of all layouts hold their entries.
func TestConvolveShapes(t *testing.T) {
	for _, k := range abi.ReduceDigits() {
		if _, file := abi.DigitFile(k); file == "" {
			continue
		}
		s := abi.ConvolveShapeOf(k)
		if 8*s.Kept < abi.RowDigit*k || 8*(s.Kept+1)-2 > abi.RowDigit*(k+1) || s.Kept > 8*s.Groups || int64(s.Longest*abi.ConvolveColumns*8*s.Groups)*128*255 >= 1<<31 {
			t.Errorf("%d digits: %+v", k, s)
		}
		for limbs := range int32(70) {
			for _, steps := range [][2]int64{{1, 1000}, {1000, 1}, {3, 1000}, {1000, -3}} {
				v := abi.Vectors{A: abi.Numbers{Limbs: limbs + 1}, RS: steps[0], CS: steps[1]}
				l := s.LayoutOf(v, k)
				fast, slow := int32(abi.ConvolveColumns), int32(abi.ConvolveRows)
				if steps[0] < steps[1] {
					fast, slow = slow, fast
				}
				if l.Entry < v.A.Limbs || l.Pitch < fast*l.Entry || l.Buffer < slow*l.Pitch || l.Runs != 0 && l.Entry != v.A.Limbs ||
					l.Wide != 0 && (l.Pitch%2 != 0 || l.Buffer%2 != 0 || l.Runs == 0 && l.Entry%2 != 0) {
					t.Errorf("%d digits, %d limbs, steps %d: %+v", k, v.A.Limbs, steps, l)
				}
			}
		}
	}
}
