package linsolve

import (
	"fmt"
	"math"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/det"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// A spoiled place computes seeds that spoil changes. What is proved about them must hold, or
// nothing may be proved.
type spoiled struct {
	place.Place
	place.Determinant
	place.Factors
	t     *testing.T
	spoil func(m *halfulp.Matrix)
}

func newSpoiled(t *testing.T, p place.Place, spoil func(m *halfulp.Matrix)) spoiled {
	return spoiled{p, partOf[place.Determinant](t, p), partOf[place.Factors](t, p), t, spoil}
}

// partOf returns a part (an interface) that a place offers.
func partOf[T any](t *testing.T, p place.Place) T {
	t.Helper()
	part, ok := place.Part[T](p)
	if !ok {
		t.Fatalf("%s offers no %T", p, &part)
	}
	return part
}

// Unwrap returns the place, which offers the other parts.
func (p spoiled) Unwrap() place.Place { return p.Place }

// change spoils a matrix of the place.
func (p spoiled) change(m num.Mat) {
	p.t.Helper()
	there := halfulp.MatrixOf(m)
	here, err := there.Host()
	if err != nil {
		p.t.Fatal(err)
	}
	p.spoil(here)
	if err := there.CopyFrom(here); err != nil {
		p.t.Fatal(err)
	}
}

func (p spoiled) Triangles(cfg place.Config, a, z, u num.Mat, attempt int) (rows, cols []int64, begun place.Triangular, err error) {
	rows, cols, begun, err = p.Determinant.Triangles(cfg, a, z, u, attempt)
	p.change(u)
	return rows, cols, begun, err
}

func (p spoiled) InverseRoot(cfg place.Config, a, x num.Mat) (exps []int64, begun place.Seed, err error) {
	exps, begun, err = p.Factors.InverseRoot(cfg, a, x)
	p.change(x)
	return exps, begun, err
}

// spoils are relative changes of one number; ‖E‖ becomes about as large.
var spoils = []float64{0x1p-40, 0x1p-20, 0x1p-12, 0x1p-9, 0x1p-8 - 0x1p-14, 0x1p-8 + 0x1p-14, -0x1p-7, 0x1p-5, 0.3, -0.4, 0.5, 0.6, 0.75, 0.99, -0.75, -1, 1, 1.5, 3, 100, 0x1p60, 0x1p200, 0x1p400, math.Inf(1)}

// TestTracedSpoiled encloses determinants by seeds of all qualities: bad seeds must give no
// enclosure.
func TestTracedSpoiled(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	gputest.OnDevices(t, 12, 40, func(t *testing.T, n int) {
		a := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
		want, on := lintest.Of(a).Det(), put(t, a)
		for _, by := range spoils {
			for _, at := range [][2]int{{n / 2, n / 2}, {0, n - 1}}[:testlength.Of(1, 1, 2)] {
				for _, bits := range []int{65, 2000}[:testlength.Of(1, 1, 2)] {
					name := fmt.Sprintf("%v at %v, %d bits", by, at, bits)
					s := tracedOn(t, on)
					s.At = call.At(newSpoiled(t, place.Of(on.View().Arr), func(u *halfulp.Matrix) {
						u.SetFloat64(at[0], at[1], u.Float64(at[0], at[1])+float64(by*u.Float64(at[0], at[0])))
					}))
					d, err := det.Traced(s, on.View(), bits)
					if call.Resignable(err) != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if d != nil {
						checkNear(t, name, d, want)
					}
					if good := math.Abs(by) < 0x1p-9; good && d == nil || at[0] == at[1] && math.Abs(by) > 0x1p-7 && d != nil {
						t.Errorf("%s: %v, rho %v", name, d, s.Stats.Rho)
					}
				}
			}
		}
	})
}

// TestCholeskySpoiled checks that seeds of all qualities give the bits of the factors of the host,
// or no factors.
func TestCholeskySpoiled(t *testing.T) {
	gputest.OnDevices(t, seed.Fewest+2, 60, func(t *testing.T, n int) {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(424)}[:testlength.Of(1, 1, 2)] {
			a := gramIn(t, f, n, 0, 1)
			want, err := Cholesky(a, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			on := put(t, a)
			for _, by := range spoils {
				for _, at := range [][2]int{{n / 2, n / 2}, {n - 1, 0}}[:testlength.Of(1, 1, 2)] {
					name := fmt.Sprintf("%v, %v at %v", f, by, at)
					s := tracedOn(t, on)
					s.At = call.At(newSpoiled(t, place.Of(on.View().Arr), func(x *halfulp.Matrix) {
						x.SetFloat64(at[0], at[1], x.Float64(at[0], at[1])+float64(by*x.Float64(at[0], at[0])))
					}))
					made, err := factors.CholeskyOnDevice(s, on.View(), f.View())
					if call.Resignable(err) != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if good := math.Abs(by) < 0x1p-14; good && made.Arr == nil {
						t.Errorf("%s: none, rho %v", name, s.Stats.Rho)
					}
					if made.Arr == nil {
						continue
					}
					h, err := halfulp.MatrixOf(made).Host()
					if err != nil {
						t.Fatal(err)
					}
					if !h.Same(want.L) {
						t.Errorf("%s: not the host's bits", name)
					}
					made.Free()
					s.Release()
				}
			}
		}
	})
}

// TestCholeskyNewtonSpoiled decides entries of Cholesky factors on the host by seeds of all
// qualities: entries must be right, or left undecided.
func TestCholeskyNewtonSpoiled(t *testing.T) {
	n := seed.Fewest + 2
	for _, f := range []halfulp.Format{halfulp.MP(424), halfulp.Float64}[:testlength.Of(1, 1, 2)] {
		a := gramIn(t, f, n, 0, 1)
		want, err := Cholesky(a, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range spoils {
			for _, at := range [][2]int{{n / 2, n / 2}, {n - 1, 0}}[:testlength.Of(1, 1, 2)] {
				s, err := start("Cholesky", nil, a.View())
				if err != nil {
					t.Fatal(err)
				}
				d, err := factors.NewCholeskyNewton(s, a.View(), n, factors.MostBits(f.View()))
				if err != nil || d == nil {
					t.Fatal(d, err)
				}
				if math.IsInf(by, 0) {
					continue
				}
				d.Blocks = true // blocks must not replace the bad seed
				d.X.SetFloat64(at[0], at[1], d.X.Float64(at[0], at[1])+float64(by*d.X.Float64(at[0], at[0])))
				l, decided := halfulp.NewMatrix(f, n, n), 0
				for bits := f.Bits() + 48; bits <= 2*f.Bits()+100; bits += f.Bits() {
					e, err := d.Enclosure(bits)
					if err != nil {
						t.Fatal(err)
					}
					if e == nil {
						continue
					}
					u := ziv.NewUnknown(a.View(), n, ziv.Ones(n), n)
					for j := range n {
						for i := j; i < n; i++ {
							u.Want(ziv.OfRoot, i, j, l.View(), i, j)
						}
					}
					if err := ziv.RoundFactors(s, u, e); err != nil {
						t.Fatal(err)
					}
					decided = n*(n+1)/2 - len(u.Open)
					for j := range n {
						for i := j; i < n; i++ {
							if x := l.At(i, j); x.Big().Sign() != 0 && !x.Same(want.L.At(i, j)) {
								t.Fatalf("%v, %v at %v: entry (%d, %d) is wrong", f, by, at, i, j)
							}
						}
					}
				}
				if math.Abs(by) < 0x1p-14 && decided == 0 || at[0] == at[1] && math.Abs(by) > 0x1p-7 && decided > 0 {
					t.Errorf("%v, %v at %v: %d entries are decided", f, by, at, decided)
				}
			}
		}
	}
}
