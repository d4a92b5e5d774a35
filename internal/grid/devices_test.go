package grid

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/grid/gridtest"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

var formats = []num.Format{num.Float32, num.Float64, num.QDouble, {Kind: num.MP, Prec: 53}, {Kind: num.MP, Prec: 200}}

// random returns a matrix of random numbers, with a zero and an infinity among them if it is odd.
func random(rng *rand.Rand, f num.Format, rows, cols int, odd bool) num.Mat {
	m := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}
	mag := make([]uint64, (f.Bits()+63)/64)
	for i := range rows * cols {
		for k := range mag {
			mag[k] = rng.Uint64()
		}
		m.Arr.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(rng.IntN(9) - 64*len(mag))})
	}
	if n := rows * cols; odd && n > 2 {
		m.Arr.Set(rng.IntN(n), num.Real{Neg: true})
		m.Arr.Set(rng.IntN(n), num.Real{Class: num.Inf})
	}
	return m
}

// same returns a description of where two matrices differ.
func same(got, want num.Mat) error {
	if got.Rows != want.Rows || got.Cols != want.Cols {
		return fmt.Errorf("%d x %d, want %d x %d", got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i := range want.Rows {
		for j := range want.Cols {
			if !got.Arr.SameBits(got.At(i, j), want.Arr, want.At(i, j)) {
				return fmt.Errorf("entry (%d, %d) differs", i, j)
			}
		}
	}
	return nil
}

// TestMove copies views of matrices from one layout to another. It checks the bits of the entries
// that arrive and of the entries that must not change.
func TestMove(t *testing.T) {
	ctx := context.Background()
	views := func(m num.Mat) []num.Mat { // of an 11 x 13 matrix
		part := m
		part.Off, part.Rows, part.Cols = m.At(2, 1), 8, 10
		back := num.Mat{Arr: m.Arr, Off: m.At(10, 12), RS: -1, CS: -m.CS, Rows: 11, Cols: 13}
		second := num.Mat{Arr: m.Arr, Off: m.At(1, 0), RS: 2, CS: 3 * m.CS, Rows: 5, Cols: 4}
		line := num.Mat{Arr: m.Arr, Off: 3, RS: 1, CS: 1, Rows: 120, Cols: 1}
		none := m
		none.Rows = 0
		return []num.Mat{m, part, back, second, m.Row(4).Mat(), m.Col(12).Mat(), line, none}
	}
	for seed, sides := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 3}, {5, 1}} {
		gridtest.Run(t, sides[0]*sides[1], func(to gridtest.Process) error {
			rng := testseed.Rand(t, 1, uint64(seed)) // the same in all processes
			g, err := New(to, sides[0], sides[1], 3, new(Local))
			if err != nil {
				return err
			}
			g.step = 400 // bytes: several messages each
			away := func(m num.Mat) (num.Mat, error) {
				a, err := g.New(ctx, m.Arr.Format, m.Rows, m.Cols)
				if err != nil {
					return m, err
				}
				m.Arr = a
				return m, nil
			}
			for _, f := range formats {
				a, b := random(rng, f, 11, 13, true), random(rng, f, 11, 13, true)
				x, err := away(a)
				if err != nil {
					return err
				}
				if err := g.Set(ctx, x, a); err != nil {
					return err
				}
				if m, err := g.Get(ctx, x); err != nil || same(m, a) != nil {
					return fmt.Errorf("%v: %w, %w", f, err, same(m, a))
				}
				for k := range views(a) {
					for _, transposed := range []bool{false, true} {
						from, old := views(a)[k], b.Copy()
						there, want := views(x)[k], views(old)[k]
						if transposed {
							from, there, want = from.T(), there.T(), want.T()
						}
						what := fmt.Sprintf("%v, %v, view %d, transposed %v", g, f, k, transposed)
						if m, err := g.Get(ctx, there); err != nil || same(m, from) != nil {
							return fmt.Errorf("%s: Get: %w, %w", what, err, same(m, from))
						}
						y, err := away(old)
						if err != nil {
							return err
						}
						if err := g.Set(ctx, y, old); err != nil {
							return err
						}
						into := views(y)[k]
						if transposed {
							into = into.T()
						}
						if err := g.Copy(place.Config{Run: par.Run{Ctx: ctx}}, into, there); err != nil {
							return fmt.Errorf("%s: %w", what, err)
						}
						for i := range want.Rows {
							for j := range want.Cols {
								want.Arr.CopyFrom(want.At(i, j), from.Arr, from.At(i, j))
							}
						}
						if m, err := g.Get(ctx, y); err != nil || same(m, old) != nil {
							return fmt.Errorf("%s: Copy: %w, %w", what, err, same(m, old))
						}
					}
				}
			}
			return nil
		})
	}
}

// TestMixed multiplies on grids whose processes compute on the host, or on one or several fake
// GPUs. The bits are equal to the host's, and Stats.Processes lists the devices of each process.
func TestMixed(t *testing.T) {
	devs, _ := gputest.References(t, 3)
	defer mem.Substitute(devs...)()
	ctx := context.Background()
	one, two, zero := num.Real{Class: num.Finite, Mag: []uint64{1}}, num.Real{Class: num.Finite, Neg: true, Mag: []uint64{2}}, num.Real{}
	places := []string{"cpu", "cuda:1", "auto", "cuda:0,2", "cuda:0", "cpu"}
	// a small product uses one of several GPUs
	shown := []string{"cpu", "cuda:1", "cpu", "cuda:0", "cuda:0", "cpu"}
	for _, sides := range [][2]int{{2, 1}, {2, 3}} {
		n := sides[0] * sides[1]
		if testlength.Slow() && n == 2 {
			continue // the six have both devices
		}
		gridtest.Run(t, n, func(to gridtest.Process) error {
			rng := testseed.Rand(t, 2, uint64(n))
			on := new(Local)
			name, err := place.ParseName(places[to.Rank()])
			if err != nil {
				return err
			}
			if err := on.Use(name); err != nil {
				return err
			}
			g, err := New(to, sides[0], sides[1], 4, on)
			if err != nil {
				return err
			}
			for trial, f := range []num.Format{num.Float64, {Kind: num.MP, Prec: 200}} {
				a, b := random(rng, f, 25, 19, false), random(rng, f, 19, 25, trial == 0)
				old := random(rng, f, 25, 25, false)
				for k, c := range []struct {
					beta     num.Real
					triangle byte
				}{{zero, 0}, {two, 0}, {two, 'L'}, {zero, 'U'}} {
					if testlength.Slow() && k%2 == trial {
						continue
					}
					want, got := old.Copy(), old.Copy()
					p := product.Problem{Alpha: one, A: a, B: b, Beta: c.beta, Old: want, C: want, Triangle: c.triangle}
					if _, err := product.Run(product.Config{Run: par.Run{Ctx: ctx, Threads: 1, Memory: 1 << 28}, Method: product.Auto}, p); err != nil {
						return err
					}
					cfg := place.Config{Pattern: place.Pattern{Triangle: c.triangle}, Run: par.Run{Ctx: ctx, Threads: 1, Memory: 1 << 28}, Method: product.Auto}
					what := fmt.Sprintf("%v, %v, beta %v, triangle %d", g, f, c.beta, c.triangle)
					st, err := g.Gemm(cfg, one, a, b, c.beta, got, got)
					if err != nil || same(got, want) != nil {
						return fmt.Errorf("%s: %w, %w", what, err, same(got, want))
					}
					if !slices.Equal(st.Processes, shown[:n]) {
						return fmt.Errorf("%s: %q multiplied, want %q", what, st.Processes, shown[:n])
					}
					var there [3]num.Mat
					for i, m := range []num.Mat{a, b, old} {
						there[i] = m
						if there[i].Arr, err = g.New(ctx, f, m.Rows, m.Cols); err != nil {
							return err
						}
						if err = g.Set(ctx, there[i], m); err != nil {
							return err
						}
					}
					if _, err = g.Gemm(cfg, one, there[0], there[1], c.beta, there[2], there[2]); err != nil {
						return fmt.Errorf("%s, resident: %w", what, err)
					}
					if got, err = g.Get(ctx, there[2]); err != nil || same(got, want) != nil {
						return fmt.Errorf("%s, resident: %w, %w", what, err, same(got, want))
					}
				}
			}
			return nil
		})
	}
}

// TestUse requests devices that exist and devices that do not.
func TestUse(t *testing.T) {
	devs, _ := gputest.References(t, 2)
	defer mem.Substitute(devs...)()
	for _, c := range []struct {
		team place.Team
		name string
		want string // the GPUs used; none for the host
	}{
		{place.Team{Index: 0, Size: 1}, "cuda:all", "cuda:0,1"},
		{place.Team{Index: 1, Size: 2}, "cuda:all", "cuda:1"},
		{place.Team{Index: 3, Size: 5}, "cuda:0-1", "cuda:1"},
		{place.Team{Index: 2, Size: 3}, "cuda:1", "cuda:1"},
		{place.Team{Index: 1, Size: 2}, "cpu", ""},
		{place.Team{Index: 1, Size: 2}, "auto", ""},
	} {
		l := Local{Team: c.team}
		name, err := place.ParseName(c.name)
		if err == nil {
			err = l.Use(name)
		}
		if got := ""; err != nil || l.at != nil && l.at.String() != c.want || l.at == nil && c.want != got || l.host != (c.name == "cpu") {
			t.Errorf("%v of %v: %v, want %s, %v", c.name, c.team, l.at, c.want, err)
		}
		for _, bad := range []string{"cuda:7", "mpi:1x2"} {
			before := l
			name, err := place.ParseName(bad)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Use(name); !errors.Is(err, place.ErrDevice) || l != before {
				t.Errorf("%s: %v", bad, err)
			}
		}
	}
}

// TestMachine finds the processes of one machine, which are all goroutines.
func TestMachine(t *testing.T) {
	gridtest.Run(t, 3, func(to gridtest.Process) error {
		if m, err := Machine(context.Background(), to); err != nil || m != (place.Team{Index: to.Rank(), Size: 3}) {
			return fmt.Errorf("%v, %w", m, err)
		}
		return nil
	})
}
