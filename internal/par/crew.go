package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// LookOut calls ready until it returns true, and then returns true; it returns false once patience
// is over.
func LookOut(patience time.Duration, ready func() bool) bool {
	for start := time.Now(); time.Since(start) < patience; {
		for range 32 {
			if ready() {
				return true
			}
		}
	}
	return false
}

// A Crew is a set of goroutines that poll for work for a while before they sleep. Starting or
// waking a goroutine takes 50 to 90 µs on a virtual machine with GPUs, as long as many of the tasks
// there. The goroutines never end. The zero value is ready for use.
type Crew struct {
	mu      sync.Mutex
	members []*member // guarded by mu
}

// How long members of a crew, and callers that wait for them, poll. Variables for tests.
var (
	crewPatience   = 500 * time.Microsecond
	callerPatience = 2 * time.Millisecond
	// the number of processors from which some may be used for polling
	manyProcessors = 8
)

// A member runs one task at a time.
type member struct {
	free  atomic.Bool
	tasks chan *task
}

// task is a call f(i) for which a caller waits.
type task struct {
	f    func(i int)
	i    int
	done atomic.Bool
	over chan struct{}
}

func (t *task) run() {
	defer func() { // also if f panics or ends the goroutine
		t.done.Store(true)
		close(t.over)
	}()
	t.f(t.i)
}

func (m *member) serve() {
	for {
		LookOut(crewPatience, func() bool { return len(m.tasks) > 0 })
		t := <-m.tasks
		t.run()
		m.free.Store(true)
	}
}

// Do calls f for every 0 <= i < n concurrently, and returns when all calls have ended. Several
// goroutines may call Do at the same time. Nobody polls if GOMAXPROCS is less than manyProcessors.
func (c *Crew) Do(n int, f func(i int)) {
	var list []*task
	for i := 1; i < n; i++ {
		t := &task{f: f, i: i, over: make(chan struct{})}
		list = append(list, t)
		if m := c.taken(i - 1); m != nil {
			m.tasks <- t
		} else {
			go t.run()
		}
	}
	if n > 0 {
		f(0)
	}
	polls := pollers()
	for _, t := range list {
		if !polls || !LookOut(callerPatience, t.done.Load) {
			<-t.over
		}
	}
}

// pollers reports whether there are processors to poll with.
func pollers() bool { return runtime.GOMAXPROCS(0) >= manyProcessors }

// taken reserves and returns member i if it is free, else nil. It returns nil if nobody polls.
func (c *Crew) taken(i int) *member {
	if !pollers() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.members) <= i {
		m := &member{tasks: make(chan *task, 1)}
		m.free.Store(true)
		c.members = append(c.members, m)
		go m.serve()
	}
	if m := c.members[i]; m.free.CompareAndSwap(true, false) {
		return m
	}
	return nil
}
