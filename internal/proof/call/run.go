package call

import (
	"errors"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/residue"
)

// Method is the method in Stats.
const Method = "solve"

// Run is a [Call] of a routine on matrices: the place where they live, its products, its
// statistics, and the matrices that it releases at the end.
type Run struct {
	Call
	Set     place.Settings // settings of products; Progress is nil between products
	Vanish  bool           // products may underflow to 0 in MP
	Lifting any            // data kept for exact solutions with the last matrix
	Stats   Stats
	Since   time.Time
	Lost    LostEntries

	At   Home      // where the matrices of Newton's method live
	Away []num.Mat // matrices at a place that Release frees
	// Tally counts, at the place, the entries that operations cannot store. If it is nil,
	// operations wait and return the count.
	Tally *num.Array

	// Brief is set if nobody reads the statistics, so that ways may serve that have none.
	Brief bool

	Reuse bool      // no matrix of MatrixHere outlives the next Release
	here  []num.Mat // matrices of MatrixHere that Release releases
	units []num.Mat // unit matrices on the host
}

// New returns the run of a routine that begins now on the host.
func New(set place.Settings) *Run {
	s := &Run{Call: Call{Run: set.Run, Budget: budget.New(set.Limit)}, Set: set, Since: time.Now(), At: Host}
	s.Work.Report, s.Set.Progress = set.Progress, nil
	s.Begin()
	return s
}

// Begin resets Stats for a routine that has not computed anything yet.
func (s *Run) Begin() {
	s.Stats = Stats{Device: place.Host, Method: Method, Threads: s.Threads}
	if s.Set.Check {
		s.Stats.Check = new(residue.Check)
	}
}

// Stage ends the current stage and records its time under name. Times of stages with the same name
// are added.
func (s *Run) Stage(name string) {
	now := time.Now()
	took := now.Sub(s.Since)
	s.Since = now
	for i := range s.Stats.Stages {
		if g := &s.Stats.Stages[i]; g.Name == name {
			g.Time += took
			return
		}
	}
	s.Stats.Stages = append(s.Stats.Stages, residue.Stage{Name: name, Time: took})
}

// An Entry is an entry (I, J) of a result Z.
type Entry struct {
	Z    num.Mat
	I, J int
}

// LostEntries is the set of entries of results that lost bits below the smallest normal number. A
// set is needed because a way that gives up and the next way may record the same entry.
type LostEntries struct {
	mu   sync.Mutex
	List map[Entry]bool
}

// Note adds an entry.
func (l *LostEntries) Note(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.List == nil {
		l.List = map[Entry]bool{}
	}
	l.List[e] = true
}

// Finished reports that the work is complete, and adds the number of entries that underflowed to
// Stats.
func (s *Run) Finished() {
	s.Stats.Underflow += int64(len(s.Lost.List))
	s.Lost.List = nil
	if s.Work.Report != nil {
		s.Work.Report(1)
	}
}

// There runs a routine with A where A lives, if A has at least least rows. If A lives at a place
// and the routine does not decide the result there, or A is smaller, There runs the routine with a
// copy of A on the host.
func (s *Run) There(a num.Mat, least int, run func(a num.Mat) (done bool, err error)) error {
	if !a.OnHost() && a.Rows >= least {
		done := false
		err := s.Beside(place.EliminationFactors, []num.Mat{a}, func(list []num.Mat) (err error) {
			done, err = run(list[0])
			return err
		})
		if err = Resignable(err); done || err != nil {
			return err
		}
		s.Resign()
	}
	if !a.OnHost() {
		var err error
		if a, err = place.On(nil, a); err != nil {
			return err
		}
	}
	_, err := run(a)
	return err
}

// Beside runs a routine, with s.At set, where matrices of one place live: with copies at the first
// of several places, if that takes less time, else with the matrices themselves. The routine's
// results then live at the first place: see place.Moved.
func (s *Run) Beside(routine place.Routine, list []num.Mat, run func(list []num.Mat) error) error {
	at := func(list []num.Mat) error {
		s.At = At(place.Of(list[0].Arr))
		return run(list)
	}
	order := 0
	for _, m := range list {
		order = max(order, m.Rows, m.Cols)
	}
	if first, ok := place.Part[place.FirstOnly](place.Of(list[0].Arr)); ok {
		if done, err := first.OnFirst(s.Config(), routine, order, list, at); done || err != nil {
			return err
		}
	}
	return at(list)
}

// Resignable returns nil if the host may succeed after this error of a place: it wraps ErrRange,
// product.ErrMemory or place.ErrUnsupported. Otherwise it returns err.
func Resignable(err error) error {
	if errors.Is(err, ErrRange) || errors.Is(err, product.ErrMemory) || errors.Is(err, place.ErrUnsupported) {
		return nil
	}
	return err
}

// Resign moves the run from its place to the host. Of the attempt at the place, Stats keeps only
// the time.
func (s *Run) Resign() {
	attempt := residue.Stage{Name: "attempt on " + s.At.String(), Time: time.Since(s.Since)}
	for _, g := range s.Stats.Stages {
		attempt.Time += g.Time
	}
	s.Release()
	s.At, s.Tally, s.Since = Host, nil, time.Now()
	s.Begin()
	s.Stats.Stages = []residue.Stage{attempt}
}

// DeviceGuard is the number of guard bits at a place, in place of ziv.Guard. It is larger because
// entries that stay undecided cost a complete computation on the host.
const DeviceGuard = 48
