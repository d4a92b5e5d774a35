package product

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/testseed"
)

// random returns a matrix of random numbers with exponents in [-spread, spread].
func random(rng *rand.Rand, f num.Format, rows, cols, spread int) num.Mat {
	m := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
	mag := make([]uint64, (f.Bits()+63)/64)
	for i := range rows * cols {
		for k := range mag {
			mag[k] = rng.Uint64()
		}
		e := rng.IntN(2*spread+1) - spread - 64*len(mag)
		m.Arr.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(e)})
	}
	return m
}

func zeros(f num.Format, rows, cols int) num.Mat {
	return num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
}

func mp(p uint32) num.Format { return num.Format{Kind: num.MP, Prec: p} }

var formats = []num.Format{num.Float32, num.Float64, num.DDouble, num.TDouble, num.QDouble, mp(53), mp(106), mp(424), mp(1696)}

func config(method string, threads int) Config {
	return Config{Run: par.Run{Ctx: context.Background(), Threads: threads, Memory: 1 << 30}, Method: method}
}

func real(x float64) num.Real {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = x
	return a.Value(0, make([]uint64, 1))
}

// TestWays runs every way of the host on thin, square and tiny shapes, triangles and special
// values: the bits and the counts of results that left the range agree with exact accumulators.
func TestWays(t *testing.T) {
	rng := testseed.Rand(t, 1, 2)
	shapes := [][3]int{{40, 50, 1}, {1, 50, 40}, {40, 50, 4}, {5, 33, 40}, {1, 60, 1}, {30, 1, 20}, {1, 1, 1}, {20, 2, 30}, {9, 3, 9}, {0, 4, 3}, {3, 0, 3}, {24, 24, 24}}
	for trial := range 150 {
		s := shapes[trial%len(shapes)]
		f, g, h := formats[rng.IntN(len(formats))], formats[rng.IntN(len(formats))], formats[rng.IntN(len(formats))]
		if trial%2 == 0 {
			g, h = f, f
		}
		spread := []int{0, 10, 200, 600}[rng.IntN(4)]
		p := Problem{A: random(rng, f, s[0], s[1], spread), B: random(rng, g, s[2], s[1], spread).T(), Old: random(rng, h, s[2], s[0], spread).T()}
		p.Alpha = real([]float64{1, 1, -0.5, 3, 0, 0x1p-1000}[rng.IntN(6)])
		p.Beta = real([]float64{0, 0, 1, -1.5}[rng.IntN(4)])
		if s[0] == s[2] {
			p.Triangle = []byte{0, 'U', 'L'}[rng.IntN(3)]
		}
		if rng.IntN(3) == 0 { // a zero, an infinity and a NaN
			for i, c := range []num.Class{num.Zero, num.Inf, num.NaN} {
				if m := []num.Mat{p.A, p.B}[rng.IntN(2)]; m.Arr.Len() > 0 {
					m.Arr.Set(rng.IntN(m.Arr.Len()), num.Real{Class: c, Neg: i == 0})
				}
			}
		}
		var want num.Mat
		var over, under int64
		for _, way := range []string{"entries", "columns", "residue", ""} {
			q := p
			q.C = zeros(h, s[0], s[2])
			var last float64
			cfg := config(Auto, 1+rng.IntN(3))
			cfg.Progress = func(done float64) {
				if done <= last {
					t.Errorf("progress fell from %g to %g", last, done)
				}
				last = done
			}
			restore := Force(way)
			st, err := Run(cfg, q)
			restore()
			if errors.Is(err, ErrMethod) && way != "entries" && way != "" {
				continue
			}
			what := fmt.Sprintf("trial %d, way %q: %v by %v to %v, %v, spread %d, alpha %v, beta %v, triangle %d", trial, way, f, g, h, s, spread, p.Alpha, p.Beta, p.Triangle)
			if err != nil || last != 1 {
				t.Fatalf("%s: error %v, progress %g", what, err, last)
			}
			if way == "entries" {
				want, over, under = q.C, st.Overflow, st.Underflow
				continue
			}
			for i := range q.C.Arr.Len() {
				if !q.C.Arr.SameBits(i, want.Arr, i) {
					t.Fatalf("%s: entry %d differs", what, i)
				}
			}
			if st.Overflow != over || st.Underflow != under && h.Terms() < 3 {
				t.Errorf("%s: %d overflows, want %d; %d underflows, want %d", what, st.Overflow, over, st.Underflow, under)
			}
		}
	}
}

// TestZeroFactor runs the method residue with a factor of zeros, signed.
func TestZeroFactor(t *testing.T) {
	rng := testseed.Rand(t, 3, 4)
	for _, f := range formats {
		a, b := random(rng, f, 7, 9, 3), zeros(f, 9, 5)
		for i := range b.Arr.Len() {
			b.Arr.Set(i, num.Real{Neg: i%3 > 0})
		}
		want, got := zeros(f, 7, 5), zeros(f, 7, 5)
		if _, err := Run(config(Direct, 2), Problem{Alpha: real(1), A: a, B: b, Old: want, C: want}); err != nil {
			t.Fatal(err)
		}
		st, err := Run(config(Residue, 2), Problem{Alpha: real(1), A: a, B: b, Old: got, C: got})
		if err != nil || st.Method != Residue {
			t.Fatalf("%v: %s, %v", f, st.Method, err)
		}
		for i := range got.Arr.Len() {
			if !got.Arr.SameBits(i, want.Arr, i) {
				t.Errorf("%v: entry %d is %v", f, i, got.Arr.Value(i, make([]uint64, 34)))
			}
		}
	}
}

// TestSmallMemory multiplies where the smallest tiles of residues do not fit: the direct method
// does it, unless residues are asked for.
func TestSmallMemory(t *testing.T) {
	rng := testseed.Rand(t, 5, 6)
	f := mp(1696)
	p := Problem{Alpha: real(1), A: random(rng, f, 60, 60, 3), B: random(rng, f, 60, 60, 3), C: zeros(f, 60, 60)}
	cfg := config(Auto, 1)
	cfg.Memory = 1
	if st, err := Run(cfg, p); err != nil || st.Method != Direct {
		t.Errorf("auto ran %s: %v", st.Method, err)
	}
	cfg.Method = Residue
	if _, err := Run(cfg, p); !errors.Is(err, ErrMemory) {
		t.Errorf("residue: error %v", err)
	}
	if _, err := Run(cfg, Problem{Alpha: num.Real{Class: num.Inf}, A: p.A, B: p.B, C: p.C}); !errors.Is(err, ErrMethod) {
		t.Errorf("residue with an infinite alpha: error %v", err)
	}
}

// device is a Device that fails, with C overwritten, or declines.
type device struct {
	count    int
	asked    *int
	declines bool
}

var errBroken = errors.New("broken")

func (d device) Count() int { return d.count }

func (d device) Estimate(*Problem, time.Duration) (time.Duration, bool) { return 0, !d.declines }

func (d device) Gemm(_ Config, p *Problem) (residue.Stats, error) {
	*d.asked++
	for i := range p.C.Arr.Len() {
		p.C.Arr.Set(i, num.Real{})
	}
	return residue.Stats{}, errBroken
}

func (d device) Leaves(err error) bool { return err == errBroken }

// TestDevice chooses a device that fails: the host begins anew, unless the device was asked for.
func TestDevice(t *testing.T) {
	rng := testseed.Rand(t, 7, 8)
	f := mp(106)
	old := random(rng, f, 50, 50, 3)
	p := Problem{Alpha: real(1), A: random(rng, f, 50, 50, 3), B: random(rng, f, 50, 50, 3), Beta: real(2)}
	p.Old, p.C = old, zeros(f, 50, 50)
	if _, err := Run(config(Auto, 2), p); err != nil {
		t.Fatal(err)
	}
	want := p.C
	for count := 1; count <= 2; count++ {
		asked := 0
		p.C = old.Copy()
		p.Old = p.C
		cfg := config(Auto, 2)
		cfg.Device = device{count, &asked, false}
		if st, err := Run(cfg, p); err != nil || st.Device != "cpu" || asked != 1 {
			t.Fatalf("%d devices: %s, %v, asked %d times", count, st.Device, err, asked)
		}
		for i := range want.Arr.Len() {
			if !p.C.Arr.SameBits(i, want.Arr, i) {
				t.Fatalf("%d devices: entry %d differs", count, i)
			}
		}
		cfg.Asked = true
		if _, err := Run(cfg, p); !errors.Is(err, errBroken) {
			t.Errorf("%d devices asked for: error %v", count, err)
		}
		cfg.Method = Direct
		if _, err := Run(cfg, p); !errors.Is(err, ErrMethod) {
			t.Errorf("%d devices asked for the direct method: error %v", count, err)
		}
	}
}

// TestDeviceDeclines asks for residues, which do not apply to an infinite alpha or do not fit,
// where a device declines: it is not called.
func TestDeviceDeclines(t *testing.T) {
	rng := testseed.Rand(t, 11, 12)
	f := mp(106)
	asked := 0
	cfg := config(Residue, 1)
	cfg.Device = device{1, &asked, true}
	p := Problem{Alpha: num.Real{Class: num.Inf}, A: random(rng, f, 60, 60, 3), B: random(rng, f, 60, 60, 3), C: zeros(f, 60, 60)}
	if _, err := Run(cfg, p); !errors.Is(err, ErrMethod) || asked != 0 {
		t.Errorf("error %v, asked %d times", err, asked)
	}
	p.Alpha, cfg.Memory = real(1), 1
	if _, err := Run(cfg, p); !errors.Is(err, ErrMemory) || asked != 0 {
		t.Errorf("error %v, asked %d times", err, asked)
	}
}

// TestPreparedSyrk multiplies a prepared matrix by its transpose twice: the second product computes
// no residues.
func TestPreparedSyrk(t *testing.T) {
	rng := testseed.Rand(t, 9, 10)
	f := mp(212)
	a := random(rng, f, 64, 64, 3)
	pre := residue.NewPrepared(a)
	defer Force("residue")()
	for run := range 2 {
		before := pre.Computed()
		c := zeros(f, 64, 64)
		if _, err := Run(config(Auto, 1), Problem{Alpha: real(1), A: a, B: a.T(), C: c, PreA: pre, PreB: pre, Triangle: 'U'}); err != nil {
			t.Fatal(err)
		}
		if n := pre.Computed() - before; n != []int{2, 0}[run] {
			t.Errorf("run %d computed residues of %d operands", run, n)
		}
	}
}

// TestSteps restricts products to triangles whose diagonals are steps: what lies inside has the
// bits of the whole product, the rest remains as it is.
func TestSteps(t *testing.T) {
	rng := testseed.Rand(t, 7, 8)
	for trial := range 60 {
		m, k, n := 1+rng.IntN(60), 1+rng.IntN(30), 1+rng.IntN(60)
		if trial%5 == 0 {
			m, n = 300, 20
		}
		f := formats[rng.IntN(len(formats))]
		p := Problem{Alpha: real(-1), Beta: real(1), A: random(rng, f, m, k, 10), B: random(rng, f, k, n, 10), Old: random(rng, f, n, m, 10).T(), Triangle: []byte("LU")[rng.IntN(2)]}
		p.Steps = make([]int, m)
		for i := range p.Steps {
			p.Steps[i] = rng.IntN(n + 1)
		}
		slices.Sort(p.Steps)
		whole := p
		whole.Triangle, whole.Steps, whole.C = 0, nil, zeros(f, m, n)
		if _, err := Run(config(Direct, 1), whole); err != nil {
			t.Fatal(err)
		}
		for _, way := range []string{"entries", "columns", "residue"} {
			p.C, p.Bound = zeros(f, m, n), nil
			cfg := config(Auto, 1+rng.IntN(2))
			if way == "residue" {
				cfg.Check = rng.IntN(2) == 0
				if rng.IntN(2) == 0 { // 30 products of numbers below 2^11, and one
					p.Bound = &residue.Bound{Rows: slices.Repeat([]int64{28}, m), Cols: make([]int64, n)}
				}
			}
			restore := Force(way)
			_, err := Run(cfg, p)
			restore()
			if errors.Is(err, ErrMethod) && way == "residue" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			none := num.New(f, 1)
			for i := range m {
				for j := range n {
					want, at := whole.C.Arr, whole.C.At(i, j)
					if (j < p.Steps[i]) != (p.Triangle == 'L') {
						want, at = none, 0
					}
					if !p.C.Arr.SameBits(p.C.At(i, j), want, at) {
						t.Fatalf("trial %d, way %s, %v, %d x %d x %d, triangle %c: entry (%d, %d)", trial, way, f, m, k, n, p.Triangle, i, j)
					}
				}
			}
		}
	}
}
