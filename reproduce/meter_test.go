package reproduce

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/testseed"
)

// fakeClock is a clock that tests move.
type fakeClock struct{ time time.Time }

func (c *fakeClock) now() time.Time { return c.time }

func (c *fakeClock) pass(d time.Duration) { c.time = c.time.Add(d) }

// TestMeter: the estimate of the time that is left converges where steps of one kind take ten times
// as long as planned, steps of another kind half as long, and times vary.
func TestMeter(t *testing.T) {
	rng := testseed.Rand(t, 1, 2)
	var steps []plannedStep
	var take []time.Duration
	total := time.Duration(0)
	for i := range 120 {
		s := plannedStep{"slow", time.Duration(1+i%7) * time.Second}
		factor := 10.0
		if i%3 > 0 {
			s.kind, factor = "fast", 0.5
		}
		steps = append(steps, s)
		d := time.Duration(float64(s.estimate) * factor * (0.7 + 0.6*rng.Float64()))
		take = append(take, d)
		total += d
	}
	clock := &fakeClock{time.Unix(1e9, 0)}
	m := newMeter(steps, clock.now)
	if e := m.Estimate(); e < total/10 || e > total/2 {
		t.Fatalf("estimate %v for %v: the test wants one that is far off", e, total)
	}
	last, began, worst := 0.0, clock.time, 1.0
	look := func() {
		done, left := m.State()
		if done < last || done > 1 || left < 0 {
			t.Errorf("%v done after %v, %v left", done, last, left)
		}
		last = done
		passed := clock.time.Sub(began)
		if share := float64(passed) / float64(total); share > 0.15 && share < 0.99 {
			right := total - passed
			worst = max(worst, float64(left)/float64(right), float64(right)/float64(left))
			if off := math.Abs(done - share); off > 0.1 {
				t.Errorf("%.3f done, but %.3f", done, share)
			}
		}
	}
	for _, d := range take {
		m.next()
		for range 4 { // within a step, too
			look()
			clock.pass(d / 4)
		}
	}
	if worst > 1.5 {
		t.Errorf("after 15 %% the time left is off by %.2f", worst)
	}
	if got := m.finish(); got < total-time.Second || got > total+time.Second {
		t.Errorf("took %v, want %v", got, total)
	}
	if done, left := m.State(); done != 1 || left != 0 {
		t.Errorf("at the end %v done, %v left", done, left)
	}
}

// TestMeterExact: with exact estimates the time left is always exact.
func TestMeterExact(t *testing.T) {
	clock := &fakeClock{time.Unix(1e9, 0)}
	m := newMeter([]plannedStep{{"a", 2 * time.Second}, {"b", 5 * time.Second}, {"a", 3 * time.Second}}, clock.now)
	want := 10 * time.Second
	for _, s := range m.steps {
		m.next()
		for range 2 {
			if done, left := m.State(); (left-want).Abs() > time.Millisecond || math.Abs(done-(1-want.Seconds()/10)) > 1e-3 {
				t.Errorf("%v done, %v left, want %v left", done, left, want)
			}
			clock.pass(s.estimate / 2)
			want -= s.estimate / 2
		}
	}
}

// TestMeterUnplanned: steps without a plan, and empty plans, do no harm.
func TestMeterUnplanned(t *testing.T) {
	clock := &fakeClock{time.Unix(1e9, 0)}
	for _, steps := range [][]plannedStep{nil, {{"a", 0}}, {{"a", time.Second}}} {
		m := newMeter(steps, clock.now)
		for range 3 {
			m.next()
			clock.pass(time.Second)
			if done, left := m.State(); done < 0 || done > 1 || math.IsNaN(done) || left < 0 {
				t.Errorf("%v: %v done, %v left", steps, done, left)
			}
		}
		if d := m.finish(); d != 3*time.Second {
			t.Errorf("took %v", d)
		}
	}
}

func TestMeasuring(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ run, want time.Duration }{
		{0, 0}, {ms, 20 * ms}, {30 * ms, 420 * ms}, {300 * ms, 600 * ms}, {600 * ms, 1200 * ms}, {3000 * ms, 3000 * ms},
	} {
		if got := measuring(enough, c.run); got != c.want {
			t.Errorf("runs of %v take %v, want %v", c.run, got, c.want)
		}
	}
}

// tiny are experiments that take no time.
func tiny() []Experiment {
	return []Experiment{
		{Name: sumName, N: 500}, {Name: gemvName, N: 12}, {Name: ozakiName, Sizes: []int{32, 16}, Seeds: 2, Phi: []float64{1, 0.1}},
		{Name: qdName, N: 24},
	}
}

// tinyRun is a run of a tiny experiment: its report, its plan, and how many steps have begun.
type tinyRun struct {
	report *Report
	meter  *Meter
	begun  int
}

// tinyRuns runs the tiny experiments once for all tests, with short vectors.
var tinyRuns = sync.OnceValues(func() ([]*tinyRun, error) {
	defer Brief()()
	var list []*tinyRun
	for _, x := range tiny() {
		if x.Name == sumName && testing.Short() {
			continue // set 2 has 10^6 terms
		}
		run := new(tinyRun)
		var err error
		run.report, err = x.Run(Options{
			Threads: 2, MemoryLimit: 1 << 30, Machine: Machine{CPU: "test"}, Command: "halfulp reproduce " + x.Name + x.Flags(),
			Watch: func(m *Meter) { run.meter = m }, Progress: func(float64) { run.begun++ },
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name, err)
		}
		list = append(list, run)
	}
	return list, nil
})

// TestPlans: experiments have as many steps as their plans.
func TestPlans(t *testing.T) {
	runs, err := tinyRuns()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		r := run.report
		if run.begun != len(run.meter.steps) || run.begun == 0 {
			t.Errorf("%s: %d steps, %d are planned", r.Name, run.begun, len(run.meter.steps))
		}
		if r.Seconds <= 0 || r.Estimate <= 0 {
			t.Errorf("%s: took %v s, %v s estimated", r.Name, r.Seconds, r.Estimate)
		}
	}
}

// BenchmarkEstimates prints the times of steps beside their estimates. On a quiet machine,
// estimates of experiments of some seconds are right within a factor of 2.
func BenchmarkEstimates(b *testing.B) {
	for _, x := range []Experiment{
		{Name: sumName, N: 50000}, {Name: gemvName, N: 200}, {Name: ozakiName, Sizes: []int{128, 256}, Seeds: 3, Phi: OzakiPhi}, {Name: qdName, N: 200},
	} {
		b.Run(x.Name, func(b *testing.B) {
			for b.Loop() {
				var m *Meter
				r, err := x.Run(Options{Watch: func(w *Meter) { m = w }})
				if err != nil {
					b.Fatal(err)
				}
				for kind, k := range m.of {
					b.Logf("%-28s %7.2f s, estimated %7.2f s", kind, k.took.Seconds(), k.estimate.Seconds())
				}
				b.ReportMetric(r.Seconds/r.Estimate, "taken/estimated")
			}
		})
	}
}
