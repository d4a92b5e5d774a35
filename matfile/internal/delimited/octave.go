package delimited

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// errOctave begins errors about Octave's text format.
var errOctave = errors.New("text that Octave saved")

// octaveRows matches the types of Octave whose text is rows of numbers.
var octaveRows = regexp.MustCompile(`^(global )?((float |bool )?matrix|(float |u?int[0-9]+ )?scalar|bool)$`)

// octave examines text that Octave's save may have written, which has the type of a variable in its
// comments. named reports whether it is such a text. octave returns an error if the lines are not
// rows of a matrix: the lines of a sparse matrix, for example, are row, column and value of
// entries.
func octave(text []byte) (named bool, err error) {
	kind, arrays := "", false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '#' {
			break
		}
		key, value, _ := strings.Cut(strings.TrimSpace(string(line[1:])), ": ")
		switch {
		case key == "name":
			named = true
		case key == "type" && named && kind == "":
			kind = value
		case key == "ndims":
			arrays = true
		}
	}
	switch {
	case kind == "":
		return false, nil
	case strings.Contains(kind, "sparse"):
		return true, fmt.Errorf("%w: %s lists row, column and value of entries: save full(A), or write a Matrix Market file", errOctave, article(kind))
	case arrays || !octaveRows.MatchString(kind):
		return true, fmt.Errorf("%w: %s is no list of rows of numbers: save double(full(A)) of two dimensions", errOctave, article(kind))
	}
	return true, nil
}

// article returns a noun with its indefinite article.
func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// errVariables is the error for a file of several variables, whose rows would otherwise become the
// rows of one matrix.
var errVariables = fmt.Errorf("%w: the file has several variables: save one", errOctave)
