package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/textio"
)

// rows is a table with a name and a value in each line.
type rows struct{ *tabwriter.Writer }

func newRows(w io.Writer) rows { return rows{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (t rows) row(name string, value any) { fmt.Fprintf(t, "%s\t%v\n", name, value) }

// some prints a row for a value that is not 0.
func (t rows) some(name string, value int64) {
	if value != 0 {
		t.row(name, value)
	}
}

// stats prints how a routine ran.
func (t rows) stats(s *halfulp.Stats) {
	t.row("device", s.Device)
	if s.Processes != nil {
		t.row("devices of processes", ofProcesses(s.Processes))
	}
	t.row("method", string(s.Method))
	if s.Kernel != "" {
		t.row("kernel", s.Kernel)
	}
	t.row("threads", s.Threads)
	t.some("moduli", int64(s.Moduli))
	t.some("integer matrix products", s.Products)
	if s.WidthA != 0 || s.WidthB != 0 {
		t.row("integer widths", fmt.Sprintf("%d and %d bits", s.WidthA, s.WidthB))
	}
	t.some("blocks", int64(s.Blocks))
	native := s.Method == expansion.Method || s.Method == expansion.Published || hasBlocks(s.Method) || s.Method == powersMethod
	if !isRNS(string(s.Method)) && !isOzaki(string(s.Method)) && !native {
		t.row("entries in the exact pass", s.Exact)
	}
	if native { // these methods do not count all of them
		t.some("overflows", s.Overflow)
	} else {
		t.row("overflows", s.Overflow)
		t.row("underflows", s.Underflow)
	}
	if c := s.Check; c != nil {
		t.row("entries of products checked", fmt.Sprintf("%d, %d not", c.Compared, c.Unchecked))
	}
	if c := s.Condition; c != nil {
		t.row("condition number", fmt.Sprintf("about %.1e", c.Number))
		t.row("digits to trust", fmt.Sprintf("about %d", c.Digits))
	}
	for _, g := range s.Stages {
		t.row("time: "+g.Name, rounded(g.Time))
	}
}

// ofProcesses lists the processes of each device: "0-2 cpu, 3 cuda:0".
func ofProcesses(list []string) string {
	var parts []string
	for first := 0; first < len(list); {
		last := first
		for last+1 < len(list) && list[last+1] == list[first] {
			last++
		}
		numbers := strconv.Itoa(first)
		if last > first {
			numbers += "-" + strconv.Itoa(last)
		}
		parts = append(parts, numbers+" "+list[first])
		first = last + 1
	}
	return strings.Join(parts, "; ")
}

// times prints the time of reading and of writing files, and the total.
func (t rows) times(reading, writing, total time.Duration) {
	t.row("time: read", rounded(reading))
	t.row("time: write", rounded(writing))
	t.row("time: total", rounded(total))
}

// rounded rounds d to about three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d >= 1000*unit && unit < time.Second {
		unit *= 10
	}
	return d.Round(unit)
}

// shortMeasure returns a measure with some digits. Infinity is spelt as in numbers.
func shortMeasure(m halfulp.Measure, digits int) string {
	return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(float64(m), 'g', digits, 64), "+"))
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// warn reports results that left the format's range.
func warn(w io.Writer, s *halfulp.Stats, f halfulp.Format) {
	for _, c := range []struct {
		n    int64
		what string
	}{
		{s.Overflow, "overflowed the range of %v and became infinite"},
		{s.Underflow, "underflowed the range of %v and lost digits"},
	} {
		if c.n > 0 {
			fmt.Fprintf(w, "halfulp: warning: %s "+c.what+"\n", textio.Count(c.n, "result"), f)
		}
	}
}

// are returns "1 result is" or "2 results are".
func are(n int64) string {
	if n == 1 {
		return "1 result is"
	}
	return textio.Count(n, "result") + " are"
}
