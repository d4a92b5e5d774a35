package ozgpu

import (
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
)

// clock measures the consecutive stages of work in a stream. It owns the events of all marks but
// the first, the beginning of the splits, which belongs to the Factors.
type clock struct {
	s     *cuda.Stream
	marks []mark
}

// newClock returns a clock whose first stage, the splits, began at began.
func newClock(s *cuda.Stream, began *cuda.Event) clock { return clock{s, []mark{{splits, began}}} }

// mark is the beginning of a stage.
type mark struct {
	stage int
	at    *cuda.Event
}

// start ends the stage before and begins another, unless it is the same.
func (c *clock) start(stage int) error {
	if c.marks[len(c.marks)-1].stage == stage {
		return nil
	}
	e, err := c.s.NewEvent()
	if err != nil {
		return err
	}
	c.marks = append(c.marks, mark{stage, e})
	return c.s.Record(e)
}

// stop ends the last stage, waits for it and returns the time of each stage.
func (c *clock) stop() (times [3]time.Duration, err error) {
	if err := c.start(-1); err != nil {
		return times, err
	}
	if err := c.marks[len(c.marks)-1].at.Synchronize(); err != nil {
		return times, err
	}
	for i, m := range c.marks[:len(c.marks)-1] {
		t, err := c.marks[i+1].at.Since(m.at)
		if err != nil {
			return times, err
		}
		times[m.stage] += t
	}
	return times, nil
}

// close frees the events of the clock.
func (c *clock) close() {
	for _, m := range c.marks[1:] {
		_ = m.at.Close() // the times are read, or another error is reported
	}
}
