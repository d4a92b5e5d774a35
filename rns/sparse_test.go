package rns

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// sparseFormats are all formats.
var sparseFormats = []SparseFormat{CSR, JAD, ELL, DIA}

// pattern is rows of columns of entries.
type pattern struct {
	name string
	cols int
	rows [][]int32
}

// patterns are matrices with rows of all lengths: rows that are empty, one that is full, columns
// that are not sorted, several entries in one place, diagonals.
func patterns(r *rand.Rand) []pattern {
	full := make([]int32, 40)
	for j := range full {
		full[j] = int32(j)
	}
	random := make([][]int32, 23)
	for i := range random {
		for range r.IntN(7) {
			random[i] = append(random[i], int32(r.IntN(9)))
		}
	}
	shuffled := slices.Clone(full)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	band := make([][]int32, 12)
	for i := range band {
		for _, d := range []int{-5, -1, 0, 1, 7} {
			if j := i + d; j >= 0 && j < 10 {
				band[i] = append(band[i], int32(j))
			}
		}
	}
	return []pattern{
		{"0 x 0", 0, nil},
		{"0 x 3", 3, nil},
		{"3 x 0", 0, make([][]int32, 3)},
		{"no entries", 2, make([][]int32, 3)},
		{"one", 1, [][]int32{{0}}},
		{"dense row", 40, [][]int32{{}, {3}, full, {39, 0}, {}}},
		{"dense row, shuffled", 40, [][]int32{shuffled, {7}, {}}},
		{"unsorted, twice", 9, random},
		{"band", 10, band},
	}
}

// csr returns the pattern with values from next.
func (p pattern) csr(t testing.TB, values *Vector) *Sparse {
	t.Helper()
	ptr, columns := p.indices()
	a, err := NewCSR(len(p.rows), p.cols, ptr, columns, values)
	must(t, err)
	return a
}

func (p pattern) indices() (ptr []int, columns []int32) {
	ptr = []int{0}
	for _, row := range p.rows {
		columns = append(columns, row...)
		ptr = append(ptr, len(columns))
	}
	return ptr, columns
}

// repeats reports whether a place has two entries.
func (p pattern) repeats() bool {
	for _, row := range p.rows {
		s := slices.Clone(row)
		slices.Sort(s)
		if len(slices.Compact(s)) < len(row) {
			return true
		}
	}
	return false
}

// threadSums is the sum of products of a row by so many threads, exactly as SpMV documents it; nil
// is an unused place.
func threadSums(b *Base, products []*Number, threads int) *Number {
	sums := make([]*Number, threads)
	for t := range sums {
		sums[t] = b.NewNumber()
		for e := t; e < len(products); e += threads {
			if products[e] != nil {
				sums[t] = add(sums[t], products[e])
			}
		}
	}
	for h := threads / 2; h > 0; h /= 2 {
		for t := range h {
			sums[t] = add(sums[t], sums[t+h])
		}
	}
	return sums[0]
}

// TestSpMVOrder compares products with the documented order of operations of SpMV.
func TestSpMVOrder(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 71)
		for _, f := range families(b, r) {
			for _, p := range patterns(r) {
				_, columns := p.indices()
				values := f.vector(b, r, len(columns))
				doubles := make([]float64, len(columns))
				for k := range doubles {
					doubles[k] = randomDouble(r)
				}
				a := p.csr(t, values)
				ptr, columns := p.indices()
				d, err := b.CSRFloat64(len(p.rows), p.cols, ptr, columns, doubles)
				must(t, err)
				x := f.vector(b, r, p.cols)
				checkOrder(t, fmt.Sprint(f.name, ", ", p.name), p, a, x, values.At)
				checkOrder(t, fmt.Sprint(f.name, ", ", p.name, ", float64"), p, d, x, func(k int) *Number {
					return b.NewNumber().SetFloat64(doubles[k])
				})
			}
		}
	}
}

// randomDouble returns a number of any size, now and then a special one.
func randomDouble(r *rand.Rand) float64 {
	switch r.IntN(12) {
	case 0:
		return 0
	case 1:
		return math.Copysign(math.SmallestNonzeroFloat64*float64(r.IntN(9)), -1)
	case 2:
		return math.MaxFloat64
	case 3, 4:
		return math.Float64frombits(r.Uint64() &^ (1 << 62))
	case 5:
		return float64(r.IntN(19) - 9)
	}
	return r.NormFloat64()
}

// checkOrder compares A x for a in CSR, and in the other formats, with its definition.
func checkOrder(t *testing.T, what string, p pattern, a *Sparse, x *Vector, value func(k int) *Number) {
	t.Helper()
	b := a.Base()
	for _, f := range sparseFormats {
		m, err := a.To(f)
		if err != nil {
			if f != DIA || !p.repeats() || !errors.Is(err, ErrSparse) {
				t.Fatalf("%s, %v: %v", what, f, err)
			}
			continue
		}
		if rows, cols := m.Dims(); rows != len(p.rows) || cols != p.cols || m.Format() != f || m.Float64() != a.Float64() || f != DIA && m.Entries() != a.Entries() {
			t.Fatalf("%s: %d x %d in %v with %d entries", what, rows, cols, m.Format(), m.Entries())
		}
		for _, threads := range []int{1, 2, 8, 32} {
			y := b.NewVector(len(p.rows))
			done(SpMV(m, x, y, &Options{RowThreads: threads, Options: halfulp.Options{Threads: threads%3 + 1}}))
			k := 0
			for i, row := range p.rows {
				products := make([]*Number, max(len(row), m.width))
				for e, j := range row {
					v := value(k)
					z := mul(v, x.At(int(j)))
					k++
					if f != DIA {
						products[e] = z
					} else if !v.IsZero() {
						at, _ := slices.BinarySearch(m.columns, j-int32(i))
						products[at] = z
					}
				}
				wantSame(t, fmt.Sprintf("%s, %v by %d threads, row %d", what, f, threads, i), y.At(i), threadSums(b, products, threads))
			}
		}
	}
}

// TestSparseConversions converts between all formats and back.
func TestSparseConversions(t *testing.T) {
	b := smallBase(t)
	r := newRand(t, 72)
	xs := significands(b, r, 20)
	for _, p := range patterns(r) {
		_, columns := p.indices()
		values := b.NewVector(len(columns))
		for k := range values.n {
			values.Set(k, nonzero(b, r, xs))
		}
		a := p.csr(t, values)
		x := randomVector(b, r, xs, p.cols)
		want := b.NewVector(a.rows)
		done(SpMV(a, x, want, nil))
		for _, f := range sparseFormats {
			if f == DIA && p.repeats() {
				continue
			}
			for _, g := range sparseFormats {
				if g == DIA && p.repeats() {
					continue
				}
				m, err := a.To(f)
				must(t, err)
				m, err = m.To(g)
				must(t, err)
				if f != DIA && g != DIA {
					y := b.NewVector(a.rows)
					done(SpMV(m, x, y, nil))
					if !y.Same(want) {
						t.Errorf("%s: %v, %v has another product", p.name, f, g)
					}
				}
				c, err := m.To(CSR)
				must(t, err)
				if f == DIA || g == DIA {
					sortRows(c)
				}
				if d := p.csr(t, values.Clone()); f == DIA || g == DIA {
					sortRows(d)
					wantSparse(t, fmt.Sprint(p.name, " ", f, " ", g), c, d)
				} else {
					wantSparse(t, fmt.Sprint(p.name, " ", f, " ", g), c, a)
				}
			}
		}
	}
}

// nonzero returns a number other than 0.
func nonzero(b *Base, r *rand.Rand, xs []*big.Int) *Number {
	for {
		if z := randomNumber(b, r, xs); !z.IsZero() {
			return z
		}
	}
}

// sortRows sorts the rows of a matrix in CSR by columns.
func sortRows(a *Sparse) {
	old := a.values.Clone()
	columns := slices.Clone(a.columns)
	for i := range a.rows {
		order := make([]int, a.length(i))
		for e := range order {
			order[e] = int(a.pointers[i]) + e
		}
		slices.SortStableFunc(order, func(k, l int) int { return int(columns[k]) - int(columns[l]) })
		for e, from := range order {
			a.columns[int(a.pointers[i])+e] = columns[from]
			a.values.Set(int(a.pointers[i])+e, old.At(from))
		}
	}
}

func wantSparse(t *testing.T, what string, a, want *Sparse) {
	t.Helper()
	if !slices.Equal(a.pointers, want.pointers) || !slices.Equal(a.columns, want.columns) || !a.values.Same(want.values) || !slices.Equal(a.doubles, want.doubles) {
		t.Errorf("%s: pointers %v, columns %v, want %v, %v, or other values", what, a.pointers, a.columns, want.pointers, want.columns)
	}
}

// TestSparseErrors: indices that describe no matrix are named.
func TestSparseErrors(t *testing.T) {
	b := smallBase(t)
	for _, c := range []struct {
		rows, cols int
		ptr        []int
		columns    []int32
		want       string
	}{
		{-1, 1, nil, nil, "-1 x 1"},
		{1, -1, []int{0, 0}, nil, "1 x -1"},
		{1, 1, []int{0}, nil, "1 row pointers for 1 rows, want 2"},
		{1, 1, []int{1, 1}, nil, "the first row pointer is 1, not 0"},
		{2, 1, []int{0, 1, 0}, nil, "row pointers decrease at row 1, from 1 to 0"},
		{1, 1, []int{0, 1}, nil, "1 entries by the row pointers, 0 columns, 0 values"},
		{1, 1, []int{0, 1}, []int32{-1}, "column -1 of entry 0 is not in [0, 1)"},
		{1, 2, []int{0, 2}, []int32{1, 2}, "column 2 of entry 1 is not in [0, 2)"},
	} {
		_, err := NewCSR(c.rows, c.cols, c.ptr, c.columns, b.NewVector(len(c.columns)))
		if !errors.Is(err, ErrSparse) || err.Error() != "rns: invalid sparse matrix: "+c.want {
			t.Errorf("NewCSR: %v, want %s", err, c.want)
		}
		if _, err := b.CSRFloat64(c.rows, c.cols, c.ptr, c.columns, make([]float64, len(c.columns))); !errors.Is(err, ErrSparse) {
			t.Errorf("CSRFloat64: %v, want %s", err, c.want)
		}
	}
	if large := int64(math.MaxInt32) + 1; math.MaxInt >= large {
		if _, err := NewCSR(1, int(large), []int{0, 0}, nil, b.NewVector(0)); !errors.Is(err, ErrSparse) {
			t.Errorf("%d columns: %v", large, err)
		}
	}
	one := halfulp.NewVectorFloat64(1, 1, []float64{1})
	for _, c := range []struct {
		row, column []int32
		want        string
	}{
		{[]int32{2}, []int32{0}, "row 2 of entry 0 is not in [0, 2)"},
		{[]int32{-1}, []int32{0}, "row -1 of entry 0 is not in [0, 2)"},
		{[]int32{0}, []int32{3}, "column 3 of entry 0 is not in [0, 3)"},
		{[]int32{0}, nil, "1 rows and 0 columns for 1 values"},
	} {
		if _, err := b.SparseOf(2, 3, c.row, c.column, one); !errors.Is(err, ErrSparse) || err.Error() != "rns: invalid sparse matrix: "+c.want {
			t.Errorf("SparseOf: %v, want %s", err, c.want)
		}
	}
	a, err := b.CSRFloat64(1, 1, []int{0, 2}, []int32{0, 0}, []float64{1, 2})
	must(t, err)
	if _, err := a.To(DIA); !errors.Is(err, ErrSparse) || err.Error() != "rns: invalid sparse matrix: two entries in row 0, column 0, of which DIA stores one" {
		t.Errorf("DIA of two entries: %v", err)
	}
	if _, err := a.To(DIA + 1); !errors.Is(err, ErrSparse) {
		t.Errorf("no format: %v", err)
	}
	// A dense row, and as many rows: 2^40 places.
	const n = 1 << 20
	ptr, columns := make([]int, n+1), make([]int32, n)
	for j := range columns {
		columns[j] = int32(j)
	}
	for i := range n {
		ptr[i+1] = n
	}
	wide, err := b.CSRFloat64(n, n, ptr, columns, make([]float64, n))
	must(t, err)
	if _, err := wide.To(ELL); !errors.Is(err, halfulp.ErrMemory) {
		t.Errorf("ELL of a dense row: %v", err)
	}
}

// TestSparseOf: coordinates in any order, some twice, as numbers and as doubles.
func TestSparseOf(t *testing.T) {
	b := smallBase(t)
	rows, cols := []int32{2, 0, 2, 0, 1, 2}, []int32{1, 3, 0, 3, 2, 1}
	want := [][]float64{{3 + 5}, {6}, {4, 1 + 8}}
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(30)} {
		v := halfulp.NewVector(f, 6)
		for k, x := range []float64{1, 3, 4, 5, 6, 8} {
			v.SetFloat64(k, x)
		}
		a, err := b.SparseOf(3, 4, rows, cols, v)
		must(t, err)
		if a.Float64() != (f == halfulp.Float64) || !slices.Equal(a.pointers, []int64{0, 2, 3, 6}) || !slices.Equal(a.columns, []int32{3, 3, 2, 0, 1, 1}) {
			t.Errorf("%v: pointers %v, columns %v", f, a.pointers, a.columns)
		}
		for j := range 4 {
			x, y := b.NewVector(4), b.NewVector(3)
			x.Set(j, b.NewNumber().SetInt64(1))
			done(SpMV(a, x, y, nil))
			for i, places := range [][]int{{3}, {2}, {0, 1}} {
				z := 0.0
				if k := slices.Index(places, j); k >= 0 {
					z = want[i][k]
				}
				if y.At(i).Float64() != z {
					t.Errorf("%v: entry (%d, %d) is %v, want %v", f, i, j, y.At(i), z)
				}
			}
		}
		d, err := a.Diagonal()
		must(t, err)
		if d.Len() != 3 || !d.At(0).IsZero() || !d.At(1).IsZero() || !d.At(2).IsZero() {
			t.Errorf("diagonal of %v", d.At(0))
		}
	}
}

// TestSpMVBound compares the error with the exact one, by math/big.
func TestSpMVBound(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 73)
		for _, p := range patterns(r) {
			ptr, columns := p.indices()
			doubles := make([]float64, len(columns))
			for k := range doubles {
				doubles[k] = math.Ldexp(r.NormFloat64(), r.IntN(60)-30)
			}
			a, err := b.CSRFloat64(len(p.rows), p.cols, ptr, columns, doubles)
			must(t, err)
			xs := significands(b, r, 20)
			x := b.NewVector(p.cols)
			for j := range p.cols {
				x.Set(j, number(b, xs[r.IntN(len(xs))], r.IntN(20)-10, r.IntN(2) == 0))
			}
			y := b.NewVector(len(p.rows))
			for _, threads := range []int{1, 4} {
				var bound Bound
				done(SpMV(a, x, y, &Options{RowThreads: threads, Bound: &bound}))
				again, err := SpMVBound(context.Background(), a, x, y)
				must(t, err)
				norm := new(big.Float).SetPrec(8000)
				for i, row := range p.rows {
					exact := new(big.Float).SetPrec(8000)
					for e, j := range row {
						u, err := x.At(int(j)).Big()
						must(t, err)
						exact.Add(exact, new(big.Float).SetPrec(8000).Mul(u, big.NewFloat(doubles[ptr[i]+e])))
					}
					v, err := y.At(i).Big()
					must(t, err)
					norm.Add(norm, exact.Abs(exact.Sub(exact, v)))
				}
				if bound != again || norm.Cmp(bound.Absolute.Big()) > 0 {
					t.Errorf("%s, %s: error %v, bounds %v, %v", b.testName(), p.name, norm.Text('g', 5), bound.Absolute, again.Absolute)
				}
				if !bound.Absolute.isInf() && bound.Absolute.Big().Cmp(big.NewFloat(1e15)) > 0 && b.prec > 150 {
					t.Errorf("%s, %s: bound %v", b.testName(), p.name, bound.Absolute)
				}
			}
		}
	}
}

// compareSparse compares products of sparse matrices, of numbers and of doubles in all formats, on
// a device with those on the CPU.
func compareSparse(t *testing.T, dev place.Place, b *Base, r *rand.Rand, f family, size int) {
	t.Helper()
	for _, p := range patterns(r) {
		if len(p.rows)*p.cols > size*size {
			continue
		}
		ptr, columns := p.indices()
		doubles := make([]float64, len(columns))
		for k := range doubles {
			doubles[k] = randomDouble(r)
		}
		d, err := b.CSRFloat64(len(p.rows), p.cols, ptr, columns, doubles)
		must(t, err)
		for _, a := range []*Sparse{p.csr(t, f.vector(b, r, len(columns))), d} {
			for _, format := range sparseFormats {
				if format == DIA && p.repeats() {
					continue
				}
				m, err := a.To(format)
				must(t, err)
				dm := m.onDevice(t, dev)
				for _, threads := range []int{1, 4} {
					x, y := f.vector(b, r, p.cols), f.vector(b, r, len(p.rows))
					dy := y.onDevice(t, dev)
					o := &Options{RowThreads: threads}
					done(SpMV(m, x, y, o))
					done(SpMV(dm, x.onDevice(t, dev), dy, o))
					wantArray(t, fmt.Sprintf("SpMV, %s, %v, float64 %v, %d threads a row", p.name, format, a.Float64(), threads), dy.arr, y.arr)
				}
			}
		}
	}
}

// onDevice is a on a device.
func (a *Sparse) onDevice(t testing.TB, dev place.Place) *Sparse {
	t.Helper()
	z := *a
	z.values, z.away = a.values.onDevice(t, dev), nil
	must(t, z.load())
	t.Cleanup(z.Free)
	return &z
}
