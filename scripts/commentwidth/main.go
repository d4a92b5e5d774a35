// Commentwidth prints the comments under the current folder that reach beyond column 100, as
// FILE:LINE: WIDTH, and exits 1 if there is one. A tab is 4 columns wide.
//
// Generated files are left out, and lines that cannot be broken: directives, addresses,
// preformatted lines of doc comments and the output of examples.
package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	maxWidth = 100
	tab      = "    "
)

func main() {
	found, err := check(os.DirFS("."), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "commentwidth:", err)
		os.Exit(2)
	}
	if found > 0 {
		fmt.Printf("%d comments are wider than %d columns\n", found, maxWidth)
		os.Exit(1)
	}
}

// check prints the lines of a tree whose comments are too wide, and returns how many there are.
func check(tree fs.FS, w io.Writer) (found int, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		comments := readers[filepath.Ext(name)]
		if comments == nil {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if generated.Match(text) {
			return nil
		}
		output, last := false, 0 // within the output of an example; the comment before
		for _, c := range comments(text) {
			output = strings.HasSuffix(name, "_test.go") &&
				(exampleOutput.MatchString(c.text) || output && c.whole && c.line == last+1)
			last = c.line
			if width := c.width(); width > maxWidth && !output && !unbreakable.MatchString(c.text) {
				fmt.Fprintf(w, "%s:%d: %d\n", name, c.line, width)
				found++
			}
		}
		return nil
	})
	return found, err
}

var (
	// https://go.dev/s/generatedcode, with the comment signs of other languages.
	generated = regexp.MustCompile(`(?m)^(//|#) Code generated .* DO NOT EDIT\.$`)

	exampleOutput = regexp.MustCompile(`^// (Unordered )?[Oo]utput:`)

	// Directives of Go and cgo, preformatted lines as gofmt writes them, addresses.
	unbreakable = regexp.MustCompile(`^//[a-z]+(:\S|\s*$)|^#cgo |^//\t|://`)
)

// A comment is the part of a line that is comment.
type comment struct {
	line   int
	before string // what stands before it on the line
	text   string
	whole  bool // only blanks stand before it
}

func (c comment) width() int {
	return utf8.RuneCountInString(strings.ReplaceAll(c.before+c.text, "\t", tab))
}

var readers = map[string]func(text []byte) []comment{
	".go": slashes, ".cu": slashes, ".cuh": slashes, ".c": slashes, ".h": slashes, ".cpp": slashes,
	".sh": numberSigns, ".py": numberSigns,
}

// numberSigns returns the lines that begin with #.
func numberSigns(text []byte) []comment {
	var list []comment
	for i, line := range strings.Split(string(text), "\n") {
		if text := strings.TrimLeft(line, " \t"); strings.HasPrefix(text, "#") {
			list = append(list, comment{i + 1, line[:len(line)-len(text)], text, true})
		}
	}
	return list
}

// slashes returns the comments of Go and of C++, line by line.
func slashes(text []byte) []comment {
	var list []comment
	line, start := 1, 0 // the line, and where it begins
	for i := 0; i < len(text); {
		end := i + 1 // of the token at i
		rest := text[i:]
		isComment := false
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			end, isComment = i+upTo(rest, "\n"), true
		case bytes.HasPrefix(rest, []byte("/*")):
			end, isComment = i+len("/*")+upTo(rest[len("/*"):], "*/")+len("*/"), true
		case rest[0] == '`':
			end = i + 1 + upTo(rest[1:], "`") + 1
		case rest[0] == '"', rest[0] == '\'' && (i == 0 || !isDigit(text[i-1])):
			for end < len(text) && text[end] != rest[0] && text[end] != '\n' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end++
		}
		end = min(end, len(text))
		token := string(text[i:end])
		for {
			part, next, more := strings.Cut(token, "\n")
			if isComment {
				before := string(text[start:i])
				list = append(list, comment{line, before, part, strings.TrimLeft(before, " \t") == ""})
			}
			if !more {
				break
			}
			line++
			start = i + len(part) + 1
			i, token = start, next
		}
		i = end
	}
	return list
}

// upTo returns where a mark begins in a text, its length if there is none.
func upTo(text []byte, mark string) int {
	before, _, _ := bytes.Cut(text, []byte(mark))
	return len(before)
}

// isDigit reports whether c is a digit, after which ' separates digits in C++.
func isDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
