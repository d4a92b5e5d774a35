package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
)

// writeStats prints how a routine ran, a fact a line.
func writeStats(w io.Writer, s *halfulp.Stats, reading time.Duration) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(t, "%s\t%v\n", name, value) }
	some := func(name string, value int64) {
		if value != 0 {
			row(name, value)
		}
	}
	row("device", s.Device)
	row("method", s.Method)
	if s.Kernel != "" {
		row("kernel", s.Kernel)
	}
	row("threads", s.Threads)
	some("moduli", int64(s.Moduli))
	some("integer matrix products", s.Products)
	if s.WidthA != 0 || s.WidthB != 0 {
		row("integer widths", fmt.Sprintf("%d and %d bits", s.WidthA, s.WidthB))
	}
	some("blocks", int64(s.Blocks))
	native := s.Method == expansion.Method || s.Method == expansion.Published || hasBlocks(s.Method)
	if !isRNS(s.Method) && !isOzaki(s.Method) && !native {
		row("entries in the exact pass", s.Exact)
	}
	if native { // which does not count all of them
		some("overflows", s.Overflow)
	} else {
		row("overflows", s.Overflow)
		row("underflows", s.Underflow)
	}
	if c := s.Condition; c != nil {
		row("condition number", fmt.Sprintf("about %.1e", c.Number))
		row("digits to trust", fmt.Sprintf("about %d", c.Digits))
	}
	row("time: read", rounded(reading))
	for _, g := range s.Stages {
		row("time: "+g.Name, rounded(g.Time))
	}
	return t.Flush()
}

// rounded keeps three digits of d or so.
func rounded(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d >= 1000*unit && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// warn says which results left the format's range.
func warn(w io.Writer, s *halfulp.Stats, f halfulp.Format) {
	for _, c := range []struct {
		n    int64
		what string
	}{
		{s.Overflow, "overflowed the range of %v and became infinite"},
		{s.Underflow, "underflowed the range of %v and lost digits"},
	} {
		if c.n > 0 {
			fmt.Fprintf(w, "halfulp: warning: %s "+c.what+"\n", results(c.n), f)
		}
	}
}

// are is "1 result is" or "2 results are".
func are(n int64) string {
	if n == 1 {
		return "1 result is"
	}
	return results(n) + " are"
}

func results(n int64) string {
	if n == 1 {
		return "1 result"
	}
	return fmt.Sprintf("%d results", n)
}
