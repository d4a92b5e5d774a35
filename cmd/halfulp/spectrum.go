package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
)

// Shared code of the commands that compute eigenvalues or singular values.

// spectrum is eigenvalues or singular values, and their vectors if they are requested.
type spectrum struct {
	name, file string // of the values, and their own output file or nothing
	of         string // what the values are, in the singular
	first      int    // position of the first value among all
	values     *halfulp.Vector
	vectors    []namedFactor
}

// writeSpectrum writes a spectrum to its files, and draws it to the file picture if there is one.
// object returns the JSON for the texts of the values.
func (j *job) writeSpectrum(s *spectrum, picture string, object func(values []string) any) error {
	j.report(j.solver)
	if err := j.writeValues(s, object); err != nil || picture == "" || !team.first() {
		return err
	}
	if s.values.Len() == 0 {
		return fmt.Errorf("--plot: there is no %s to draw", s.of)
	}
	values := make([]halfulp.Scalar, s.values.Len())
	for i := range values {
		values[i] = s.values.At(i)
	}
	return files.Write(picture, j.env.Stdout, func(w io.Writer) error { return plotSpectrum(w, s.of, s.first+1, values) })
}

// writeValues is writeSpectrum without a picture.
func (j *job) writeValues(s *spectrum, object func(values []string) any) error {
	m := s.values.Matrix()
	if s.vectors == nil && s.file == "" && !j.print.JSON && !j.print.isArchive() {
		j.flat = true
		return j.writeFile(m)
	}
	results := append([]namedFactor{{name: s.name, file: s.file, matrix: m, flat: true}}, s.vectors...)
	return j.writeResults(results, func() string {
		values := make([]string, m.Rows())
		for i := range values {
			values[i] = j.text(m.At(i, 0))
		}
		if j.print.JSON {
			return jsonText(object(values))
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n", s.name)
		for i, v := range values {
			fmt.Fprintf(&b, "%d%s%s\n", s.first+i+1, j.separator(), v)
		}
		for _, f := range s.vectors {
			fmt.Fprintf(&b, "%s\n", f.name)
			for _, row := range j.texts(f.matrix) {
				b.WriteString(strings.Join(row, j.separator()) + "\n")
			}
		}
		return b.String()
	})
}

// factorText returns a matrix for programs.
func (j *job) factorText(m *halfulp.Matrix) *factorText {
	return &factorText{m.Rows(), m.Cols(), j.texts(m)}
}

// mostClusters is how many clusters a note lists.
const mostClusters = 8

// noteClusters notes which values are not separated. what names the values; first is the position
// of the first one among all.
func (j *job) noteClusters(what string, first int, clusters [][2]int) {
	if len(clusters) == 0 || j.print.Quiet {
		return
	}
	var list []string
	for _, c := range clusters {
		if len(list) == mostClusters {
			list = append(list, fmt.Sprintf("and %d more clusters", len(clusters)-mostClusters))
			break
		}
		list = append(list, positions(first+c[0], first+c[1]))
	}
	fmt.Fprintf(j.env.Stderr, "halfulp: note: %s that are equal, or not separated with %d bits: %s; their vectors are a basis of a subspace\n",
		what, 4*j.format.Bits()+64, strings.Join(list, ", "))
}

// positions returns "3-5" for the positions 2 to 4.
func positions(first, last int) string {
	if first == last {
		return strconv.Itoa(first + 1)
	}
	return fmt.Sprintf("%d-%d", first+1, last+1)
}
