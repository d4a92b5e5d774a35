// Package compact shortens the assembly for amd64 that avo writes. The machine code is the same.
package compact

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Out rewrites the file that the flag -out of avo names.
func Out() {
	name := flag.Lookup("out").Value.String()
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, []byte(Text(string(text))), 0o644)
	}
	if err != nil {
		panic(err)
	}
}

var (
	operands = regexp.MustCompile(`^\t([A-Z][A-Z0-9.]*) +(.*)$`)
	zeros    = regexp.MustCompile(`\$0x0+([0-9a-f])`)
	local    = regexp.MustCompile(`^\t(J|LOOP|CALL|RET)|\(FP\)|//`)
	data     = regexp.MustCompile(`^\t(QUAD|LONG|WORD|BYTE) `)
)

// Text returns assembly with one blank between mnemonics and operands, which avo aligns, none
// between operands, and no leading zeros. An instruction that Go's assembler lacks, a comment and
// data for avo, becomes one line. Sequences that recur become macros.
func Text(text string) string {
	var lines []string
	joins := false // the last line is data
	for line := range strings.SplitSeq(text, "\n") {
		if m := operands.FindStringSubmatch(line); m != nil {
			line = "\t" + m[1] + " " + strings.ReplaceAll(m[2], ", ", ",")
		}
		line = zeros.ReplaceAllString(line, "$$0x$1")
		n := len(lines) - 1
		switch isData := data.MatchString(line); {
		case isData && joins:
			code, comment, _ := strings.Cut(lines[n], " //")
			lines[n] = code + "; " + line[1:] + " //" + comment
		case isData && strings.HasPrefix(lines[n], "\t//"):
			lines[n] = line + " " + lines[n][1:]
			if lines[n-1] == "" { // avo's, before the comment
				lines = append(lines[:n-1], lines[n])
			}
			joins = true
		default:
			lines = append(lines, line)
			joins = isData
		}
	}
	return strings.Join(factored(lines), "\n")
}

// Limits of macros: lines of the longest and the shortest, and bytes that one must save.
const longest, shortest, worth = 400, 4, 100

// factored returns lines in which macros stand for instructions that follow each other in several
// places. Jumps, parameters and comments belong to one place, so macros have none.
func factored(lines []string) []string {
	number := map[string]int{}
	var ids []byte // two for each line, alike for lines that a macro can have
	for i, line := range lines {
		n := i
		if first, ok := number[line]; ok && operands.MatchString(line) && !local.MatchString(line) {
			n = first
		} else {
			number[line] = i
		}
		ids = append(ids, byte(n), byte(n>>8))
	}
	var macros strings.Builder
	count, next := 0, len(lines)
	for size := longest; size >= shortest; size-- {
		places := map[string][]int{}
		var order []string
		recurring := recurring(ids)
		for i := range lines {
			if recurring[i] < size {
				continue
			}
			key := string(ids[2*i : 2*(i+size)])
			p := places[key]
			if p == nil {
				order = append(order, key)
			}
			if p == nil || p[len(p)-1]+size <= i {
				places[key] = append(p, i)
			}
		}
		calls := map[int]string{} // by place
		taken := make([]bool, len(lines))
		for _, key := range order {
			free := slices.DeleteFunc(places[key], func(i int) bool { return slices.Contains(taken[i:i+size], true) })
			if len(free) < 2 {
				continue
			}
			body := strings.Join(lines[free[0]:free[0]+size], "; \\\n")
			name := fmt.Sprintf("\tblock%d", count+1)
			if (len(free)-1)*len(body)-len(free)*len(name)-3*size-len(name) < worth {
				continue
			}
			count++
			fmt.Fprintf(&macros, "\n#define%s \\\n%s\n", strings.ReplaceAll(name, "\t", " "), body)
			for _, i := range free {
				calls[i] = name
				for j := range size {
					taken[i+j] = true
				}
			}
		}
		if len(calls) == 0 {
			continue
		}
		var kept []string
		var keptIDs []byte
		for i := 0; i < len(lines); i++ {
			if call, ok := calls[i]; ok {
				kept = append(kept, call)
				keptIDs = append(keptIDs, byte(next), byte(next>>8))
				next++
				i += size - 1
				continue
			}
			kept = append(kept, lines[i])
			keptIDs = append(keptIDs, ids[2*i:2*i+2]...)
		}
		lines, ids = kept, keptIDs
	}
	if count == 0 {
		return lines
	}
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "#include") }) + 1
	return slices.Insert(lines, at, "\n// Instructions that follow each other in several places."+strings.TrimSuffix(macros.String(), "\n"))
}

// recurring returns for each line how many lines from it on occur more than once.
func recurring(ids []byte) []int {
	times := map[[2]byte]int{}
	for i := 0; i < len(ids); i += 2 {
		times[[2]byte(ids[i:])]++
	}
	run := make([]int, len(ids)/2)
	for i := len(run) - 1; i >= 0; i-- {
		if times[[2]byte(ids[2*i:])] > 1 {
			run[i] = 1
			if i+1 < len(run) {
				run[i] += run[i+1]
			}
		}
	}
	return run
}
