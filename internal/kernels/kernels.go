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
// changed into PTX, and packs it as ptx.pack, which is committed. It also writes the headers of
// folder expansion that .gitignore names, from package expansion. A test compares the hashes of the
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
	"io/fs"
	"maps"
	"path"
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

// archive is the compressed PTX. The comment of _ptx/pack.py describes it.
//
//go:embed ptx.pack
var archive string

// A packedFile is a file of PTX in the archive.
type packedFile struct {
	name, digest string            // with a folder, such as exact/scan.ptx; the hash of its sources
	parts        map[string]string // by their names
}

// files maps the names of sources to the sections of their PTX, which are unpacked at their first
// use, with the others of their folder.
var files = sync.OnceValue(func() map[string]func() []section {
	all := map[string]func() []section{}
	for name, folder := range folders() {
		open := sync.OnceValue(func() []packedFile { return unpack(name, folder) })
		for i, f := range folder {
			all[strings.TrimSuffix(f.name, ".ptx")] = sync.OnceValue(func() []section { return sections(expand(open()[i].parts)) })
		}
	}
	return all
})

// lines returns the lines that occur more than once.
var lines = sync.OnceValue(func() []string { return strings.Split(read("lines"), "\n") })

// folders returns the files of each folder, as the index of the archive has them: the parts of a
// file are their lengths in decimal.
func folders() map[string][]packedFile {
	all := map[string][]packedFile{}
	for line := range strings.Lines(read("index")) {
		fields := strings.Fields(line)
		f := packedFile{name: fields[0], digest: fields[1], parts: map[string]string{}}
		for part := range slices.Chunk(fields[2:], 2) {
			f.parts[part[0]] = part[1]
		}
		folder := path.Dir(f.name)
		all[folder] = append(all[folder], f)
	}
	return all
}

// unpack returns the files of a folder with their parts.
func unpack(name string, index []packedFile) []packedFile {
	list := make([]packedFile, len(index))
	var kinds []string
	for i, f := range index {
		list[i] = packedFile{f.name, f.digest, map[string]string{}}
		kinds = slices.AppendSeq(kinds, maps.Keys(f.parts))
	}
	first := []string{"lines", "own", "#"}
	slices.Sort(kinds)
	kinds = slices.DeleteFunc(slices.Compact(kinds), func(kind string) bool { return slices.Contains(first, kind) })
	data := read(name)
	for _, kind := range slices.Concat(first, kinds) {
		for i, f := range index {
			if f.parts[kind] == "" {
				continue
			}
			n, err := strconv.Atoi(f.parts[kind])
			if err != nil {
				panic("kernels: " + err.Error()) // the archive is part of the program
			}
			list[i].parts[kind], data = data[:n], data[n:]
		}
	}
	return list
}

// read returns the content of an entry of the archive.
func read(entry string) string {
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	var content strings.Builder
	if err == nil {
		z.RegisterDecompressor(methodLZMA, lzmaReader)
		var r fs.File
		if r, err = z.Open(entry); err == nil {
			_, err = io.Copy(&content, r) // io.Copy checks its checksum
		}
	}
	if err != nil {
		panic("kernels: " + entry + ": " + err.Error()) // the archive is part of the program
	}
	return content.String()
}

// expand returns the PTX that _ptx/pack.py has packed; the comment there describes the format.
func expand(parts map[string]string) string {
	codes, own, numbers := parts["lines"], parts["own"], parts["#"]
	kinds := map[string]*names{}
	for kind, part := range parts {
		switch kind {
		case "lines", "own", "#":
		case label:
			kinds[kind] = &names{prefix: "$" + kind, codes: part}
		default:
			kinds[kind] = &names{prefix: "%" + kind, codes: part}
		}
	}
	shared := lines()
	next := func(list *string) (first string) {
		first, *list, _ = strings.Cut(*list, "\n")
		return first
	}
	var out []byte
	for codes != "" {
		var line string
		switch c := int(codes[0]); {
		case c == 0:
			line = next(&own)
		case c < 240:
			line = shared[c-1]
		default:
			codes = codes[1:]
			line = shared[239+(c-240)<<8+int(codes[0])]
		}
		codes = codes[1:]
		if strings.HasPrefix(line, ".visible") || strings.HasPrefix(line, ".weak") || strings.HasPrefix(line, ".entry") || strings.HasPrefix(line, ".func") {
			for kind, n := range kinds {
				n.order = n.order[:0]
				if kind != label {
					n.count = 0
				}
			}
		}
		for {
			i := strings.IndexAny(line, "#&")
			if i < 0 {
				break
			}
			out = append(out, line[:i]...)
			if line[i] == '#' {
				out = append(out, next(&numbers)...)
				line = line[i+1:]
				continue
			}
			line = line[i+1:]
			n := 1
			for n < len(line) && 'a' <= line[n] && line[n] <= 'z' {
				n++
			}
			k := kinds[line[:n]]
			line = line[n:]
			out = append(out, k.prefix...)
			out = strconv.AppendInt(out, int64(k.next()), 10)
		}
		out = append(out, line...)
		out = append(out, '\n')
	}
	return string(out)
}

// label is the kind of names that are labels. The other kinds are registers.
const label = "L"

// names are the registers of a kind, or the labels, of a kernel.
type names struct {
	prefix string // of their texts
	codes  string // not yet read
	order  []int  // those used, the last use first
	count  int    // the last new one
}

// next returns the number of the name that the next code means.
func (n *names) next() int {
	place := int(n.codes[0])
	n.codes = n.codes[1:]
	if place == 255 {
		place = int(n.codes[0]) | int(n.codes[1])<<8
		n.codes = n.codes[2:]
	}
	if place == 0 {
		n.count++
		n.order = slices.Insert(n.order, 0, n.count)
		return n.count
	}
	used := n.order[place-1]
	copy(n.order[1:place], n.order[:place-1])
	n.order[0] = used
	return used
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
