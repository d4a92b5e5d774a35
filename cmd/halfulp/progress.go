package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressDelay is how long work runs before a bar appears.
const progressDelay = time.Second

// progressBar shows on a terminal how much of one piece of work is done, once it
// has taken progressDelay.
type progressBar struct {
	mu    sync.Mutex
	w     io.Writer
	name  string
	start time.Time
	bar   *progressbar.ProgressBar
}

// newProgress returns a bar on w, or nil, which is a bar as well, where w is not a
// terminal.
func newProgress(w io.Writer, name string) *progressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progressBar{w: w, name: name, start: time.Now()}
}

// callback returns the function to call with the share of the work done, nil for
// a nil bar.
func (p *progressBar) callback() func(done float64) {
	if p == nil {
		return nil
	}
	return p.update
}

const progressSteps = 1000

func (p *progressBar) update(done float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		if time.Since(p.start) < progressDelay {
			return
		}
		p.bar = progressbar.NewOptions(progressSteps,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.name),
			progressbar.OptionSetWidth(40),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	// A bar that cannot be drawn is no reason to fail.
	_ = p.bar.Set(int(min(max(done, 0), 1) * (progressSteps - 1)))
}

// finish wipes the bar out.
func (p *progressBar) finish() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
	}
}
