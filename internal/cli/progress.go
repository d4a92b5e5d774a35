package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// progressDelay is the time that work runs before a bar appears.
const progressDelay = time.Second

// Progress shows on a terminal how much of one piece of work is done, after the work has taken
// progressDelay.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	name  string
	start time.Time
	width func() int  // columns of the terminal; 0: not known
	bar   bool        // whether there is a bar
	timer *time.Timer // shows the time until there is a bar
	shown bool        // whether that time, or the bar, is on the screen
	drawn time.Time   // when the bar was drawn last
}

// NewProgress returns a bar on w. If w is not a terminal it returns nil, which is a valid bar.
func NewProgress(w io.Writer, name string) *Progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &Progress{w: w, name: name, start: time.Now(), width: func() int {
		n, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return n
	}}
}

// Wait shows the time that the work takes until it reports how much of it is done.
func (p *Progress) Wait() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(progressDelay, p.showTime)
}

// showTime shows the time, and again every second.
func (p *Progress) showTime() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.draw(fmt.Sprintf("%s  [%v, %s]", p.name, time.Since(p.start).Round(time.Second), remaining(0, 0)), "")
	p.timer.Reset(time.Second)
}

// hideTime stops showing the time.
func (p *Progress) hideTime() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.wipe()
}

// draw shows a line in place of the one before. It adds more if the terminal has room for both: a
// line that is longer than the terminal could not be wiped out. It ignores write errors.
func (p *Progress) draw(text, more string) {
	if room := p.width(); room > 0 {
		if line := []rune(text); len(line) >= room {
			text, more = string(line[:room-1]), ""
		} else if len(line)+utf8.RuneCountInString(more) >= room {
			more = ""
		}
	}
	_, _ = io.WriteString(p.w, "\r"+text+more+"\x1b[K")
	p.shown = true
}

// wipe removes the line that draw has drawn.
func (p *Progress) wipe() {
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// Callback returns the function to call with the share of the work done, nil for a nil bar.
func (p *Progress) Callback() func(done float64) {
	if p == nil {
		return nil
	}
	return p.update
}

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

// remaining estimates the time of the rest of the work, in proportion to the time that a share has
// taken. A bar's own estimate would count from its first appearance, progressDelay too late.
func remaining(taken time.Duration, done float64) string {
	if done <= 0 {
		return "time left not known yet"
	}
	return "about " + time.Duration(float64(taken)*(1-done)/done).Round(time.Second).String() + " left"
}

// barWidth is the number of blocks of a full bar.
const barWidth = 40

// set moves the bar, and shows a text before it.
func (p *Progress) set(done float64, text string) {
	if !p.bar {
		if time.Since(p.start) < progressDelay || done >= 1 {
			return
		}
		p.hideTime()
		p.bar = true
	}
	if time.Since(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn = time.Now()
	done = min(max(done, 0), 1)
	blocks := int(done * barWidth)
	p.draw(text, fmt.Sprintf(" %3d%% |%s%s|", int(100*done), strings.Repeat("█", blocks), strings.Repeat(" ", barWidth-blocks)))
}

// Show shows the share of the work done and the current step, for work that estimates the rest of
// its time. It does nothing on a nil bar.
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
	p.wipe()
	_, _ = io.WriteString(p.w, line+"\n")
}

// Finish removes the bar.
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
	if p.bar {
		p.wipe()
		p.bar = false
	}
}
