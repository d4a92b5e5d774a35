package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressDelay is how long work runs before a bar appears.
const progressDelay = time.Second

// Progress shows on a terminal how much of one piece of work is done, once it
// has taken progressDelay.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	name  string
	start time.Time
	bar   *progressbar.ProgressBar
	timer *time.Timer // of the time shown until there is a bar
	shown bool        // that time is on the screen
	drawn time.Time   // when the bar was drawn last
}

// NewProgress returns a bar on w, or nil, which is a bar as well, where w is not a
// terminal.
func NewProgress(w io.Writer, name string) *Progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &Progress{w: w, name: name, start: time.Now()}
}

// Wait shows how long the work takes until it tells how much of it is done.
func (p *Progress) Wait() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(progressDelay, p.showTime)
}

// showTime shows it, and again every second.
func (p *Progress) showTime() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	fmt.Fprintf(p.w, "\r%s  [%v, %s]", p.name, time.Since(p.start).Round(time.Second), remaining(0, 0))
	p.shown = true
	p.timer.Reset(time.Second)
}

// hideTime ends that.
func (p *Progress) hideTime() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// Callback returns the function to call with the share of the work done, nil for
// a nil bar.
func (p *Progress) Callback() func(done float64) {
	if p == nil {
		return nil
	}
	return p.update
}

const progressSteps = 1000

func (p *Progress) update(done float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := time.Since(p.start)
	if done <= 0 {
		p.hideBar()
		if p.timer == nil {
			p.timer = time.AfterFunc(progressDelay, p.showTime)
		}
		return
	}
	p.set(done, fmt.Sprintf("%s  [%v, %s]", p.name, taken.Round(time.Second), remaining(taken, done)))
}

// remaining estimates how long the rest of work takes of which a share has taken some time: as long
// in proportion. A bar's own estimate counts from its first appearance, progressDelay too late.
func remaining(taken time.Duration, done float64) string {
	if done <= 0 {
		return "time left not known yet"
	}
	return "about " + time.Duration(float64(taken)*(1-done)/done).Round(time.Second).String() + " left"
}

// set moves the bar, with a text before it.
func (p *Progress) set(done float64, text string) {
	if p.bar == nil {
		if time.Since(p.start) < progressDelay || done >= 1 {
			return
		}
		p.hideTime()
		p.bar = progressbar.NewOptions(progressSteps,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetWidth(40),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetRenderBlankState(false),
			progressbar.OptionClearOnFinish(),
		)
	}
	if time.Since(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn = time.Now()
	p.bar.Describe(text)
	// A bar that cannot be drawn is no reason to fail.
	_ = p.bar.Set(int(min(max(done, 0), 1) * (progressSteps - 1)))
}

// Show shows the share of the work done and what it is at, for work that tells how long the rest
// takes. It does nothing on a nil bar.
func (p *Progress) Show(done float64, at string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(done, at)
}

// Say writes a line in place of the bar, which appears again below it.
func (p *Progress) Say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = io.WriteString(p.w, line+"\n")
}

// Finish wipes the bar out.
func (p *Progress) Finish() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hideTime()
	p.hideBar()
}

func (p *Progress) hideBar() {
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
		p.bar = nil
	}
}
