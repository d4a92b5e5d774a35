package call

// may fuse throughout: estimates of time, none of them a result.

// Work is what a call has done and what it plans to do, in ns of one thread about, so that its
// share is one of the time.
type Work struct {
	Report      func(share float64) // nil if nobody wants to know
	Done, Ahead float64
	Later       float64 // of Ahead, what comes after the routine that plans
	planned     bool    // otherwise nothing is known of what lies ahead
	Guessed     bool    // what lies ahead is a guess that may be far off: nobody is told
	One         bool    // columns are solved one by one
	Cond        int     // a guess of log2 of the condition number
	told        float64
}

// Falls is how much more than was told must be left for a share to fall, as it does where a matrix
// turns out to be worse than it seemed: shares rise otherwise, and stand still meanwhile.
const Falls = 2

// tell reports a share of the work, 1 at the end alone, and 0 while what lies ahead is a guess.
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
	// What is left is ahead/done of the time taken, and was (1 - told)/told of it.
	if share > w.told || ahead*w.told > Falls*done*(1-w.told) {
		w.told = share
		w.Report(share)
	}
}

// Plan says what lies ahead of the routine at hand, in place of what was planned for it before.
func (c *Call) Plan(cost float64) {
	c.Work.Ahead, c.Work.planned = c.Work.Later+cost, true
	c.Work.tell(c.Work.Done, c.Work.Ahead)
}

// Before says that work of a cost comes after what routines plan until the function is called that
// it returns.
func (c *Call) Before(cost float64) (end func()) {
	c.Work.Later += cost
	return func() { c.Work.Later -= cost }
}

// Did says that work of a cost is done.
func (c *Call) Did(cost float64) {
	w := &c.Work
	w.Done += cost
	w.Ahead = max(w.Ahead-cost, w.Later)
	w.tell(w.Done, w.Ahead)
}

// Doing returns a function that takes the share done of work of a cost, until Did is called.
func (c *Call) Doing(cost float64) func(share float64) {
	w := &c.Work
	return func(share float64) { w.tell(w.Done+float64(cost*share), max(w.Ahead-float64(cost*share), w.Later)) }
}

// Part makes the work that is planned from now on that from share lo to share hi of the whole,
// which rises.
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
