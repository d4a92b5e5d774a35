package grid

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// A patch is a set of numbers of an array: lines, all with the same structure, which begin at
// starts and consist of the numbers at runs relative to the start. Numbers are copied as bytes,
// slice by slice of the array; all processes of a job have the same byte order.
type patch struct {
	lanes  []lane
	starts []int
	runs   []run
}

// A lane is a slice of an array as bytes, width bytes for each number.
type lane struct {
	bytes []byte
	width int
}

// A run is n consecutive numbers, from at on.
type run struct{ at, n int }

// lanesOf returns the slices of an array.
func lanesOf(a *num.Array) (list []lane) {
	switch a.Kind {
	case num.F32:
		return []lane{{raw(a.F32), 4}}
	case num.MP:
		return []lane{{raw(a.Sig), 8 * a.Limbs()}, {raw(a.Exp), 4}, {raw(a.Cls), 1}}
	}
	for t := range a.Terms() {
		list = append(list, lane{raw(a.F64[t]), 8})
	}
	return list
}

// Memory returns the slices of an array of the host as bytes.
func Memory(a *num.Array) (list [][]byte) {
	for _, l := range lanesOf(a) {
		list = append(list, l.bytes)
	}
	return list
}

// raw returns the memory of a slice as bytes.
func raw[T any](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

// runsOf returns the places at(0), ..., at(n - 1) as runs.
func runsOf(n int, at func(i int) int) (list []run) {
	for i := range n {
		p := at(i)
		if last := len(list) - 1; last >= 0 && list[last].at+list[last].n == p {
			list[last].n++
		} else {
			list = append(list, run{p, 1})
		}
	}
	return list
}

// patchOf returns a patch of entries of a matrix of the host. Each line is in one column, or in one
// row if transposed.
func patchOf(m num.Mat, rows, cols []int, transposed bool) patch {
	if transposed {
		m, rows, cols = m.T(), cols, rows
	}
	p := patch{lanes: lanesOf(m.Arr), runs: runsOf(len(rows), func(i int) int { return m.RS * rows[i] })}
	for _, j := range cols {
		p.starts = append(p.starts, m.Off+m.CS*j)
	}
	return p
}

// patch returns a patch of entries of v that this process has. Each line is in one column of the
// stored matrix.
func (v view) patch(rows, cols []int) patch {
	if v.transposed {
		rows, cols = cols, rows
	}
	p := patch{lanes: lanesOf(v.s.local)}
	if len(rows) == 0 || len(cols) == 0 {
		return p
	}
	at := func(i, j int) int {
		if v.transposed {
			i, j = j, i
		}
		return v.position(i, j)
	}
	first := at(rows[0], cols[0])
	p.runs = runsOf(len(rows), func(i int) int { return at(rows[i], cols[0]) - first })
	for _, j := range cols {
		p.starts = append(p.starts, at(rows[0], j))
	}
	return p
}

// letter returns a message as a patch with the same numbers of lines and of numbers in a line as
// another patch. The message holds one lane after the other.
func letter(text []byte, f num.Format, like patch) patch {
	lines, n := len(like.starts), lengths(like.runs)
	p := patch{runs: []run{{0, n}}}
	for _, l := range lanesOf(&num.Array{Format: f}) {
		size := lines * n * l.width
		p.lanes = append(p.lanes, lane{text[:size], l.width})
		text = text[size:]
	}
	for k := range lines {
		p.starts = append(p.starts, k*n)
	}
	return p
}

// set copies the numbers of another patch with equal numbers of lines and of numbers in a line.
func (p patch) set(from patch) {
	if len(p.runs) == 0 || len(from.runs) == 0 {
		return
	}
	for l, to := range p.lanes {
		for k, start := range p.starts {
			copyLine(to, start, p.runs, from.lanes[l], from.starts[k], from.runs)
		}
	}
}

// copyLine copies the numbers at fromRuns of a lane to runs of another lane.
func copyLine(to lane, at int, runs []run, from lane, fromAt int, fromRuns []run) {
	w, i, j := to.width, 0, 0
	done, read := 0, 0 // numbers of runs i and j already copied
	for i < len(runs) && j < len(fromRuns) {
		a, b := runs[i], fromRuns[j]
		n := min(a.n-done, b.n-read)
		t, f := (at+a.at+done)*w, (fromAt+b.at+read)*w
		copy(to.bytes[t:t+n*w], from.bytes[f:f+n*w])
		if done += n; done == a.n {
			i, done = i+1, 0
		}
		if read += n; read == b.n {
			j, read = j+1, 0
		}
	}
}

// numbers returns the number of numbers of the patch.
func (p patch) numbers() int { return len(p.starts) * lengths(p.runs) }

func lengths(runs []run) (n int) {
	for _, r := range runs {
		n += r.n
	}
	return n
}

// oneByOne returns the place of the numbers of all patches, if they are consecutive in memory in
// this order.
func oneByOne(list []patch) (all run, ok bool) {
	for _, p := range list {
		piece, ok := p.together()
		switch {
		case !ok || all.n > 0 && piece.n > 0 && piece.at != all.at+all.n:
			return all, false
		case all.n == 0:
			all = piece
		default:
			all.n += piece.n
		}
	}
	return all, true
}

// together returns the place of the numbers of the patch, if they are consecutive in memory.
func (p patch) together() (all run, ok bool) {
	if p.numbers() == 0 {
		return all, true
	}
	if len(p.runs) > 1 {
		return all, false
	}
	n := p.runs[0].n
	for k, start := range p.starts {
		if start != p.starts[0]+k*n {
			return all, false
		}
	}
	return run{p.starts[0] + p.runs[0].at, n * len(p.starts)}, true
}
