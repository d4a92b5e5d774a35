package eigen

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// start checks the options and operands of routine name, which must all live on one device, and
// starts its run. It returns the operands on the host.
func start(name string, opt halfulp.Options, operands ...num.Mat) (*call.Run, []num.Mat, error) {
	fail := func(err error) (*call.Run, []num.Mat, error) { return nil, nil, fmt.Errorf("%s: %w", name, err) }
	var here []num.Mat
	for _, m := range operands {
		at, first := place.Of(m.Arr), place.Of(operands[0].Arr)
		if place.Label(at) != place.Label(first) {
			return fail(fmt.Errorf("operands on %s and %s: %w", place.Label(first), place.Label(at), place.ErrPlace))
		}
		if at != nil {
			opt.Device = halfulp.Device(place.Label(at))
		}
	}
	if err := opt.Validate(); err != nil {
		return fail(err)
	}
	set, err := opt.Settings()
	if err != nil {
		return fail(err)
	}
	for _, m := range operands {
		if !m.OnHost() {
			if m, err = place.On(nil, m); err != nil {
				return fail(err)
			}
		}
		here = append(here, m)
	}
	s := call.New(set)
	s.Stats.Method = method
	s.Work.Report = par.Rising(s.Work.Report)
	s.Reuse = true
	return s, here, nil
}

// method is the method in the statistics of routines that are not solved by package linsolve.
const method = "eigen"

// startOnHost is start for routine name on vectors, which has no products of matrices to choose a
// method for or to check.
func startOnHost(name string, opt halfulp.Options, operands ...*halfulp.Vector) (*call.Run, []num.Vec, error) {
	matrices := make([]num.Mat, len(operands))
	for i, x := range operands {
		matrices[i] = x.View().Mat()
	}
	s, on, err := start(name, opt, matrices...)
	if err != nil {
		return nil, nil, err
	}
	err = s.Set.Unchecked(name)
	if err == nil && s.Set.Method == string(halfulp.Residue) {
		err = fmt.Errorf("method %q: %w: this routine has the method direct only (want auto or direct)", s.Set.Method, halfulp.ErrMethod)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	s.Stats.Method = string(halfulp.Direct)
	vectors := make([]num.Vec, len(on))
	for i, m := range on {
		vectors[i] = m.Col(0)
	}
	return s, vectors, nil
}

// ended ends the run of routine name: it stores the statistics if opt requests them. It returns err
// with the name in front, or nil.
func ended(name string, opt halfulp.Options, s *call.Run, err error) error {
	s.Release()
	if err == nil {
		s.Finished()
	}
	if opt.Stats != nil {
		t := &s.Stats
		*opt.Stats = halfulp.Stats{
			Device: t.Device, Method: halfulp.Method(t.Method), Threads: t.Threads, Exact: t.Exact, Overflow: t.Overflow, Underflow: t.Underflow, Check: (*halfulp.Check)(t.Check),
			Proof: halfulp.Proof{
				Cond: t.Cond, Rounds: t.Rounds, Rho: halfulp.Measure(t.Rho), Steps: t.Steps, Precision: t.Precision, Primes: t.Primes, Solved: t.Solved,
				Ties: t.Ties, Digits: t.Digits, Undecided: t.Undecided,
			},
		}
		for _, g := range t.Stages {
			opt.Stats.Stages = append(opt.Stats.Stages, halfulp.Stage(g))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// orDefault returns the options, or the default ones.
func orDefault(opt *halfulp.Options) halfulp.Options {
	if opt == nil {
		return halfulp.Options{}
	}
	return *opt
}

// attempt makes progress a part of the whole for attempt number try, which it increases, until the
// returned function is called.
func attempt(s *call.Run, try *int) (end func()) {
	lo, hi := sym.Try(*try)
	*try++
	return sym.Within(s, lo, hi)
}

// moved returns a result where the operand a lives.
func moved(z, a num.Mat) (*halfulp.Matrix, error) {
	if a.OnHost() {
		return halfulp.MatrixOf(z), nil
	}
	m, err := place.On(place.Of(a.Arr), z)
	return halfulp.MatrixOf(m), err
}
