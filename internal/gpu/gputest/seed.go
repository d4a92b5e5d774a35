package gputest

import (
	"math"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// SeedReference returns a fake device with the kernels of kernels/seed/seed.cu, partial.cu and
// spectral.cu in Go.
func SeedReference(t testing.TB, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("equilibrateTops", refEquilibrateTops)
	drv.Kernel("equilibrated", refEquilibrated)
	drv.Kernel("pivots", refPivots)
	drv.Kernel("narrowPivots", refNarrowPivots)
	drv.Kernel("stepFactors", refStepFactors)
	drv.Kernel("rightFactor", refRightFactor)
	drv.Kernel("stepUpdate", refRankUpdate)
	drv.Kernel("panelUpdate", refRankUpdate)
	drv.Kernel("nextPivots", refNextPivots)
	drv.Kernel("unscrambled", refUnscrambled)
	drv.Kernel("squaredFactors", refSquaredFactors)
	drv.Kernel("square", refSquare)
	drv.Kernel("triangularInverses", refTriangularInverses)
	drv.Kernel("pivotPanel", refPivotPanel)
	drv.Kernel("shortPivots", refShortPivots)
	SpectralReference(t, drv)
	return opened(t, drv)
}

func refEquilibrateTops(l *fake.Launch, q abi.Equilibration, columns int32) {
	a := matOf(l, q.A)
	rows, cols := fake.Slice[int64](l, q.Rows, a.Rows), fake.Slice[int64](l, q.Cols, a.Cols)
	for j := range a.Cols {
		for i := range a.Rows {
			if x, e := a.Arr.Leading(a.At(i, j)); x == 0 {
				continue
			} else if columns == 0 {
				rows[i] = max(rows[i], e)
			} else {
				cols[j] = max(cols[j], e-rows[i])
			}
		}
	}
}

func refEquilibrated(l *fake.Launch, q abi.Equilibration, g abi.Elimination) {
	const far = 1000
	a, n := matOf(l, q.A), int(g.N)
	rows, cols := fake.Slice[int64](l, q.Rows, a.Rows), fake.Slice[int64](l, q.Cols, a.Cols)
	f, status := fake.Slice[float64](l, g.F, n*int(l.Grid.Y)), fake.Slice[uint32](l, g.Status, 1)
	clear(f)
	for j := a.Cols; j < int(l.Grid.Y); j++ {
		f[a.Rows+j-a.Cols+j*n] = 1
	}
	for i := range n {
		fake.Slice[int32](l, g.Order, n)[i], fake.Slice[int32](l, g.Slot, n)[i] = int32(i), -1
	}
	for j := range a.Cols {
		for i := range a.Rows {
			x, e := a.Arr.Leading(a.At(i, j))
			e -= rows[i] + cols[j]
			if c, _, _ := a.Arr.Span(a.At(i, j)); c > num.Finite || x != 0 && e > far {
				status[0] |= abi.SeedNotFinite
				x = 0
			}
			if f[i+j*n] = 0; x != 0 && e >= -far {
				f[i+j*n] = math.Ldexp(x, int(e))
			}
		}
	}
}

// columnOf returns column j of F. A GPU may have only some of the columns.
func columnOf(l *fake.Launch, g abi.Elimination, j int) []float64 {
	return fake.Slice[float64](l, g.F+cuda.Pointer(8*j*int(g.N)), int(g.N))
}

// panelRows are the step's columns of some rows, by rows.
type panelRows struct {
	places []int32
	rows   [][]float64
}

// candidatesOf returns rows of the step's columns. They are taken from a list of places in the
// order, or are the rows behind the pivots so far.
func candidatesOf(l *fake.Launch, g abi.Elimination, from cuda.Pointer, begin, end int) panelRows {
	n := int(g.N)
	order := fake.Slice[int32](l, g.Order, n)
	var p panelRows
	for i := begin; i < end; i++ {
		place := g.First + int32(i)
		if from != 0 {
			place = fake.Slice[int32](l, from, end)[i]
		}
		row := make([]float64, abi.SeedBlock)
		for j := range row {
			row[j] = columnOf(l, g, int(g.First)+j)[order[place]]
		}
		p.places, p.rows = append(p.places, place), append(p.rows, row)
	}
	return p
}

// eliminate runs Gaussian elimination in place and returns which rows were pivots, in which it
// leaves the inverses of the triangles. It is not regular if a pivot was 0. Pivots may be given:
// row after row.
func (p *panelRows) eliminate(given bool) (pivots []int, regular bool) {
	regular = true
	for k := range abi.SeedBlock {
		pivot := -1
		for i, row := range p.rows {
			if !slices.Contains(pivots, i) && (pivot < 0 || math.Abs(row[k]) > math.Abs(p.rows[pivot][k])) {
				pivot = i
			}
		}
		if given {
			pivot = k
		}
		pivots = append(pivots, pivot)
		top, inverse := p.rows[pivot], 0.0
		if top[k] == 0 {
			regular = false
		} else {
			inverse = 1 / top[k]
		}
		for i, row := range p.rows {
			if i == pivot {
				continue
			}
			m, from := row[k]*inverse, 0
			if slices.Contains(pivots, i) {
				from = k
			}
			for j := from; j < len(row); j++ {
				row[j] -= float64(m * top[j])
			}
			row[k] = -m
		}
		for j := k + 1; j < len(top); j++ {
			top[j] *= inverse
		}
		top[k] = inverse
	}
	return pivots, regular
}

func refPivots(l *fake.Launch, g abi.Elimination, lists, counters, given cuda.Pointer) {
	from, count := given, int(g.N-g.First)
	if given != 0 {
		count = abi.SeedBlock
	}
	for nodes := int(l.Grid.X); nodes > 1; {
		for b := range nodes {
			p := candidatesOf(l, g, from, b*abi.SeedNode, min((b+1)*abi.SeedNode, count))
			pivots, _ := p.eliminate(false)
			for k, i := range pivots {
				fake.Slice[int32](l, lists, (b+1)*abi.SeedBlock)[b*abi.SeedBlock+k] = p.places[i]
			}
		}
		from, count = lists, nodes*abi.SeedBlock
		lists += cuda.Pointer(4 * count)
		nodes = (count + abi.SeedNode - 1) / abi.SeedNode
		for _, c := range fake.Slice[uint32](l, counters, nodes) {
			if c != 0 {
				panic("gputest: a counter is not 0")
			}
		}
		counters += cuda.Pointer(4 * nodes)
	}
	takePivots(l, g, candidatesOf(l, g, from, 0, min(count, abi.SeedNode)), given != 0)
}

func refNarrowPivots(l *fake.Launch, g abi.Elimination) {
	takePivots(l, g, candidatesOf(l, g, 0, 0, min(int(g.N-g.First), abi.SeedCandidates)), false)
}

// takePivots picks the pivots of a step among candidates, or takes the first ones if they are
// given.
func takePivots(l *fake.Launch, g abi.Elimination, p panelRows, given bool) {
	n := int(g.N)
	pivots, regular := p.eliminate(given)
	if !regular {
		fake.Slice[uint32](l, g.Status, 1)[0] |= abi.SeedSingular
	}
	order, slot := fake.Slice[int32](l, g.Order, n), fake.Slice[int32](l, g.Slot, n)
	width, before := int(g.Width), int(g.First-g.Panel)
	corner := fake.Slice[float64](l, g.Corner, width*width)
	upper := fake.Slice[float64](l, g.Upper, abi.SeedBlock*abi.SeedBlock)
	clear(upper)
	chosen := map[int32]bool{}
	var front []int32
	for k, i := range pivots {
		row := order[p.places[i]]
		slot[row] = g.First + int32(k)
		chosen[row] = true
		front = append(front, row)
		for j, x := range p.rows[i] {
			lower := 0.0
			switch {
			case j < k:
				lower = x
			case j == k:
				lower = 1
			}
			corner[before+k+(before+j)*width] = lower
			if j >= k {
				upper[k*abi.SeedBlock+j] = x
			}
		}
	}
	for _, row := range order[g.First:] {
		if !chosen[row] {
			front = append(front, row)
		}
	}
	copy(order[g.First:], front)
}

// rightRows computes rows of the right factor from the columns from begin on of F, as the steps
// before left it. has reports whether a column has a block of threads.
func rightRows(l *fake.Launch, g abi.Elimination, begin, end int, has func(j int) bool) {
	n, panel, width := int(g.N), int(g.Panel), int(g.Width)
	order := fake.Slice[int32](l, g.Order, n)
	corner, right := fake.Slice[float64](l, g.Corner, width*width), fake.Slice[float64](l, g.Right, width*n)
	for j := range int(g.Columns) {
		if !has(j) {
			continue
		}
		f := columnOf(l, g, j)
		for first := begin; first < end; first += abi.SeedBlock {
			var rows [abi.SeedBlock]float64
			for h := range rows {
				rows[h] = f[order[first+h]]
				if first <= j && j < first+abi.SeedBlock {
					rows[h] = 0
					if j == first+h {
						rows[h] = 1
					}
				}
				for m := begin; m < first; m++ {
					rows[h] += float64(corner[first-panel+h+(m-panel)*width] * right[(m-panel)*n+j])
				}
			}
			for h := range rows {
				sum := 0.0
				for m, x := range rows {
					sum += float64(corner[first-panel+h+(first-panel+m)*width] * x)
				}
				right[(first-panel+h)*n+j] = sum
			}
		}
	}
}

func refRightFactor(l *fake.Launch, g abi.Elimination, end, begin, skip, skipped int32) {
	count := int(l.Grid.X) * 16
	rightRows(l, g, int(g.Panel), int(end), func(j int) bool {
		if j >= int(skip+skipped) {
			j -= int(skipped)
		} else if j >= int(skip) {
			return false
		}
		return int(begin) <= j && j < int(begin)+count
	})
}

func refStepFactors(l *fake.Launch, g abi.Elimination, begin, end int32) {
	const k = abi.SeedBlock
	n, first, width, before := int(g.N), int(g.First), int(g.Width), int(g.First-g.Panel)
	if l.Grid.Y == 3 {
		ahead, order := fake.Slice[float64](l, g.Ahead, k*abi.SeedCandidates), fake.Slice[int32](l, g.Order, n)
		for e := range ahead {
			ahead[e] = columnOf(l, g, first+k+e/abi.SeedCandidates)[order[min(first+k+e%abi.SeedCandidates, n-1)]]
		}
	}
	rightRows(l, g, first, first+k, func(j int) bool { return int(begin) <= j && j < int(end) })
	slot := fake.Slice[int32](l, g.Slot, n)
	corner, upper := fake.Slice[float64](l, g.Corner, width*width), fake.Slice[float64](l, g.Upper, k*k)
	left := fake.Slice[float64](l, g.Left, width*n)
	var f [k][]float64
	for m := range f {
		f[m] = columnOf(l, g, first+m)
	}
	for i := range n {
		s := int(slot[i]) - first
		for h := range k {
			sum := 0.0
			for m := range k {
				sum -= float64(f[m][i] * upper[m*k+h])
			}
			if slot[i] < 0 && !(math.Abs(sum) <= abi.SeedMost) {
				fake.Slice[uint32](l, g.Status, 1)[0] |= abi.SeedGrowth
			}
			if 0 <= s && s < k {
				sum = upper[s*k+h]
			}
			left[(before+h)*n+i] = sum
		}
		for h := 0; h < before && 0 <= s && s < k; h++ {
			corner[before+s+h*width], left[h*n+i] = left[h*n+i], 0
		}
	}
}

func refRankUpdate(l *fake.Launch, g abi.Elimination, from, depth, begin, end, skip, skipped int32) {
	n, panel, width := int(g.N), int(g.Panel), int(g.Width)
	slot := fake.Slice[int32](l, g.Slot, n)
	left, right := fake.Slice[float64](l, g.Left, width*n), fake.Slice[float64](l, g.Right, width*n)
	of := func(i int) bool { return int(from) <= i && i < int(from+depth) }
	for j := int(begin); j < int(end); j++ {
		if int(skip) <= j && j < int(skip+skipped) {
			continue
		}
		f := columnOf(l, g, j)
		for i := range f {
			if of(int(slot[i])) || of(j) {
				f[i] = 0
			}
		}
		for h := int(from) - panel; h < int(from+depth)-panel; h++ {
			x := right[h*n+j]
			for i, y := range left[h*n:][:n] {
				f[i] += float64(y * x)
			}
		}
	}
}

func refUnscrambled(l *fake.Launch, g abi.Elimination, begin, n, j0, j1 int32, to cuda.Pointer, rs, cs int64) {
	order := int(g.N)
	rows := fake.Slice[int32](l, g.Order, order)
	for k := int(begin); k < int(begin)+int(l.Grid.Y); k++ {
		f, j := columnOf(l, g, k), int64(rows[k]-j0)
		for i := range int64(n) {
			if j < 0 || j >= int64(j1-j0) {
				break
			}
			x := f[rows[i]]
			if x-x != 0 {
				fake.Slice[uint32](l, g.Status, 1)[0] |= abi.SeedNotFinite
			}
			fake.Slice[float64](l, to+cuda.Pointer(8*(i*rs+j*cs)), 1)[0] = x
		}
	}
}

func refNextPivots(l *fake.Launch, g abi.Elimination, begin, end int32, t abi.Triangles) {
	const k = abi.SeedBlock
	n, first := int(g.N), int(g.First)
	left, right := fake.Slice[float64](l, g.Left, k*n), fake.Slice[float64](l, g.Right, k*n)
	order, candidates := fake.Slice[int32](l, g.Order, n), 0
	var ahead []float64
	if g.Ahead != 0 {
		ahead, candidates = fake.Slice[float64](l, g.Ahead, k*abi.SeedCandidates), min(n-first, abi.SeedCandidates)
	}
	var p panelRows
	for i := range candidates {
		row := make([]float64, k)
		for j := range row {
			row[j] = ahead[j*abi.SeedCandidates+i]
			for h := range k {
				row[j] += float64(left[h*n+int(order[first+i])] * right[h*n+first+j])
			}
		}
		p.places, p.rows = append(p.places, g.First+int32(i)), append(p.rows, row)
	}
	last := g
	last.First, last.Panel = g.First-k, g.Panel-k
	refRankUpdate(l, last, last.First, k, begin, end, end, 0)
	if t.N > 0 {
		storeTriangles(l, last, t, 1)
	}
	if g.Ahead != 0 {
		takePivots(l, g, p, false)
	}
}

func refTriangularInverses(l *fake.Launch, g abi.Elimination, t abi.Triangles) {
	storeTriangles(l, g, t, int(l.Grid.Z))
}

// storeTriangles stores what a panel of some steps makes of the inverses.
func storeTriangles(l *fake.Launch, g abi.Elimination, t abi.Triangles, steps int) {
	n := int(g.N)
	left, right := fake.Slice[float64](l, g.Left, int(g.Width)*n), fake.Slice[float64](l, g.Right, int(g.Width)*n)
	order, status := fake.Slice[int32](l, g.Order, n), &fake.Slice[uint32](l, g.Status, 1)[0]
	store := func(to cuda.Pointer, at int64, x float64) {
		if x-x != 0 {
			*status |= abi.SeedNotFinite
		}
		fake.Slice[float64](l, to+cuda.Pointer(8*at), 1)[0] = x
	}
	for h := range steps * abi.SeedBlock {
		k := int(g.Panel) + h
		for j := 0; j <= k && k < int(t.N); j++ {
			row := order[j]
			if row >= t.Rows {
				*status |= abi.SeedSingular
				continue
			}
			x := right[h*n+j]
			if j == k {
				x = 1
			}
			store(t.Lower, int64(k)*t.LowerRS+int64(j)*t.LowerCS, x)
			store(t.Upper, int64(j)*t.UpperRS+int64(k)*t.UpperCS, left[h*n+int(row)])
		}
	}
}
