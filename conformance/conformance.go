// Package conformance holds one test suite for everything that runs the routines of package
// halfulp. Every instruction set, method, number of threads and device has to give the bits of an
// exact oracle.
//
// The oracle uses math/big alone and follows the definitions of the formats and of rounding to
// nearest even. It shares no code with the library.
package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// Backend describes what the suite tests.
type Backend struct {
	Name string
	// Options returns fresh options that choose the backend; a nil Options stands for the defaults.
	// The suite changes Threads, Method, MemoryLimit, Context and Progress in them.
	Options func() *halfulp.Options
	// Modes are the ways in which the backend runs, for example its instruction sets; nil stands
	// for a single mode.
	Modes []Mode
	// Partial reports that the backend may refuse methods and small memory limits.
	Partial bool

	place halfulp.Device // where operands live, "" for the host
	gpus  int
}

// Mode is one way in which a backend runs. Setup selects it until restore is called; a nil Setup
// does nothing.
type Mode struct {
	Name     string
	Setup    func() (restore func())
	emulated bool // uses tiles emulated in Go
}

// CPU returns the backend of the machine's processors, with every instruction set that it offers,
// or only the one that the environment variable HALFULP_LEVEL names.
func CPU() Backend {
	b := Backend{Name: "cpu", Options: func() *halfulp.Options { return &halfulp.Options{Device: "cpu"} }}
	for _, l := range isa.Levels() {
		if l <= isa.Level() {
			b.Modes = append(b.Modes, Mode{Name: l.String(), Setup: func() func() { return isa.Force(l) }})
		}
	}
	if !testlength.Slow() { // emulated tiles would take most of the time
		b.Modes = append(b.Modes, Mode{Name: "bytes", Setup: modgemm.ForceBytes, emulated: true})
	}
	return b
}

// refused reports whether err is a refusal of a method that the backend may refuse.
func (b Backend) refused(err error) bool {
	return b.Partial && errors.Is(err, halfulp.ErrMethod)
}

// ways returns the names of the product dispatcher's ways that the backend has.
func (b Backend) ways() []string {
	return slices.DeleteFunc(product.Ways(), func(way string) bool {
		return way == "device" && b.gpus != 1 || way == "devices" && b.gpus < 2
	})
}

// CUDA returns the backend of the NVIDIA GPUs with these numbers. Several GPUs share each product.
func CUDA(n int, more ...int) Backend {
	name := fmt.Sprintf("cuda:%d", n)
	for _, k := range more {
		name += fmt.Sprintf(",%d", k)
	}
	return Backend{
		gpus:    1 + len(more),
		Name:    name,
		Options: func() *halfulp.Options { return &halfulp.Options{Device: halfulp.Device(name)} },
		Modes:   []Mode{{Name: name}},
		Partial: true,
	}
}

// Summary names the modes of b in one line.
func (b Backend) Summary() string {
	s := make([]string, len(b.Modes))
	for i, m := range b.Modes {
		s[i] = m.Name
	}
	return "conformance: levels " + strings.Join(s, " ")
}

// formats of results. The moduli of the residue method do not reach the last one.
var formats = []halfulp.Format{
	halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD,
	halfulp.MP(2), halfulp.MP(24), halfulp.MP(53), halfulp.MP(64), halfulp.MP(65),
	halfulp.MP(106), halfulp.MP(424), halfulp.MP(1696), halfulp.MP(7000),
}

// config is one way to run a routine. It must not change a bit of the results.
type config struct {
	mode    Mode
	method  halfulp.Method
	threads int
	memory  int64
	way     string // forced on matrix products, if not empty
}

func (c config) String() string {
	if c.way != "" {
		return fmt.Sprintf("level %s, way %s, %d threads, memory limit %d", c.mode.Name, c.way, c.threads, c.memory)
	}
	return fmt.Sprintf("level %s, method %s, %d threads, memory limit %d", c.mode.Name, c.method, c.threads, c.memory)
}

var (
	methods      = []halfulp.Method{halfulp.AutoMethod, halfulp.Residue, halfulp.Direct}
	threadCounts = []int{1, 2, 5}
	memoryLimits = []int64{0, 1, 1 << 13, 1 << 16, 1 << 18, 1 << 21}
)

// suite is one run of the tests over a backend.
type suite struct {
	base  uint64 // part of the seeds of all trials
	b     Backend
	stats map[string]int // counts of calls by method and device, and of refusals
}

func newSuite(t *testing.T, b Backend) *suite {
	if b.Options == nil {
		b.Options = func() *halfulp.Options { return new(halfulp.Options) }
	}
	if len(b.Modes) == 0 {
		b.Modes = []Mode{{Name: "default"}}
	}
	return &suite{b: b, base: testseed.Vary(t, 0), stats: map[string]int{}}
}

// RunSome tests the routines of the backend in one of every `every` trials of Run.
func RunSome(t *testing.T, b Backend, every int) {
	s := newSuite(t, b)
	s.some(t, every)
	t.Run("Linsolve", func(t *testing.T) { s.linear(t, max(1, every/8)) })
}

// Run tests the backend.
func Run(t *testing.T, b Backend) {
	s := newSuite(t, b)
	t.Log(s.b.Summary())
	t.Run("Rounding", s.rounding)
	t.Run("Routines", s.routines)
	t.Run("Configurations", s.configurations)
	t.Run("Aliasing", s.aliasing)
	t.Run("Prepared", s.prepared)
	t.Run("Large", s.large)
	t.Run("Empty", s.empty)
	t.Run("Cancelled", s.cancelled)
	t.Run("Linsolve", func(t *testing.T) {
		every := testlength.Of(7, 11, 1) // longer tests call each more often
		if testlength.Slow() {
			every *= 6
		}
		if s.b.Partial { // GPUs may be emulated, which is slow
			every = testlength.Of(37, 31, 37)
		}
		s.linear(t, every)
	})
	t.Run("LinsolveMisuse", s.linearMisuse)
	for _, m := range s.b.Modes {
		t.Logf("level %s: of the calls of Gemm and Syrk, %d ran residue, %d direct; %d of residue were refused", m.Name,
			s.stats[m.Name+" residue"], s.stats[m.Name+" direct"], s.stats[m.Name+" refused"])
	}
	t.Logf("%d calls ran on %s", s.stats["on "+b.Name], b.Name)
	for _, way := range s.b.ways() {
		if s.stats["way "+way] == 0 && whole(t) {
			t.Errorf("no product ran the way %s", way)
		}
		t.Logf("%d products ran the way %s", s.stats["way "+way], way)
	}
	for _, f := range formats {
		t.Logf("format %v: %d ran residue, %d direct; %d of residue were refused", f,
			s.stats["residue "+f.String()], s.stats["direct "+f.String()], s.stats["refused "+f.String()])
	}
}

// whole reports whether the flags of go test leave out no part of the test t.
func whole(t *testing.T) bool {
	set := func(name string) string {
		if f := flag.Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return set("test.skip") == "" && strings.Count(set("test.run"), "/") <= strings.Count(t.Name(), "/")
}

// trial is one set of inputs for one routine.
type trial struct {
	*suite
	*rand.Rand
	seed    uint64
	what    string // routine, formats, shape, family, scalars
	configs []config
	ran     int
	product bool // a trial of Gemm or Syrk, with results of the format
	format  string
	moved   []moved // operands of the current call that live elsewhere
	lost    error   // error of the operands that could not be moved
}

// trial returns the trial of the given name and number. Its inputs follow from both and from the
// seed of the suite's run.
func (s *suite) trial(name string, number int) *trial {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", s.base, name, number)
	seed := h.Sum64()
	tr := &trial{suite: s, seed: seed, Rand: rand.New(rand.NewPCG(seed, 1)), what: name}
	// One configuration per mode, and the residue method in at least one of them.
	first := tr.IntN(len(s.b.Modes))
	for i, m := range s.b.Modes {
		c := config{m, methods[tr.IntN(3)], threadCounts[tr.IntN(3)], memoryLimits[max(0, tr.IntN(len(memoryLimits)+6)-6)], ""}
		if i == first {
			c.method, c.memory = "residue", 0
		}
		tr.configs = append(tr.configs, c)
	}
	// One further configuration with a way of the product dispatcher.
	c := tr.configs[tr.IntN(len(tr.configs))]
	ways := s.b.ways()
	c.way = ways[tr.IntN(len(ways))]
	tr.configs = append(tr.configs, c)
	return tr
}

// all makes the trial run under every combination.
func (tr *trial) all() {
	tr.configs = nil
	for _, m := range tr.b.Modes {
		for _, method := range methods {
			for _, threads := range threadCounts {
				for _, memory := range memoryLimits {
					if memory == 0 || method != "direct" {
						tr.configs = append(tr.configs, config{mode: m, method: method, threads: threads, memory: memory})
					}
				}
			}
		}
	}
}

// under calls f with the options of every configuration, which have Stats. A method that does not
// apply and a product that does not fit count as refused, not as wrong; then under repeats the call
// with the method auto.
func (tr *trial) under(f func(c config, opt *halfulp.Options) error) error {
	for todo := slices.Clone(tr.configs); len(todo) > 0; {
		c := todo[0]
		todo = todo[1:]
		opt := tr.b.Options()
		opt.Method, opt.Threads, opt.MemoryLimit = c.method, c.threads, c.memory
		if c.way != "" && !tr.product {
			continue
		}
		restore := func() {}
		if c.mode.Setup != nil {
			restore = c.mode.Setup()
		}
		restoreWay := product.Force(c.way)
		var st halfulp.Stats
		err := f(c, opt.WithStats(&st))
		restoreWay()
		if bad := tr.end(); err == nil {
			err = bad
		}
		restore()
		var bad *mismatch
		switch {
		case errors.As(err, &bad):
			return fmt.Errorf("%s; ran %s %s: %w", c, st.Method, st.Kernel, err)
		case c.way != "" && (errors.Is(err, halfulp.ErrMethod) || c.memory != 0 && errors.Is(err, halfulp.ErrMemory)):
			// The way does not apply.
		case tr.b.Partial && c.method != "auto" && errors.Is(err, halfulp.ErrMethod),
			tr.b.Partial && c.memory != 0 && errors.Is(err, halfulp.ErrMemory):
			tr.stats[c.mode.Name+" refused"]++
			c.method, c.memory = "auto", 0
			todo = append(todo, c)
		case c.method == "residue" && errors.Is(err, halfulp.ErrMethod),
			c.method == "residue" && c.memory != 0 && errors.Is(err, halfulp.ErrMemory):
			if tr.product {
				tr.stats[c.mode.Name+" refused"]++
				tr.stats["refused "+tr.format]++
			}
			c.method = "auto"
			todo = append(todo, c)
		case err != nil:
			return fmt.Errorf("%s: unexpected error: %w", c, err)
		case c.way == "" && (c.method == "residue" && st.Method != "residue" && st.Method != "direct" ||
			c.method == "direct" && st.Method != "direct"):
			return fmt.Errorf("%s: Stats says method %q", c, st.Method)
		default:
			tr.ran++
			tr.stats["on "+st.Device]++
			if c.way != "" {
				tr.stats["way "+c.way]++
			}
			if tr.product {
				tr.stats[c.mode.Name+" "+string(st.Method)]++
				tr.stats[string(st.Method)+" "+tr.format]++
			}
		}
	}
	return nil
}

// mismatch is a wrong result.
type mismatch struct{ msg string }

func (m *mismatch) Error() string { return m.msg }

func mismatchf(format string, a ...any) error { return &mismatch{fmt.Sprintf(format, a...)} }

// fail reports err as a failure of the trial.
func (tr *trial) fail(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("seed %d: %s\n%v", tr.seed, tr.what, err)
	}
}

// scalarResult checks a routine with a scalar result, whose exact value is x.
func (tr *trial) scalarResult(x real, f halfulp.Format, call func(opt *halfulp.Options) (halfulp.Scalar, error)) error {
	w := round(x, f)
	want := scalarOf(f, w.real)
	if err := w.stored(want); err != nil {
		return fmt.Errorf("the library stores the expected result wrongly: %w", err)
	}
	return tr.under(func(c config, opt *halfulp.Options) error {
		got, err := call(opt)
		if err != nil {
			return err
		}
		if !got.Same(want) {
			return mismatchf("got   %v\nwant  %v\nexact %v", describe(got), w.real, x)
		}
		return w.counted(*opt.Stats)
	})
}

func describe(s halfulp.Scalar) string {
	if n := terms(s.NumberFormat()); n > 1 {
		return fmt.Sprintf("%v, terms %x", realOf(s), storedTerms(s, n))
	}
	return realOf(s).String()
}

// counted checks the statistics of one result.
func (z rounded) counted(st halfulp.Stats) error {
	over, under := int64(0), int64(0)
	if z.overflow {
		over = 1
	}
	if z.underflow {
		under = 1
	}
	if st.Overflow != over || st.Underflow != under {
		return mismatchf("Stats counts %d overflows, %d underflows, want %d, %d", st.Overflow, st.Underflow, over, under)
	}
	return nil
}

// matrixResult checks a routine that writes those entries of out for which exact reports true, with
// their exact values. call gets the output, or any other view, by passing the view to at.
func (tr *trial) matrixResult(out *view, exact func(i, j int) (real, bool), call func(at func(v *view) *halfulp.Matrix, opt *halfulp.Options) error) error {
	before := out.g.matrix()
	want := before.Clone()
	exacts := make([]*real, out.g.rows*out.g.cols)
	var over, under int64
	for j := range out.cols {
		for i := range out.rows {
			x, ok := exact(i, j)
			if !ok {
				continue
			}
			w := round(x, out.g.format)
			pos := out.pos(i, j)
			gi, gj := pos%out.g.rows, pos/out.g.rows
			put(want, gi, gj, w.real)
			if w.terms != nil {
				if err := w.stored(want.At(gi, gj)); err != nil {
					return fmt.Errorf("entry (%d, %d): the library stores the expected result wrongly: %w", i, j, err)
				}
			}
			exacts[pos] = &x
			if w.overflow {
				over++
			}
			if w.underflow {
				under++
			}
		}
	}
	return tr.under(func(c config, opt *halfulp.Options) error {
		got := before.Clone()
		there := tr.move(got)
		err := call(func(v *view) *halfulp.Matrix {
			if v.g == out.g {
				return v.on(there)
			}
			return v.on(tr.move(v.g.matrix()))
		}, opt)
		if err == nil {
			err = tr.back(got)
		}
		if err != nil {
			return err
		}
		if !got.Same(want) {
			return firstDifference(out, got, want, exacts)
		}
		if st := opt.Stats; st.Overflow != over || st.Underflow != under {
			return mismatchf("Stats counts %d overflows, %d underflows, want %d, %d", st.Overflow, st.Underflow, over, under)
		}
		return nil
	})
}

func firstDifference(out *view, got, want *halfulp.Matrix, exacts []*real) error {
	count, first := 0, ""
	for j := range out.cols {
		for i := range out.rows {
			pos := out.pos(i, j)
			gi, gj := pos%out.g.rows, pos/out.g.rows
			g, w := got.At(gi, gj), want.At(gi, gj)
			if g.Same(w) {
				continue
			}
			count++
			if first != "" {
				continue
			}
			if exacts[pos] == nil {
				first = fmt.Sprintf("entry (%d, %d), which is not to be written, became %v, was %v", i, j, describe(g), describe(w))
				continue
			}
			first = fmt.Sprintf("entry (%d, %d)\ngot   %v\nwant  %v\nexact %v", i, j, describe(g), describe(w), *exacts[pos])
		}
	}
	if count > 0 {
		return mismatchf("%d of %d entries wrong; first %s", count, out.rows*out.cols, first)
	}
	rows, cols := got.Dims()
	for j := range cols {
		for i := range rows {
			if g, w := got.At(i, j), want.At(i, j); !g.Same(w) {
				return mismatchf("storage outside of the output changed: (%d, %d) of the grid is %v, was %v", i, j, describe(g), describe(w))
			}
		}
	}
	return mismatchf("results differ")
}

// untouched checks that grids that were only read still hold their numbers.
func untouched(gs ...*grid) error {
	for _, g := range gs {
		m := g.matrix()
		for j := range g.cols {
			for i := range g.rows {
				s := m.At(i, j)
				if w := g.v[i+j*g.rows]; !realOf(s).same(w) {
					return fmt.Errorf("input changed: (%d, %d) is %v, was %v", i, j, describe(s), w)
				}
			}
		}
	}
	return nil
}

// isCancelled reports whether err is the error of a cancelled context.
func isCancelled(err error) bool { return errors.Is(err, context.Canceled) }
