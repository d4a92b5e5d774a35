package reproduce

import (
	"sync"
	"time"
)

// plannedStep is a step of an experiment before it is run.
type plannedStep struct {
	kind     string // steps of a kind are as much faster or slower than estimated
	estimate time.Duration
}

// Meter reports how much of an experiment is done and how long the rest takes. It uses the plan's
// estimates, corrected by the ratio of actual to estimated time of the steps done. Several
// goroutines may use it.
type Meter struct {
	mu    sync.Mutex
	now   func() time.Time
	steps []plannedStep
	// at is the number of steps that have begun; the last began at since.
	at           int
	began, since time.Time
	end          time.Time // of the last one, zero before
	planned      time.Duration
	of           map[string]*kindTimes
	all          kindTimes
	most         float64 // largest share that was reported
}

// kindTimes are the times of the finished steps of a kind, the plan's estimates for them, and the
// plan's estimates for all steps of that kind.
type kindTimes struct{ took, estimate, planned time.Duration }

func newMeter(steps []plannedStep, now func() time.Time) *Meter {
	m := &Meter{now: now, steps: steps, began: now(), of: map[string]*kindTimes{}}
	m.since = m.began
	for _, s := range steps {
		if m.of[s.kind] == nil {
			m.of[s.kind] = new(kindTimes)
		}
		m.of[s.kind].planned += s.estimate
		m.all.planned += s.estimate
	}
	m.planned = m.all.planned
	return m
}

// next ends a step and begins another.
func (m *Meter) next() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endStep()
	m.at++
}

func (m *Meter) endStep() {
	now := m.now()
	if m.at > 0 && m.at <= len(m.steps) {
		s := m.steps[m.at-1]
		for _, k := range []*kindTimes{m.of[s.kind], &m.all} {
			k.took += now.Sub(m.since)
			k.estimate += s.estimate
		}
	}
	m.since = now
}

// finish ends the last step and returns the time of all steps.
func (m *Meter) finish() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endStep()
	m.at = max(m.at, len(m.steps)) + 1
	m.end = m.since
	return m.end.Sub(m.began)
}

// Estimate returns the time of the experiment, as estimated before it began.
func (m *Meter) Estimate() time.Duration { return m.planned }

// factor returns the ratio of actual to estimated time for the kind's steps: the ratio of the steps
// done, averaged with the prior ratio of all kinds, which has some weight until there are enough
// steps.
func (k *kindTimes) factor(prior, weight float64) float64 {
	w := float64(weight * float64(k.planned))
	if w == 0 {
		return prior
	}
	return (float64(k.took) + float64(w*prior)) / (float64(k.estimate) + w)
}

// The weights of the prior factor of a kind, 1 for all kinds, as shares of the plan.
const (
	allWeight  = 0.03
	kindWeight = 0.15
)

// State returns the share of the work that is done, which never falls, and the time that the rest
// takes.
func (m *Meter) State() (done float64, left time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.end.IsZero() {
		return 1, 0
	}
	now := m.now()
	all := m.all.factor(1, allWeight)
	rest := 0.0
	for i := max(m.at-1, 0); i < len(m.steps); i++ {
		s := m.steps[i]
		estimate := float64(float64(s.estimate) * m.of[s.kind].factor(all, kindWeight))
		if i == m.at-1 {
			// A step that takes longer than estimated is likely to go on.
			elapsed := float64(now.Sub(m.since))
			estimate = max(estimate-elapsed, min(estimate, elapsed)/8)
		}
		rest += estimate
	}
	if total := float64(now.Sub(m.began)) + rest; total > 0 {
		m.most = max(m.most, 1-rest/total)
	}
	return m.most, time.Duration(rest)
}
