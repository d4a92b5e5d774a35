// Package counted provides errors that name a row, a column or an entry by its number. The library
// counts from 0, like the methods At of matrices and vectors; programs count from 1, like lines of
// files.
package counted

import "strings"

// From is an error whose method From returns its text with numbers that count from first.
type From interface {
	error
	From(first int) string
}

type failure struct {
	err  error
	text func(first int) string
}

// New returns an error that wraps err. Its text is text(0).
func New(err error, text func(first int) string) error { return &failure{err, text} }

func (f *failure) Error() string         { return f.text(0) }
func (f *failure) From(first int) string { return f.text(first) }
func (f *failure) Unwrap() error         { return f.err }

// Text returns the text of err. Where this contains the text of a From that err wraps, the numbers
// count from first.
func Text(err error, first int) string {
	text := err.Error()
	var walk func(err error)
	walk = func(err error) {
		if f, ok := err.(From); ok { //nolint:errorlint // walks the chain itself
			text = strings.Replace(text, f.Error(), f.From(first), 1)
			return
		}
		switch e := err.(type) { //nolint:errorlint // walks the chain itself
		case interface{ Unwrap() error }:
			if next := e.Unwrap(); next != nil {
				walk(next)
			}
		case interface{ Unwrap() []error }:
			for _, next := range e.Unwrap() {
				walk(next)
			}
		}
	}
	walk(err)
	return text
}
