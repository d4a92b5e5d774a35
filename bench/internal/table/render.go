package table

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/halfulp/halfulp/bench/internal/record"
)

// WriteText writes the tables of a record with aligned columns.
func WriteText(w io.Writer, r *record.Record) error {
	var s strings.Builder
	for _, t := range Of(r) {
		fmt.Fprintf(&s, "%s\n\n", t.Title)
		widths := t.widths()
		for _, row := range append([][]string{t.Head}, t.Rows...) {
			var line strings.Builder
			for i, cell := range row {
				line.WriteString(pad(cell, widths[i], i > 0))
				line.WriteString("   ")
			}
			s.WriteString("  " + strings.TrimRight(line.String(), " ") + "\n")
		}
		s.WriteString("\n")
		for _, note := range t.Notes {
			fmt.Fprintf(&s, "  %s\n", note)
		}
		if len(t.Notes) > 0 {
			s.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// WriteMarkdown writes the tables of a record, preceded by where they come from.
func WriteMarkdown(w io.Writer, r *record.Record) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, %d cores (%s), %s, %s.\n", r.Machine.CPU, r.Machine.Cores, strings.Join(r.Machine.Features, " "),
		r.Go, r.Date.Format("2006-01-02"))
	var versions []string
	for _, library := range r.Libraries {
		if library.Version != r.Go {
			versions = append(versions, library.Name+" "+strings.TrimPrefix(library.Version, library.Name+" "))
		}
	}
	fmt.Fprintf(&s, "%s. Repeat with `%s` in `bench/`.\n", strings.Join(versions, "; "), r.Command)
	for _, t := range Of(r) {
		fmt.Fprintf(&s, "\n**%s**\n\n", t.Title)
		widths := t.widths()
		for i, row := range append([][]string{t.Head}, t.Rows...) {
			for j, cell := range row {
				s.WriteString("| " + pad(cell, widths[j], j > 0) + " ")
			}
			s.WriteString("|\n")
			if i > 0 {
				continue
			}
			for j, width := range widths {
				if j == 0 {
					s.WriteString("|" + strings.Repeat("-", width+2))
				} else {
					s.WriteString("|" + strings.Repeat("-", width+1) + ":")
				}
			}
			s.WriteString("|\n")
		}
		if len(t.Notes) > 0 {
			fmt.Fprintf(&s, "\n%s\n", strings.ReplaceAll(strings.Join(t.Notes, " "), "*", `\*`))
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// widths returns the length of the longest cell of every column.
func (t *Table) widths() []int {
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// pad fills a cell with blanks.
func pad(cell string, width int, right bool) string {
	blanks := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if right {
		return blanks + cell
	}
	return cell + blanks
}
