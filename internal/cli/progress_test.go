package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWait checks the screen before and after work reports how much of it is done.
func TestWait(t *testing.T) { synctest.Test(t, testWait) } // time stands still

func testWait(t *testing.T) {
	var screen strings.Builder
	p := &Progress{w: &screen, name: "lu", width: func() int { return 0 }, start: time.Now().Add(-5 * time.Second)}
	p.timer = time.AfterFunc(time.Hour, func() {})
	p.showTime()
	if got := screen.String(); !strings.HasPrefix(got, "\rlu  [5s") {
		t.Errorf("%q", got)
	}
	screen.Reset()
	p.update(1) // the first and last call: no bar
	if screen.Len() > 0 || p.bar {
		t.Errorf("%q, bar %v", screen.String(), p.bar)
	}
	p.update(0.5)
	if got := screen.String(); !strings.HasPrefix(got, "\r\x1b[K") || p.timer != nil || !p.bar {
		t.Errorf("%q, bar %v", got, p.bar)
	}
	if got := screen.String(); !strings.Contains(got, "lu  [5s, about 5s left]") {
		t.Errorf("%q", got)
	}
	screen.Reset()
	p.showTime() // a call that had begun
	if screen.Len() > 0 {
		t.Errorf("%q", screen.String())
	}
	p.update(0) // the share is no longer known
	if p.bar || p.timer == nil {
		t.Errorf("bar %v, timer %v", p.bar, p.timer)
	}
	p.Finish()
}

// TestBar checks lines of a bar on terminals of several widths, and that they are removed.
func TestBar(t *testing.T) {
	const text = "gemm Größe.mtx  [5s, about 5s left]"
	bar := "  50% |" + strings.Repeat("█", 20) + strings.Repeat(" ", 20) + "|"
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, text + bar}, {200, text + bar}, {84, text + bar}, {83, text}, {36, text}, {35, text[:len(text)-1]}, {10, "gemm Größ"},
	} {
		var screen strings.Builder
		p := &Progress{w: &screen, name: "gemm Größe.mtx", start: time.Now().Add(-5 * time.Second), width: func() int { return c.width }}
		p.update(0.5)
		if got := screen.String(); got != "\r"+c.want+"\x1b[K" {
			t.Errorf("%d columns: %q, want %q", c.width, got, c.want)
		}
		screen.Reset()
		p.update(0.6) // too soon
		if screen.Len() > 0 {
			t.Errorf("%q", screen.String())
		}
		p.Say("a line")
		if got := screen.String(); got != "\r\x1b[Ka line\n" {
			t.Errorf("%q", got)
		}
		screen.Reset()
		p.drawn = time.Time{}
		p.update(1)
		if got := screen.String(); c.width == 0 && !strings.Contains(got, "100% |"+strings.Repeat("█", 40)+"|") {
			t.Errorf("%q", got)
		}
		screen.Reset()
		p.Finish()
		p.Finish()
		if got := screen.String(); got != "\r\x1b[K" {
			t.Errorf("%q", got)
		}
	}
}

func TestRemaining(t *testing.T) {
	for _, c := range []struct {
		taken time.Duration
		done  float64
		want  string
	}{
		{time.Second, 0, "time left not known yet"}, {time.Second, 0.5, "about 1s left"},
		{3 * time.Second, 0.25, "about 9s left"}, {time.Hour, 1, "about 0s left"},
	} {
		if got := remaining(c.taken, c.done); got != c.want {
			t.Errorf("%v for %v: %s, want %s", c.taken, c.done, got, c.want)
		}
	}
}
