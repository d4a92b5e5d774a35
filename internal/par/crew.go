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
// waking a goroutine takes 50 to 90 µs on a virtual machine, as long as many tasks take, and Go
// wakes the threads of several goroutines one after the other. The goroutines never end. The zero
// value is ready for use.
type Crew struct {
	mu       sync.Mutex                // held to add members
	members  atomic.Pointer[[]*member] // a longer list replaces it
	sleepers atomic.Int32              // members that sleep, or are about to
	_        [64]byte
	share    atomic.Pointer[share] // a call of Share that members may join; polled
	_        [64]byte
}

// How long members of a crew, and callers that wait for them, poll. Variables for tests.
var (
	crewPatience   = time.Millisecond
	callerPatience = 2 * time.Millisecond
	// the number of processors from which some may be used for polling
	manyProcessors = 8
)

// A member runs one task at a time.
type member struct {
	crew   *Crew
	index  int                  // its number in shares, from 1 on
	task   atomic.Pointer[task] // the task that it runs or is to run; nil: it is free
	asleep atomic.Bool
	wake   chan struct{}
	last   *share   // the share that it joined last
	_      [64]byte // polled: a cache line of its own
}

// joined is the task of a member that has joined a share.
var joined task

// share is a call of Share that is offered to all members at once. One word that all members poll
// takes less time than a word for each member.
//
// Member i runs call i, so that a call finds what the same call of earlier shares has left in the
// caches of a processor.
type share struct {
	f     func(i int)
	calls int          // number of calls
	state atomic.Int64 // number of calls that run, and the bits below
	done  chan struct{}
}

// The state of a share.
const (
	running = 1       // the unit of the number of calls that run
	closed  = 1 << 40 // no further call begins
	awaited = 1 << 41 // the caller sleeps until all calls have ended
	runMask = 1<<20 - 1
)

// join runs call i of the share, unless it is closed.
func (s *share) join(i int) {
	state := s.state.Add(running)
	defer s.leave() // also if f panics or ends the goroutine
	if state < closed {
		s.f(i)
	}
}

func (s *share) leave() {
	if state := s.state.Add(-running); state >= awaited && state&runMask == 0 {
		select {
		case s.done <- struct{}{}:
		default:
		}
	}
}

// end closes the share, and returns when all calls that have begun have ended.
func (s *share) end() {
	ended := func() bool { return s.state.Load()&runMask == 0 }
	s.state.Add(closed)
	if !ended() && !LookOut(callerPatience, ended) {
		s.done = make(chan struct{}, 1)
		if s.state.Add(awaited)&runMask != 0 {
			<-s.done
		}
	}
	s.f = nil // members keep the share
}

// task is a call f(i) for which a caller waits.
type task struct {
	call  *crewCall
	i     int
	state atomic.Int32
}

// crewCall is a call of Do or Share.
type crewCall struct {
	f     func(i int)
	open  sync.WaitGroup // the tasks that are neither done nor dropped
	tasks []task
}

// The states of a task. Only pending tasks are begun or dropped.
const (
	pending = iota
	begun
	done
	dropped
)

// run runs the task unless it has been dropped.
func (t *task) run() {
	if !t.state.CompareAndSwap(pending, begun) {
		return
	}
	defer func() { // also if f panics or ends the goroutine
		t.state.Store(done)
		t.call.open.Done()
	}()
	t.call.f(t.i)
}

// offer gives the member a task, unless it has another that has not been dropped.
func (m *member) offer(t *task) bool {
	old := m.task.Load()
	if old != nil && old.state.Load() != dropped || !m.task.CompareAndSwap(old, t) {
		return false
	}
	m.rouse()
	return true
}

func (m *member) serve() {
	for {
		m.await()
		m.serveOne()
	}
}

// shared returns a share that the member has not joined yet, or nil.
func (m *member) shared() *share {
	if s := m.crew.share.Load(); s != nil && s != m.last && m.index < s.calls && s.state.Load() < closed {
		return s
	}
	return nil
}

// serveOne runs the task of the member, or joins a share. It is free afterwards.
func (m *member) serveOne() {
	t := m.task.Load()
	var s *share
	if t == nil {
		if s = m.shared(); s == nil || !m.task.CompareAndSwap(nil, &joined) {
			return
		}
		t, m.last = &joined, s
	}
	ended := false
	defer func() {
		m.task.CompareAndSwap(t, nil) // a dropped task may have been replaced
		if !ended {                   // by runtime.Goexit; a panic ends the program
			go m.serve()
		}
	}()
	if s != nil {
		s.join(m.index)
	} else {
		t.run()
	}
	ended = true
}

// await returns when the member has a task, or when there is a share to join.
func (m *member) await() {
	has := func() bool { return m.shared() != nil || m.task.Load() != nil }
	if LookOut(crewPatience, has) {
		return
	}
	m.crew.sleepers.Add(1)
	defer m.crew.sleepers.Add(-1)
	m.asleep.Store(true)
	if has() && m.asleep.Swap(false) {
		return
	}
	<-m.wake
}

// rouse wakes the member if it sleeps.
func (m *member) rouse() {
	if m.asleep.Load() && m.asleep.Swap(false) {
		m.wake <- struct{}{}
	}
}

// Do calls f for every 0 <= i < n concurrently, and returns when all calls have ended. Several
// goroutines may call Do at the same time. Nobody polls if GOMAXPROCS is less than manyProcessors.
func (c *Crew) Do(n int, f func(i int)) { c.run(n, f, false) }

// Share is like Do, except that it drops the calls f(i), i > 0, that have not begun when f(0)
// returns.
func (c *Crew) Share(n int, f func(i int)) {
	if !c.offered(n, f) {
		c.run(n, f, true)
	}
}

// offered runs a call of Share on members that join it. It returns false if members run another
// share, or if nobody polls.
func (c *Crew) offered(n int, f func(i int)) bool {
	if n <= 1 || n > runMask {
		return false
	}
	members := c.enough(min(n, runtime.GOMAXPROCS(0)) - 1)
	if members == nil {
		return false
	}
	s := &share{f: f, calls: n}
	if !c.share.CompareAndSwap(nil, s) {
		return false
	}
	if c.sleepers.Load() > 0 {
		for _, m := range members[:min(n-1, len(members))] {
			m.rouse()
		}
	}
	defer func() {
		c.share.Store(nil)
		s.end()
	}()
	f(0)
	return true
}

func (c *Crew) run(n int, f func(i int), drop bool) {
	if n <= 0 {
		return
	}
	j := &crewCall{f: f, tasks: make([]task, n-1)}
	j.open.Add(n - 1)
	members := c.enough(min(n, runtime.GOMAXPROCS(0)) - 1)
	k := 0
	for i := range j.tasks {
		t := &j.tasks[i]
		t.call, t.i = j, i+1
		for k < len(members) && !members[k].offer(t) {
			k++
		}
		if k == len(members) {
			go t.run()
		}
		k++
		k = min(k, len(members))
	}
	defer j.wait(drop)
	f(0)
}

// wait waits until the tasks are done. It drops those that have not begun, if drop is set.
func (j *crewCall) wait(drop bool) {
	for i := range j.tasks {
		t := &j.tasks[i]
		if drop && t.state.CompareAndSwap(pending, dropped) {
			j.open.Done()
		} else if !pollers() || !LookOut(callerPatience, func() bool { return t.state.Load() == done }) {
			break
		}
	}
	if drop {
		for i := range j.tasks {
			if j.tasks[i].state.CompareAndSwap(pending, dropped) {
				j.open.Done()
			}
		}
	}
	j.open.Wait()
}

// pollers reports whether there are processors to poll with.
func pollers() bool { return runtime.GOMAXPROCS(0) >= manyProcessors }

// enough returns the first members, at most n, and starts missing ones. It returns none if nobody
// polls.
func (c *Crew) enough(n int) []*member {
	if !pollers() {
		return nil
	}
	var list []*member
	if p := c.members.Load(); p != nil {
		list = *p
	}
	if len(list) < n {
		c.mu.Lock()
		defer c.mu.Unlock()
		if p := c.members.Load(); p != nil {
			list = *p
		}
		list = list[:len(list):len(list)]
		for len(list) < n {
			m := &member{crew: c, index: len(list) + 1, wake: make(chan struct{}, 1)}
			list = append(list, m)
			go m.serve()
		}
		c.members.Store(&list)
	}
	return list
}
