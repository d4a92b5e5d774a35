package call

import (
	"errors"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// Method is the method in Stats.
const Method = "solve"

// Run is a [Call] of a routine on matrices: the place where they live, its products, statistics,
// and matrices that it gives back at the end.
type Run struct {
	Call
	Set     place.Settings // of products: Progress is nil between them
	Vanish  bool           // products may, below the smallest number of a format of some bits
	Lifting any            // what exact solutions of the last matrix keep
	Stats   Stats
	Since   time.Time
	Lost    LostEntries

	At   Home      // where matrices of Newton's method live
	Away []num.Mat // those that live at a place
	// counts there what operations cannot store; nil: they wait, and say so
	Tally *num.Array

	Reuse bool      // no matrix of MatrixHere outlives the next Release
	here  []num.Mat // those of MatrixHere
	units []num.Mat // unit matrices of the host
}

// Begin makes Stats those of a routine of which nothing has been done.
func (s *Run) Begin() {
	s.Stats = Stats{Device: place.Host, Method: Method, Threads: s.Threads}
	if s.Set.Check {
		s.Stats.Check = new(residue.Check)
	}
}

// Stage ends a stage; stages of one name are one.
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

// An Entry is one of a result.
type Entry struct {
	Z    num.Mat
	I, J int
}

// LostEntries are entries of results that lost bits below the smallest normal number. Ways that
// give up and those after them may tell of the same ones.
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

// Finished reports that all is done, and counts entries that underflowed.
func (s *Run) Finished() {
	s.Stats.Underflow += int64(len(s.Lost.List))
	s.Lost.List = nil
	if s.Work.Report != nil {
		s.Work.Report(1)
	}
}

// There runs a routine with A where that lives, if it is of the least order for it, and with a copy
// on the host where the place does not decide the result.
func (s *Run) There(a num.Mat, least int, run func(a num.Mat) (done bool, err error)) error {
	if !a.OnHost() && a.Rows >= least {
		s.At = At(place.Of(a.Arr))
		done, err := run(a)
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

// Resignable returns an error, but none for those that the host has other means against.
func Resignable(err error) error {
	if errors.Is(err, ErrRange) || errors.Is(err, product.ErrMemory) || errors.Is(err, place.ErrUnsupported) {
		return nil
	}
	return err
}

// Resign leaves the run's place for the host. All that Stats keep of the attempt is its time.
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

// DeviceGuard takes the place of guard: what is not decided costs all of the host's way.
const DeviceGuard = 48
