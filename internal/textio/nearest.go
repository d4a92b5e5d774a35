package textio

import (
	"slices"
	"strings"
	"unicode"
)

// Nearest returns the words that a mistyped word most likely stands for: the words with the
// smallest distance, if that is at most a third of the letters; else the words that begin with it;
// else none. The distance counts letters inserted, deleted, replaced or swapped with the next one.
// Case and punctuation do not count, so that mp300 is mp:300.
func Nearest(word string, words []string) []string {
	letters := func(s string) []rune {
		return []rune(strings.Map(func(c rune) rune {
			if c == '.' || !unicode.IsPunct(c) {
				return unicode.ToLower(c)
			}
			return -1
		}, s))
	}
	w := letters(word)
	best := max(1, len(w)/3)
	if len(w) < 2 {
		best = 0
	}
	var near, longer []string
	for _, s := range words {
		other := letters(s)
		switch d := distance(w, other); {
		case slices.Contains(near, s):
		case d < best || d == best && near == nil && d < max(len(w), len(other)):
			best, near = d, []string{s}
		case d == best && near != nil:
			near = append(near, s)
		}
		if len(w) > 1 && len(other) > len(w) && slices.Equal(other[:len(w)], w) {
			longer = append(longer, s)
		}
	}
	if near == nil {
		return longer
	}
	return near
}

// distance is the number of letters inserted, deleted, replaced or swapped with the next one that
// turns a into b (the restricted Damerau-Levenshtein distance).
func distance(a, b []rune) int {
	var before []int // row i-2 of the table of distances of a[:i] and b[:j]
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// DidYouMean returns ": did you mean A or B?" with the words that [Nearest] returns, or nothing.
func DidYouMean(word string, words []string) string {
	near := Nearest(word, words)
	if len(near) == 0 || len(near) > 3 {
		return ""
	}
	return ": did you mean " + strings.Join(near, " or ") + "?"
}
