package several

import (
	"math"
	"slices"
	"sort"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// thin is the ratio of the sides of a result from which on copies of the large factor are kept and
// the long side is cut. The value is a guess.
const thin = 16

// unfair is the largest accepted ratio of a GPU's work, on the entries that it stores, to its fair
// share. The value is a guess.
const unfair = 1.1

// leastBalanced is the order of results below which no entries are moved to balance the work.
var leastBalanced = 8 * tile

// blocks returns the part of C that each GPU computes: pieces with all rows or all columns.
func (m *multiplication) blocks(c place.Config) (list []piece, ok bool) {
	p, rows, cols := m.p, m.z.Rows, m.z.Cols
	if list, ok = p.pieces(m.z); !ok || len(list) == 0 {
		return list, ok
	}
	switch {
	case p.small(m.a, m.b, m.z): // the first GPU is quicker alone
		return list, true
	case c.Triangle == 0 && cols*thin <= rows:
		m.written, m.keep[0] = true, true
		return p.chunks(p.even(rows, 1), func(from, to int) piece { return piece{i0: from, i1: to, j1: cols} }), true
	case c.Triangle == 0 && rows*thin <= cols:
		m.written, m.keep[1] = true, true
		return p.chunks(p.even(cols, 1), func(from, to int) piece { return piece{i1: rows, j0: from, j1: to} }), true
	case min(rows, cols) >= leastBalanced && rows == list[0].i1-list[0].i0 && (c.Triangle == 0 || m.z.RS == 1):
		if shares := m.fairer(c, list); shares != nil {
			m.written = c.Triangle == 0
			return shares, true
		}
	}
	return list, true
}

// small reports whether the first GPU stores all of the matrices, which are small.
func (p *Place) small(list ...num.Mat) bool {
	return !slices.ContainsFunc(list, func(m num.Mat) bool {
		return max(m.Rows, m.Cols) >= AloneBelow.Products || !local(0, m) || storageOf(m.Arr).start[1] < storageOf(m.Arr).Len()
	})
}

// fairer returns columns for all GPUs that take about the same time, if that pays. It returns nil
// if the work on list, the columns of C that they store, is balanced, or if copying entries would
// take longer than balance saves.
func (m *multiplication) fairer(c place.Config, list []piece) []piece {
	count := len(m.p.parts)
	work := m.columnWork(c)
	most, all := m.heaviest(list, work)
	if most*float64(count) <= unfair*all {
		return nil
	}
	shares := m.p.chunks(fair(work, count, m.z.Cols), func(from, to int) piece { return piece{i1: m.z.Rows, j0: from, j1: to} })
	if !m.pays(c, most-all/float64(count), list, shares) {
		return nil
	}
	return shares
}

// On an H100 23 products of bytes of order 8192 take 15.4 ms (bench/records/h100-gemm.json.gz).
// Copying 256 MiB from one GPU to another takes 0.7 ms (panels.go), and copying within a GPU's
// memory about a third of that.
const byteRate = 8.2e14 // multiply-adds a second

var linkRate, copyRate = 3.8e11, 1.2e12 // bytes a second; variables for tests

// pays reports whether computing shares instead of list saves more time than it costs. sooner is
// the time saved, in the units of columnWork. The cost is copying columns of B and C between GPUs,
// and copying all results of these GPUs to the GPUs that store them; entries of C that keep old
// values are copied in both directions.
func (m *multiplication) pays(c place.Config, sooner float64, list, shares []piece) bool {
	gains := sooner * float64(m.z.Rows) * float64(m.z.Cols) / (samples * sampledRows) * (float64(2*m.z.Arr.Format.Bits())/7.5 + 4) / byteRate
	result := float64(int64(m.z.Rows) * num.SizeOf(m.z.Arr.Format)) // bytes of a column
	if c.Triangle != 0 {
		result *= 2
	}
	factor := float64(int64(m.b.Rows) * num.SizeOf(m.b.Arr.Format))
	most := 0.0 // longest time that a GPU waits
	for _, r := range shares {
		foreign := r.j1 - r.j0
		for _, q := range list {
			if q.d == r.d {
				foreign -= max(0, min(q.j1, r.j1)-max(q.j0, r.j0))
			}
		}
		if foreign > 0 {
			most = max(most, (result+factor)*float64(foreign)/linkRate+result*float64(r.j1-r.j0)/copyRate)
		}
	}
	return gains > most
}

// chunks returns the pieces between starts, one for each GPU, without empty ones.
func (p *Place) chunks(starts []int, of func(from, to int) piece) (list []piece) {
	for d := range p.parts {
		if starts[d] < starts[d+1] {
			q := of(starts[d], starts[d+1])
			q.d = d
			list = append(list, q)
		}
	}
	return list
}

// samples is the number of columns that represent all of a result, and sampledRows the number of
// rows in each.
const (
	samples     = 128
	sampledRows = 32
)

// finishing is the number of multiply-adds that take as long as the reconstruction of an entry: for
// a float64 product of order 8192 they take 15.4 and 1.6 ms in total on an H100
// (bench/records/h100-gemm.json.gz).
const finishing = 900

// columnWork returns the work of the sampled columns, in multiply-adds of the sampled rows.
func (m *multiplication) columnWork(c place.Config) []float64 {
	rows, cols, inner := float64(m.z.Rows), float64(m.z.Cols), float64(m.a.Cols)
	work := make([]float64, samples)
	for y := range work {
		j := (float64(y) + 0.5) / samples * cols
		for x := range sampledRows {
			i := (float64(x) + 0.5) / sampledRows * rows
			if c.Triangle == 'U' && i > j || c.Triangle == 'L' && i < j {
				continue
			}
			from, to := 0.0, inner
			switch c.Factors[0] {
			case 'L':
				to = min(to, i)
			case 'U':
				from = max(from, i)
			}
			switch c.Factors[1] {
			case 'L':
				from = max(from, j)
			case 'U':
				to = min(to, j)
			}
			work[y] += max(to-from, 0) + finishing
		}
	}
	return work
}

// heaviest returns the work of the GPU that has most, and the work of all GPUs.
func (m *multiplication) heaviest(list []piece, work []float64) (most, all float64) {
	each := make([]float64, len(m.p.parts))
	for y, w := range work {
		j := (2*y + 1) * m.z.Cols / (2 * samples)
		k := slices.IndexFunc(list, func(q piece) bool { return j < q.j1 })
		each[list[k].d] += w
		all += w
	}
	return slices.Max(each), all
}

// fair returns the first columns of count shares of n columns that take about the same work.
func fair(work []float64, count, n int) []int {
	all := 0.0
	for _, w := range work {
		all += w
	}
	starts, step, sum, y := make([]int, count+1), multiple(n, count), 0.0, 0
	for d := 1; d < count; d++ {
		// may fuse: no bit depends on the shares
		for want := all * float64(d) / float64(count); y < len(work) && sum+work[y]/2 < want; y++ {
			sum += work[y]
		}
		starts[d] = min((y*n/len(work)+step/2)/step*step, n)
	}
	starts[count] = n
	return starts
}

// convertRate is about the number of entries of factors that an H200 converts to residues in a
// second, in products for Cholesky factors of order 8192.
const convertRate = 7e10

// spread is about the number of bits that the integers of a factor have more than its numbers.
const spread = 26

// quickest returns the first columns of shares of C, computed from factors that GPUs copy from each
// other, and stored where C is, for which all GPUs take about the same time.
func (m *multiplication) quickest(c place.Config) []int {
	count, n := len(m.p.parts), m.z.Cols
	work := m.columnWork(c)
	starts, step := fair(work, count, n), multiple(n, count)
	sums := make([]float64, samples+1)
	for y, w := range work {
		sums[y+1] = sums[y] + w
	}
	for range count - 1 {
		for d := 1; d < count; d++ {
			lo, hi := starts[d-1], starts[d+1]
			times := func(k int) (before, behind float64) {
				cut := lo + step*k
				return m.seconds(c, sums, d-1, lo, cut), m.seconds(c, sums, d, cut, hi)
			}
			k := sort.Search((hi-lo)/step, func(k int) bool {
				before, behind := times(k)
				return before >= behind
			})
			if k > 0 { // the cut before may be the better one
				before, _ := times(k)
				if _, behind := times(k - 1); behind < before {
					k--
				}
			}
			starts[d] = lo + step*k
		}
	}
	return starts
}

// seconds estimates how long GPU d takes for columns from <= j < until of C, with the sums of the
// work of the sampled columns: it copies what others have of the factors while it converts what it
// has, multiplies, and stores results, some of them in the memory of others.
func (m *multiplication) seconds(c place.Config, sums []float64, d, from, until int) float64 {
	if from >= until {
		return 0
	}
	list := m.products(c, piece{d: d, i1: m.z.Rows, j0: from, j1: until})
	x := list[0]
	width := float64(m.a.Format().Bits() + m.b.Format().Bits() + 2*spread)
	if b := c.Bound; b != nil && b.Within > 0 {
		width = min(width, 2*float64(b.Within))
	}
	moduli := (width + math.Log2(float64(m.a.Cols))) / 7.5
	at := func(j int) float64 { // the work of the columns before
		y := float64(j) / float64(m.z.Cols) * samples
		k := min(int(y), samples-1)
		return sums[k] + (y-float64(k))*(sums[k+1]-sums[k]) // may fuse: an estimate
	}
	scale := float64(m.z.Rows) * float64(m.z.Cols) / (samples * sampledRows)
	z := (at(until) - at(from)) * scale * moduli / byteRate
	var here, elsewhere, bytes float64
	a, b := m.factorsOf(x)
	for side, blocks := range [][]place.Block{a, b} {
		size := float64(num.SizeOf([]num.Mat{m.a, m.b}[side].Arr.Format))
		for _, q := range blocks {
			entries := float64(q.M.Rows) * float64(q.M.Cols)
			if place.Of(q.M.Arr) == place.Place(m.p.parts[d]) {
				here += entries // may fuse: an estimate
			} else {
				elsewhere += entries    // may fuse: an estimate
				bytes += entries * size // may fuse: an estimate
			}
		}
	}
	z += max(here/convertRate, bytes/linkRate) + elsewhere/convertRate
	size := float64(num.SizeOf(m.z.Arr.Format))
	for _, q := range m.blocksOf(m.z, x.i0, x.i1, x.j0, x.j1) {
		if place.Of(q.M.Arr) == place.Place(m.p.parts[d]) {
			continue
		}
		entries := float64(q.M.Rows) * float64(q.M.Cols)
		z += entries * size / linkRate
	}
	return z
}
