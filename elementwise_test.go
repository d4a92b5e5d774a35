package halfulp

import (
	"errors"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// entrywise pairs Add and Sub with the methods of Format for two numbers.
var entrywise = map[string]struct {
	of func(a, b *Matrix, f Format, opt *Options) (*Matrix, error)
	by func(f Format, x, y Scalar) Scalar
}{
	"Add": {Add, Format.Add},
	"Sub": {Sub, Format.Sub},
}

func TestAddSub(t *testing.T) {
	r := testseed.Rand(t, 3, 4)
	formats := []Format{Float32, Float64, DD, TD, QD, MP(53), MP(300)}
	special := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), math.MaxFloat64, 0x1p-1074}
	for _, fa := range formats {
		for _, fb := range formats {
			f := formats[r.IntN(len(formats))]
			a, b := randomMatrix(fa, 7, 5, 20, r.Uint64()), randomMatrix(fb, 5, 7, 20, r.Uint64()).T()
			for range 20 {
				a.SetFloat64(r.IntN(7), r.IntN(5), special[r.IntN(len(special))])
				b.SetFloat64(r.IntN(7), r.IntN(5), special[r.IntN(len(special))])
			}
			a.Set(3, 3, b.At(3, 3)) // cancels
			for _, view := range [][2]*Matrix{{a, b}, {a.T(), b.T()}, {a.Slice(1, 6, 1, 4), b.Slice(1, 6, 1, 4)}, {a.Slice(0, 0, 0, 5), b.Slice(0, 0, 0, 5)}} {
				for name, routine := range entrywise {
					var st Stats
					c, err := routine.of(view[0], view[1], f, &Options{Stats: &st})
					if err != nil {
						t.Fatal(err)
					}
					overflows := int64(0)
					for j := range c.Cols() {
						for i := range c.Rows() {
							x, y := view[0].At(i, j), view[1].At(i, j)
							want := routine.by(f, x, y)
							if !c.At(i, j).Same(want) {
								t.Fatalf("%s of %v and %v to %v: %v of %v and %v, want %v", name, fa, fb, f, c.At(i, j), x, y, want)
							}
							if want.IsInf(0) && !x.IsInf(0) && !y.IsInf(0) {
								overflows++
							}
						}
					}
					if st.Overflow != overflows || st.Device != "cpu" {
						t.Errorf("%s: %+v, want %d overflows", name, st, overflows)
					}
				}
			}
		}
	}
}

func TestMul(t *testing.T) {
	a, b := randomMatrix(DD, 4, 3, 9, 1), randomMatrix(MP(90), 3, 6, 9, 2)
	want := NewMatrix(TD, 4, 6)
	ok(Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), want, nil))
	var st Stats
	got, err := Mul(a, b, TD, &Options{Threads: 1, Stats: &st})
	if err != nil || !got.Same(want) || st.Threads != 1 {
		t.Errorf("%v, want %v; %+v, %v", got, want, st, err)
	}
	if c, err := Mul(a, b, TD, &Options{Method: "none"}); !errors.Is(err, ErrMethod) || c != nil {
		t.Errorf("%v, %v", c, err)
	}
	for name, f := range map[string]func(){
		"Mul": func() { _, _ = Mul(a, a, DD, nil) }, "Add": func() { _, _ = Add(a, b, DD, nil) }, "Sub": func() { _, _ = Sub(a, a.T(), DD, nil) },
	} {
		if got := panics(f); got != errShape {
			t.Errorf("%s panics with %v", name, got)
		}
	}
}

// TestStatsOnRequest checks that routines store statistics if the options request them, and leave
// them unchanged if the routine does not run.
func TestStatsOnRequest(t *testing.T) {
	x := randomMatrix(Float64, 5, 1, 0, 1).Col(0)
	st := Stats{Method: "before"}
	opt := &Options{Threads: 1, Stats: &st}
	if _, err := Sum(x, Float64, opt); err != nil || st.Method != "direct" || st.Threads != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	st = Stats{Method: "before"}
	opt.Method = "none"
	if _, err := Sum(x, Float64, opt); !errors.Is(err, ErrMethod) || st.Method != "before" {
		t.Errorf("%+v, %v", st, err)
	}
	var other Stats
	if _, err := Sum(x, Float64, (*Options)(nil).WithStats(&other)); err != nil || other.Method != "direct" {
		t.Errorf("%+v, %v", other, err)
	}
	if own := opt.WithStats(&other); own.Method != "none" || own.Stats != &other || opt.Stats != &st {
		t.Errorf("%+v of %+v", own, opt)
	}
}
