package main

import "container/heap"

// task is a piece of work that holds resources, a GPU's stream or the ends of links, while it runs.
// It becomes ready when all that it waits for has happened.
type task struct {
	ready, length float64 // seconds
	waits         int32
	urgent        bool // before others that are ready at the same time
	uses          []int32
	after         []edge
}

// edge makes a task wait for another one: until its end, or until its first part has arrived.
type edge struct {
	to    int32
	first bool
}

// simulation runs tasks in the order in which they become ready, each as soon as its resources are
// free.
type simulation struct {
	tasks   []task
	free    []float64 // when a resource is free again
	latency float64   // between the start of a transfer and its first byte
	parts   float64   // of a transfer, each of which is sent on when it has arrived
}

// add returns the number of a new task.
func (s *simulation) add(length float64, uses ...int32) int32 {
	s.tasks = append(s.tasks, task{length: length, uses: uses})
	return int32(len(s.tasks) - 1)
}

// wait makes a task wait for another one, unless that is none (-1).
func (s *simulation) wait(t, other int32, first bool) {
	if other >= 0 {
		s.tasks[other].after = append(s.tasks[other].after, edge{t, first})
		s.tasks[t].waits++
	}
}

// run returns when the last task ends.
func (s *simulation) run() (end float64) {
	q := &queue{tasks: s.tasks}
	for i, t := range s.tasks {
		if t.waits == 0 {
			q.list = append(q.list, int32(i))
		}
	}
	heap.Init(q)
	for len(q.list) > 0 {
		t := &s.tasks[heap.Pop(q).(int32)]
		start := t.ready
		for _, r := range t.uses {
			start = max(start, s.free[r])
		}
		finish := start + t.length
		for _, r := range t.uses {
			s.free[r] = finish
		}
		end = max(end, finish)
		for _, e := range t.after {
			u := &s.tasks[e.to]
			when := finish
			if e.first {
				when = start + s.latency + (t.length-s.latency)/s.parts
			}
			u.ready = max(u.ready, when)
			if u.waits--; u.waits == 0 {
				heap.Push(q, e.to)
			}
		}
	}
	return end
}

// queue holds tasks that are ready, by time.
type queue struct {
	tasks []task
	list  []int32
}

func (q *queue) Len() int      { return len(q.list) }
func (q *queue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *queue) Push(x any)    { q.list = append(q.list, x.(int32)) }

func (q *queue) Less(i, j int) bool {
	a, b := &q.tasks[q.list[i]], &q.tasks[q.list[j]]
	switch {
	case a.ready != b.ready:
		return a.ready < b.ready
	case a.urgent != b.urgent:
		return a.urgent
	}
	return q.list[i] < q.list[j]
}

func (q *queue) Pop() any {
	x := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return x
}
