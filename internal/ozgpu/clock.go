package ozgpu

import (
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
)

// clock measures stages that follow each other in a stream. The first mark, the beginning of the
// splits, is not its own.
type clock struct {
	s     *cuda.Stream
	marks []mark
}

// newClock returns a clock that runs since began.
func newClock(s *cuda.Stream, began *cuda.Event) clock { return clock{s, []mark{{splits, began}}} }

// mark is the beginning of a stage.
type mark struct {
	stage int
	at    *cuda.Event
}

// start begins a stage and ends the one before.
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

// stop waits for the last stage and returns the times.
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

// close frees the events.
func (c *clock) close() {
	for _, m := range c.marks[1:] {
		_ = m.at.Close() // their times are known, or another error is
	}
}
