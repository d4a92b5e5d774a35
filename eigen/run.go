package eigen

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// start checks the options and operands of routine name, which must all live on one device, and
// starts its run. It returns the operands on the host.
func start(name string, opt halfulp.Options, operands ...num.Mat) (*call.Run, []num.Mat, error) {
	fail := func(err error) (*call.Run, []num.Mat, error) { return nil, nil, fmt.Errorf("%s: %w", name, err) }
	at := place.Of(operands[0].Arr)
	var here []num.Mat
	for _, m := range operands {
		if p := place.Of(m.Arr); place.Label(p) != place.Label(at) {
			return fail(fmt.Errorf("operands on %s and %s: %w", place.Label(at), place.Label(p), place.ErrPlace))
		}
	}
	if at != nil {
		opt.Device = halfulp.Device(place.Label(at))
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
	s.Reuse = true
	return s, here, nil
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
			Proof: halfulp.Proof{Steps: t.Steps, Precision: t.Precision, Primes: t.Primes, Ties: t.Ties, Digits: t.Digits, Undecided: t.Undecided},
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

// moved returns a result where the operand a lives.
func moved(z, a num.Mat) (*halfulp.Matrix, error) {
	if a.OnHost() {
		return halfulp.MatrixOf(z), nil
	}
	m, err := place.On(place.Of(a.Arr), z)
	return halfulp.MatrixOf(m), err
}
