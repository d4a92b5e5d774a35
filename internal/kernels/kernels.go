// Package kernels holds the GPU kernels: CUDA sources, and the PTX generated from them.
//
// Folders are named after the use of their kernels: exact (matrix products), rows (level 1 and 2,
// entrywise operations), newton (Newton's method), seed (approximate inverses), rns, ozaki and
// expansion (the packages of the same names), selftest (tests of package cuda); common has headers
// for all. Sources include only headers of their folder and of common (NVRTC has no system
// headers), and declare kernels extern "C". Files named *_sm90a.cu are compiled for Hopper GPUs
// only, the others for all GPUs from compute capability 8.0 on.
//
// # How to add a kernel
//
// Write it into a .cu file of the folder of its use, with a reference in Go, in
// internal/gpu/gputest or the tests of rns, ozaki and expansion; the fake driver runs the reference
// in the kernel's place. "go generate ./internal/kernels" compiles the files whose sources have
// changed into PTX, and packs it as ptx.pack, which is committed. A test compares the hashes of the
// sources with the hashes from which the archive was made. After "_ptx/pack.py unpack",
// "_ptx/ptx.py check" compiles everything anew, compares it and assembles it for every GPU.
//
// On Linux on amd64 with g++, the kernels of products, rows, Newton's method and seeds also run
// without a GPU: with HALFULP_EMULATE=all, or the names of sources, the tests of internal/gpu
// compile them for the host (internal/gpu/gputest/emulator), where the threads of a block take
// turns. "make gpu-pack" fills .bin/gpu. Copied to a machine with a GPU, its run.sh runs the tests,
// the conformance suite, compute-sanitizer and the benchmarks, and writes a record of them.
package kernels

import (
	"archive/zip"
	_ "embed"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ../gocuda/gen ../.. expansion
//go:generate _ptx/pack.py unpack
//go:generate _ptx/ptx.py generate
//go:generate _ptx/pack.py pack

// archive is the compressed PTX. The comment of an entry is the hash of the sources it was
// generated from.
//
//go:embed ptx.pack
var archive string

// files maps the names of sources to the sections of their PTX, which are unpacked at their first
// use.
var files = sync.OnceValue(func() map[string]func() []section {
	all := map[string]func() []section{}
	for _, f := range entries() {
		all[strings.TrimSuffix(f.Name, ".ptx")] = sync.OnceValue(func() []section { return sections(unpack(f)) })
	}
	return all
})

// entries returns the entries of the archive.
func entries() []*zip.File {
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("kernels: " + err.Error()) // the archive is part of the program
	}
	return z.File
}

// unpack returns the text of an entry.
func unpack(f *zip.File) string {
	var packed strings.Builder
	r, err := f.Open()
	if err == nil {
		_, err = io.Copy(&packed, r) // io.Copy checks its checksum
	}
	if err != nil {
		panic("kernels: " + f.Name + ": " + err.Error())
	}
	return expand(packed.String())
}

// expand returns the PTX that _ptx/pack.py has packed; the comment there describes the format.
func expand(packed string) string {
	head, rest, _ := strings.Cut(packed, "\n")
	var parts [3]string // text, codes of registers, numbers
	for i, field := range strings.Fields(head) {
		n := number(field)
		parts[i], rest = rest[:n], rest[n:]
	}
	text, codes, numbers, jumps := parts[0], parts[1], parts[2], rest
	line := func(list *string) (first string) {
		first, *list, _ = strings.Cut(*list, "\n")
		return first
	}
	var out strings.Builder
	out.Grow(2 * len(packed))
	kinds := map[string]*registers{}
	for text != "" {
		i := 0
		for c := text[0]; c != '\n' && c != '#' && c != '&'; c = text[i] {
			i++
		}
		out.WriteString(text[:i])
		mark := text[i]
		text = text[i+1:]
		switch mark {
		case '\n':
			out.WriteByte('\n')
			if strings.HasPrefix(text, ".visible") || strings.HasPrefix(text, ".weak") || strings.HasPrefix(text, ".entry") || strings.HasPrefix(text, ".func") {
				clear(kinds)
			}
		case '#':
			out.WriteString(line(&numbers))
		case '&':
			n := 0
			for 'a' <= text[n] && text[n] <= 'z' {
				n++
			}
			kind := text[:n]
			text = text[n:]
			r := kinds[kind]
			if r == nil {
				r = &registers{}
				kinds[kind] = r
			}
			code := int(codes[0])
			codes = codes[1:]
			if code == 255 {
				code = int(codes[0]) | int(codes[1])<<8
				codes = codes[2:]
			}
			switch code {
			case 0:
				r.add(r.following())
			case 1:
				r.add(r.top + number(line(&jumps)))
			default:
				r.take(code - 2)
			}
			out.WriteByte('%')
			out.WriteString(kind)
			out.WriteString(strconv.Itoa(r.order[0]))
		}
	}
	return out.String()
}

// number returns the number that a text is.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("kernels: " + err.Error()) // the archive is part of the program
	}
	return n
}

// registers are the registers of a kind that a kernel has used.
type registers struct {
	order []int  // from the last one used
	used  []bool // by number
	top   int    // the last new one
}

// following returns the first unused register after the last new one.
func (r *registers) following() int {
	n := r.top + 1
	for n < len(r.used) && r.used[n] {
		n++
	}
	return n
}

// add puts a new register first.
func (r *registers) add(n int) {
	if n >= len(r.used) {
		r.used = append(r.used, make([]bool, n+1-len(r.used))...)
	}
	r.used[n] = true
	r.top = n
	r.order = slices.Insert(r.order, 0, n)
}

// take puts the register at a place first.
func (r *registers) take(place int) {
	n := r.order[place]
	copy(r.order[1:place+1], r.order[:place])
	r.order[0] = n
}

// A section of PTX is a kernel, a function, a variable, or the text before all of them.
type section struct {
	kind string // entry, func, global, const, shared; "" for the text before
	name string
	text string
}

var (
	begins   = regexp.MustCompile(`^(?:\.(?:visible|weak|extern) )*\.(entry|func|global|const|shared)\b`)
	function = regexp.MustCompile(`\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)`)
	variable = regexp.MustCompile(`([A-Za-z_$][\w$]*)(?:\[\d*\])*\s*[=;]`)
)

// sections splits PTX before each kernel, function and variable. These begin with a line that
// begins with a dot, outside of braces: a body may have variables of its own.
func sections(ptx string) []section {
	list := []section{{}}
	begin, depth := 0, 0
	for at := 0; ; {
		i := strings.Index(ptx[at:], "\n.")
		if i < 0 {
			break
		}
		passed := ptx[at : at+i]
		depth += strings.Count(passed, "{") - strings.Count(passed, "}")
		at += i + 1
		if depth != 0 {
			continue
		}
		line, _, _ := strings.Cut(ptx[at:], "\n")
		m := begins.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := variable
		if m[1] == "entry" || m[1] == "func" {
			name = function
		}
		list[len(list)-1].text = ptx[begin:at]
		list = append(list, section{kind: m[1], name: name.FindStringSubmatch(line)[1]})
		begin = at
	}
	list[len(list)-1].text = ptx[begin:]
	return list
}

// find returns the sections of name.cu. It panics if there is no such file.
func find(name string) []section {
	f := files()[name]
	if f == nil {
		panic("kernels: no " + name + ".ptx")
	}
	return f()
}

// PTX returns the PTX of source name.cu, such as exact/scan. It panics if there is no such file.
func PTX(name string) []byte { return join(find(name)) }

func join(list []section) []byte {
	var text []byte
	for _, s := range list {
		text = append(text, s.text...)
	}
	return text
}

// words calls f for the names in PTX, including instructions and registers, but not for the
// contents of comments.
func words(ptx string, f func(string)) {
	for i := 0; i < len(ptx); {
		begin := i
		for i < len(ptx) && inWord[ptx[i]] {
			i++
		}
		switch {
		case i > begin:
			f(ptx[begin:i])
		case strings.HasPrefix(ptx[i:], "//"):
			line, _, _ := strings.Cut(ptx[i:], "\n")
			i += len(line)
		default:
			i++
		}
	}
}

var inWord = func() (in [256]bool) {
	for c := range in {
		in[c] = c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	return in
}()

// Entry returns the part of PTX(name) that kernel entry needs, without other kernels, so that a
// driver compiles nothing else. It panics if there is no such kernel.
func Entry(name, entry string) []byte {
	list := find(name)
	named := map[string][]int{} // a function may be declared first and defined later
	for i, s := range list {
		named[s.name] = append(named[s.name], i)
	}
	if i := named[entry]; i == nil || list[i[0]].kind != "entry" {
		panic("kernels: no kernel " + entry + " in " + name + ".ptx")
	}
	kept := make([]bool, len(list))
	var keep func(name string)
	keep = func(name string) {
		for _, i := range named[name] {
			if !kept[i] {
				kept[i] = true
				words(list[i].text, keep)
			}
		}
	}
	keep("")
	keep(entry)
	var parts []section
	for i, s := range list {
		if kept[i] {
			parts = append(parts, s)
		}
	}
	return join(parts)
}

// Files returns the names of all sources, folder/name, without .cu, sorted.
func Files() []string { return slices.Sorted(maps.Keys(files())) }
