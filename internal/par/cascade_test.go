package par

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// cascadeCheck is a Cascade that checks the order of its steps.
type cascadeCheck struct {
	t    *testing.T
	mu   sync.Mutex
	done []int // steps of each panel
	led  int
	wide func(k int) int
	fail map[[2]int]bool // panels and steps that fail
}

func (c *cascadeCheck) step(p, k int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done[p] != k {
		c.t.Errorf("step %d of panel %d after %d steps", k, p, c.done[p])
	}
	c.done[p]++
	if c.fail[[2]int{p, k}] {
		return fmt.Errorf("%d/%d", p, k)
	}
	return nil
}

func (c *cascadeCheck) run(ctx context.Context, threads, steps int) error {
	var told []int
	err := Cascade{
		Panels: len(c.done), Steps: steps, Width: c.wide,
		Lead: func(_, k int) error {
			width := 1
			if c.wide != nil {
				width = c.wide(k)
			}
			var errs []error
			for p := k; p < k+width; p++ {
				errs = append(errs, c.step(p, k))
			}
			c.mu.Lock()
			c.led = k + 1
			c.mu.Unlock()
			return errors.Join(errs...)
		},
		Follow: func(_, p, k int) error {
			c.mu.Lock()
			if k >= c.led {
				c.t.Errorf("step %d of panel %d before its lead", k, p)
			}
			c.mu.Unlock()
			return c.step(p, k)
		},
		Led: func(k int) { told = append(told, k) },
	}.Run(ctx, threads)
	for i, k := range told {
		if i != k {
			c.t.Errorf("led: %v", told)
			break
		}
	}
	return err
}

// TestCascade checks that every step is computed once, after the steps that it needs.
func TestCascade(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {5, 5}, {30, 30}, {40, 17}, {3, 1}} {
		for _, threads := range []int{1, 2, 7} {
			for _, wide := range []func(k int) int{nil, func(k int) int { return min(1+k%2, size[0]-k) }} {
				c := &cascadeCheck{t: t, done: make([]int, size[0]), wide: wide}
				if err := c.run(t.Context(), threads, size[1]); err != nil {
					t.Error(size, threads, err)
				}
				for p, n := range c.done {
					if n != min(p+1, size[1]) {
						t.Errorf("%v on %d threads: %d steps of panel %d", size, threads, n, p)
					}
				}
			}
		}
	}
}

// TestCascadeFails checks that the first failed step is reported, whatever the threads, and that no
// later step begins after it in any order of one thread.
func TestCascadeFails(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		for _, fail := range []map[[2]int]bool{
			{{9, 4}: true, {7, 4}: true, {8, 6}: true},
			{{7, 4}: true, {5, 5}: true},
			{{7, 4}: true, {20, 3}: true, {19, 7}: true},
			{{6, 6}: true, {25, 6}: true},
		} {
			first := [2]int{99, 99}
			for at := range fail {
				if at[1] < first[1] || at[1] == first[1] && at[0] < first[0] {
					first = at
				}
			}
			c := &cascadeCheck{t: t, done: make([]int, 30), fail: fail}
			err := c.run(t.Context(), threads, 30)
			if want := fmt.Sprintf("%d/%d", first[0], first[1]); err == nil || err.Error() != want {
				t.Errorf("%d threads, %v: error %v, want %s", threads, fail, err, want)
			}
		}
	}
}

func TestCascadeCancelled(t *testing.T) {
	for _, threads := range []int{1, 4} {
		ctx, cancel := context.WithCancel(t.Context())
		c := &cascadeCheck{t: t, done: make([]int, 30)}
		c.wide = func(k int) int {
			if k == 9 {
				cancel()
			}
			return 1
		}
		if err := c.run(ctx, threads, 30); !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads: %v", threads, err)
		}
		if c.done[29] == 30 {
			t.Error("not ended early")
		}
		cancel()
	}
}
