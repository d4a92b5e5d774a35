package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve"
)

// The problems of tables of ways, as a call.Record names them.
const (
	aSystem      = "*solve.problem"
	anInverse    = "*solve.inverse"
	aDeterminant = "*det.enclosed"
	anLU         = "*factors.lu"
	aCholesky    = "*factors.cholesky"
	anLDLT       = "*factors.ldltFactors"
	aQR          = "*factors.qrFactors"
)

// linearWays are routines in every way that package linsolve has for them on the host.
var linearWays = func() (all []linearRoutine) {
	for _, way := range call.SystemWays {
		if way != call.ByDigits && way != call.BySlices { // which are for inverses alone
			all = append(all, routineOf(linearRoutines, "Solve").by(aSystem, way))
		}
		all = append(all, routineOf(linearRoutines, "Inverse").by(aSystem, way))
	}
	for _, way := range call.InverseWays {
		all = append(all, routineOf(linearRoutines, "Inverse").by(anInverse, way, call.ByProducts))
	}
	for _, way := range call.DeterminantWays {
		for _, name := range []string{"Det", "LogDet"} {
			all = append(all, routineOf(linearRoutines, name).by(aDeterminant, way))
		}
	}
	for _, way := range call.FactorWays {
		for _, r := range factorRoutines {
			if way == call.ByLongSeed && r.problem != anLU && r.problem != anLDLT || way == call.ByDigits && r.name == "QRPivoted" {
				continue // which have no such way
			}
			all = append(all, r.by(r.problem, way))
		}
	}
	return all
}()

// linearWaysThere are routines in the ways that are for matrices which live on devices.
var linearWaysThere = []linearRoutine{
	routineOf(linearRoutines, "Det").by(aDeterminant, call.ByTraces),
	routineOf(linearRoutines, "LogDet").by(aDeterminant, call.ByTraces),
}

// A factorRoutine makes factors alone.
type factorRoutine struct {
	problem string
	linearRoutine
}

var factorRoutines = []factorRoutine{
	{anLU, routineOf(linearRoutines, "LU")},
	{aCholesky, linearRoutine{"Cholesky", definiteA, routineOf(linearRoutines, "Cholesky").run, nil, routineOf(linearRoutines, "Cholesky").bad}},
	{anLDLT, linearRoutine{"LDLT", symmetricA, func(c *linear) error {
		z, err := linsolve.LDLT(c.a, c.f, c.opt)
		if err == nil {
			c.out, c.said = append(c.out, z.L, z.D), append(c.said, z.P, z.Blocks)
		}
		return err
	}, nil, singular}},
	{aQR, linearRoutine{"QR", tallA, orthogonal(linsolve.QR), nil, deficient}},
	{aQR, routineOf(linearRoutines, "QRPivoted")},
}

func routineOf(list []linearRoutine, name string) linearRoutine {
	return list[slices.IndexFunc(list, func(r linearRoutine) bool { return r.name == name })]
}

// forced reports whether it is a routine in some ways.
func (r linearRoutine) forced() bool { return strings.Contains(r.name, " by ") }

// least is the least order of matrices that the routine is for.
func (r linearRoutine) least() int {
	switch r.name {
	case "LDLT by " + call.ByDigits, "LDLT by " + call.ByNewton, "LDLT by " + call.ByLongSeed:
		return seed.Fewest
	}
	return 1
}

// by is a routine in some ways, where they are for its problem. The first one decides it, or may
// leave it open. Where no check says what results should be, they are the same as in the ways that
// the routine chooses.
func (r linearRoutine) by(problem string, ways ...string) linearRoutine {
	run, compared := r.run, r.check == nil
	r.name += " by " + strings.Join(ways, ", ")
	r.run = func(c *linear) error {
		in := func(ctx context.Context) (*linear, error) {
			one, opt := *c, halfulp.Options{}
			if c.opt != nil {
				opt = *c.opt
			}
			if opt.Stats == nil {
				opt.Stats = new(halfulp.Stats)
			}
			opt.Context, one.opt = ctx, &opt
			err := run(&one)
			return &one, err
		}
		chosen := context.Background()
		if c.opt != nil && c.opt.Context != nil {
			chosen = c.opt.Context
		}
		record := new(call.Record)
		forced, err := in(call.Recording(call.Forcing(chosen, ways...), record))
		decided, left := record.Of(problem, ways[0])
		if c.decided = decided > 0; err == nil && !c.decided && (c.opt == nil || c.opt.MemoryLimit == 0) {
			if why, failed := forced.mayLeave(r.name, problem, ways[0]); failed != nil || why == "" {
				err = mismatchf("left open, %d times", left)
			}
		}
		if none := errors.Is(err, call.ErrWay); none || compared { // none: not for this problem
			plain, failed := in(chosen)
			switch {
			case none || errors.Is(failed, halfulp.ErrMemory):
				forced, err = plain, failed
			case errors.Is(err, halfulp.ErrMemory):
			case fmt.Sprint(err) != fmt.Sprint(failed):
				err = mismatchf("error %v, and %v by other ways", err, failed)
			case err == nil && problem == anLDLT && !reflect.DeepEqual(forced.said, plain.said):
				err = forced.isLDLT() // with other pivots, that are as good
			case err == nil:
				err = forced.differs(plain, "other ways")
			}
		}
		c.out, c.said = forced.out, forced.said
		return err
	}
	return r
}

// isLDLT checks factors with their pivots.
func (c *linear) isLDLT() error {
	a, err := c.a.Host()
	if err != nil {
		return err
	}
	l, d, ok := lintest.Of(a).LDLT(c.said[0].([]int), c.said[1].([]int))
	if !ok {
		return mismatchf("a pivot that is 0")
	}
	if err := sameEntries("L", c.f, c.out[0], l); err != nil {
		return err
	}
	return sameEntries("D", c.f, c.out[1], d)
}

// Bits of condition numbers from which on float64 factors may not suffice, and of the spread of
// exponents from which on numbers may leave their range.
const (
	illBits    = 36
	spreadBits = 400
)

// mayLeave returns why a way may leave a problem open that has been solved, "" if it has to decide
// all of it.
func (c *linear) mayLeave(routine, problem, way string) (why string, err error) {
	host, err := c.a.Host()
	if err != nil {
		return "", err
	}
	a, k := lintest.Of(host), min(host.Rows(), host.Cols())
	square := lintest.Of(host.Slice(0, k, 0, k))
	if problem == aQR {
		square = a.T(k).Times(a, k)
	}
	cond, seeded := square.ConditionBits(), false
	switch way {
	case call.ByTriangles, call.BySlices, call.ByFloats, call.ByFloat64, call.ByNewton, call.ByTraces:
		seeded = true
	case call.ByBlocks:
		seeded = problem == aDeterminant
	}
	switch decides := way == call.ByRationals || way == call.ByProducts || way == call.BySeeds || way == call.ByPrimes; {
	case decides:
		return "", nil
	case problem == aDeterminant && cond == math.MaxInt:
		return "singular", nil
	case (seeded || way == call.ByIntervals) && cond > illBits: // intervals are too wide
		return "ill-conditioned", nil
	case (seeded || problem == aSystem) && (wide[c.family] || c.family == "graded" || square.SpreadBits() > spreadBits):
		return "exponents far apart", nil
	case problem == anLU && (seeded || way == call.ByLongSeed) && a.NearPivots(k):
		return "pivots that are nearly equal", nil
	case problem == anLDLT && (seeded || way == call.ByDigits || way == call.ByLongSeed) && a.HasEqual():
		return "equal entries, with which pivots may be equal", nil
	case problem != aSystem:
		return "", nil
	case c.opt.Stats.Underflow+c.opt.Stats.Overflow > 0:
		return "results out of range", nil
	}
	b := lintest.Identity(k)
	if !strings.HasPrefix(routine, "Inverse") {
		if host, err = c.b.Host(); err != nil {
			return "", err
		}
		b = lintest.Of(host)
	}
	if square.Solve(b).HasDyadic() {
		return "zeros, ties or numbers of the format", nil
	}
	return "", nil
}
