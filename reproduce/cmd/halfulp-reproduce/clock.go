package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/reproduce"
)

// clock shows on standard error how far experiments are, and says what is to be said there. A
// quiet one does nothing.
type clock struct {
	quiet bool
	w     io.Writer
	bar   *cli.Progress

	mu    sync.Mutex
	name  string           // of the experiment that runs
	meter *reproduce.Meter // nil: none yet
	// Estimated times of the experiments before that one, and of those after it.
	before, after time.Duration

	end  chan struct{}
	once sync.Once
	done sync.WaitGroup
}

// newClock returns a running clock; stop ends it.
func (f *reproduceFlags) newClock(env *cli.Environment, name string) *clock {
	c := &clock{quiet: f.Quiet, w: env.Stderr, name: name, end: make(chan struct{})}
	if c.quiet {
		return c
	}
	if c.bar = cli.NewProgress(env.Stderr, name); c.bar == nil {
		return c
	}
	c.done.Go(func() {
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		for {
			select {
			case <-c.end:
				return
			case <-tick.C:
				if done, left, name := c.state(); name != "" {
					c.bar.Show(done, fmt.Sprintf("%s, about %v left", name, inTime(left)))
				}
			}
		}
	})
	return c
}

// say writes a line.
func (c *clock) say(format string, args ...any) {
	line := "halfulp: " + fmt.Sprintf(format, args...)
	switch {
	case c.quiet:
	case c.bar != nil:
		c.bar.Say(line)
	default:
		fmt.Fprintln(c.w, line)
	}
}

// watch shows the meter's experiment from now on.
func (c *clock) watch(m *reproduce.Meter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meter = m
}

// next tells the name of the experiment whose meter is watched next, and the estimated times of
// those before and after it.
func (c *clock) next(name string, before, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name, c.meter, c.before, c.after = name, nil, before, after
}

// state returns the share of all work done, the time left and the name of the experiment; the name
// is "" before there is anything to tell.
func (c *clock) state() (done float64, left time.Duration, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.meter == nil {
		return 0, 0, ""
	}
	done, left = c.meter.State()
	mine := c.meter.Estimate().Seconds()
	if total := c.before.Seconds() + mine + c.after.Seconds(); total > 0 {
		done = (c.before.Seconds() + float64(done*mine)) / total
	}
	return done, left + c.after, c.name
}

// stop ends the clock and wipes its bar out.
func (c *clock) stop() {
	c.once.Do(func() { close(c.end) })
	c.done.Wait()
	c.bar.Finish()
}

// inTime is a time as a reader wants it: seconds, and no more of them than are known.
func inTime(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return d.Round(time.Second / 10)
	case d < 2*time.Minute:
		return d.Round(time.Second)
	}
	return d.Round(10 * time.Second)
}
