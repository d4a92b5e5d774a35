package call

// may fuse throughout: estimates of time, none of them a result.

// Work is the work that a call has done and plans to do, in about ns of one thread, so that its
// share is a share of the time.
type Work struct {
	Report      func(share float64) // nil: progress is not reported
	Done, Ahead float64
	Later       float64 // the part of Ahead after the routine that plans
	planned     bool    // Ahead is known
	Guessed     bool    // Ahead is a guess that may be far off; it is not reported
	One         bool    // columns are solved one by one
	Cond        int     // a guess of log2 of the condition number
	told        float64
}

// Falls is the factor by which the remaining work must exceed the last estimate before a reported
// share falls, for example when a matrix is worse conditioned than it seemed. With less excess the
// share stays the same until it can rise.
const Falls = 2

// tell reports the share of the work that is done, below 1. It reports 0 as long as the work ahead
// is a guess. Only Finished reports 1.
func (w *Work) tell(done, ahead float64) {
	if w.Report == nil || !w.planned || !(done+ahead > 0) {
		return
	}
	if w.Guessed {
		if w.told > 0 {
			w.told = 0
			w.Report(0)
		}
		return
	}
	share := min(done/(done+ahead), 0.999)
	// The remaining work is ahead/done of the work so far; the last report implied (1 - told)/told.
	if share > w.told || ahead*w.told > Falls*done*(1-w.told) {
		w.told = share
		w.Report(share)
	}
}

// Plan sets the cost of the work ahead in the current routine, and replaces its earlier plan.
func (c *Call) Plan(cost float64) {
	c.Work.Ahead, c.Work.planned = c.Work.Later+cost, true
	c.Work.tell(c.Work.Done, c.Work.Ahead)
}

// Before says that work of the given cost follows after the work that routines plan, until the
// returned function is called.
func (c *Call) Before(cost float64) (end func()) {
	c.Work.Later += cost
	return func() { c.Work.Later -= cost }
}

// Did says that work of the given cost is done.
func (c *Call) Did(cost float64) {
	w := &c.Work
	w.Done += cost
	w.Ahead = max(w.Ahead-cost, w.Later)
	w.tell(w.Done, w.Ahead)
}

// Doing returns a function that reports the share done of work of the given cost, until Did is
// called.
func (c *Call) Doing(cost float64) func(share float64) {
	w := &c.Work
	return func(share float64) { w.tell(w.Done+float64(cost*share), max(w.Ahead-float64(cost*share), w.Later)) }
}

// Part makes the work that is planned from now on a part of whole: its progress is reported to
// whole as a share from lo to hi. Shares only rise.
func (c *Call) Part(whole Work, lo, hi float64) {
	if c.Work = (Work{}); whole.Report != nil {
		c.Work.Report = func(share float64) {
			if share = lo + float64((hi-lo)*share); share > c.parts {
				c.parts = share
				whole.Report(share)
			}
		}
	}
}
