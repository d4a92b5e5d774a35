package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
)

// numbersOf returns an array of one dimension of int32, int64 or another type, in the byte order
// that descr names.
func numbersOf(name, descr string, values any) Array {
	return shaped(name, descr, fmt.Sprintf("(%d,)", binary.Size(values)/max(int(descr[2]-'0'), 1)), values)
}

func shaped(name, descr, shape string, values any) Array {
	var order binary.ByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	var b bytes.Buffer
	if err := binary.Write(&b, order, values); err != nil {
		panic(err)
	}
	// By rows, in a header of the same length.
	head := bytes.Replace(header1(descr, shape), []byte("True"), []byte("False"), 1)
	head = append(bytes.TrimSuffix(head, []byte(" \n")), '\n')
	return Array{Name: name, Head: head, Parts: 1, Append: func(dst []byte, _ int) []byte { return append(dst, b.Bytes()...) }, Bytes: int64(b.Len())}
}

// scipy returns the file of a sparse matrix.
func scipy[T int | int64](t testing.TB, format string, rows, cols T, arrays ...Array) []byte {
	all := append([]Array{
		shaped("format", fmt.Sprintf("|S%d", len(format)), "()", []byte(format)), numbersOf("shape", "<i8", []int64{int64(rows), int64(cols)}),
	}, arrays...)
	return zipOf(t, all...)
}

// triple is an entry.
type triple struct {
	i, j int
	x    float64
}

// sparseFiles returns files of entries in all formats, by name.
func sparseFiles(t testing.TB, rows, cols int, entries []triple) map[string][]byte {
	files := map[string][]byte{}
	var data []float64
	var row, col []int32
	for _, e := range entries {
		data, row, col = append(data, e.x), append(row, int32(e.i)), append(col, int32(e.j))
	}
	files["coo"] = scipy(t, "coo", rows, cols, numbersOf("data", "<f8", data), numbersOf("row", "<i4", row), numbersOf("col", ">i4", col))
	files["coo coords"] = scipy(t, "coo", rows, cols, numbersOf("data", "<f8", data),
		shaped("coords", "<i4", fmt.Sprintf("(2, %d)", len(row)), append(slices.Clone(row), col...)))
	compressed := func(major int, key func(triple) (int, int)) (data []float64, indices, pointers []int64) {
		pointers = []int64{0}
		for k := range major {
			for _, e := range entries {
				if i, j := key(e); i == k {
					data, indices = append(data, e.x), append(indices, int64(j))
				}
			}
			pointers = append(pointers, int64(len(data)))
		}
		return data, indices, pointers
	}
	d, indices, pointers := compressed(rows, func(e triple) (int, int) { return e.i, e.j })
	// Numbers after those of the last row are ignored.
	files["csr"] = scipy(t, "csr", rows, cols, numbersOf("data", ">f8", append(d, 99)), numbersOf("indices", "<i8", append(indices, 77)), numbersOf("indptr", "<i8", pointers))
	d, indices, pointers = compressed(cols, func(e triple) (int, int) { return e.j, e.i })
	files["csc"] = scipy(t, "csc", rows, cols, numbersOf("data", "<f8", d), numbersOf("indices", ">i8", indices), numbersOf("indptr", "<i8", pointers))
	if rows%2 == 0 && cols%3 == 0 {
		// A block of its own for each entry, in both orders of numbers.
		d, indices, pointers = compressed(rows/2, func(e triple) (int, int) { return e.i / 2, e.j / 3 })
		n, k := len(d), 0
		c, f := make([]float64, 6*n), make([]float64, 6*n)
		for b := range rows / 2 {
			for _, e := range entries {
				if e.i/2 == b {
					c[6*k+e.i%2*3+e.j%3], f[k+n*(e.i%2+2*(e.j%3))] = e.x, e.x
					k++
				}
			}
		}
		shape := fmt.Sprintf("(%d, 2, 3)", n)
		files["bsr"] = scipy(t, "bsr", rows, cols, shaped("data", "<f8", shape, c), numbersOf("indices", "<i8", indices), numbersOf("indptr", "<i8", pointers))
		a := shaped("data", "<f8", shape, f)
		a.Head = bytes.Replace(a.Head, []byte("False"), []byte("True "), 1)
		files["bsr by columns"] = scipy(t, "bsr", rows, cols, a, numbersOf("indices", "<i8", indices), numbersOf("indptr", "<i8", pointers))
	}
	return files
}

// TestSparse reads files of sparse matrices in all formats, as dense matrices and as entries.
func TestSparse(t *testing.T) {
	r := testseed.Rand(t, 3, 3)
	for _, shape := range [][2]int{{1, 1}, {4, 6}, {6, 3}, {40, 30}, {5, 7}, {0, 3}, {2, 0}} {
		rows, cols := shape[0], shape[1]
		var entries []triple
		places := map[[2]int][]float64{}
		for range min(rows*cols, 200) {
			e := triple{r.IntN(rows), r.IntN(cols), math.Ldexp(float64(r.IntN(1000)-500), r.IntN(200)-100)}
			if r.IntN(8) == 0 {
				e.x = 0
			}
			entries = append(entries, e)
			places[[2]int{e.i, e.j}] = append(places[[2]int{e.i, e.j}], e.x)
		}
		want := halfulp.NewMatrix(halfulp.Float64, rows, cols)
		for p, x := range places {
			s, err := halfulp.Sum(halfulp.NewVectorFloat64(len(x), 1, x), halfulp.Float64, nil)
			if err != nil {
				t.Fatal(err)
			}
			want.Set(p[0], p[1], s)
		}
		for name, file := range sparseFiles(t, rows, cols, entries) {
			m, err := ParseZip(file, "a.npz", options(t, halfulp.InputFormat{}, 1<<20, nil))
			if err != nil || !m.Same(want) {
				t.Errorf("%v %s: %v,\n%v, want\n%v", shape, name, err, m, want)
			}
			a, err := ParseSparse(file, "a.npz", options(t, halfulp.InputFormat{}, 1<<20, nil))
			if err != nil {
				t.Errorf("%v %s: %v", shape, name, err)
				continue
			}
			if !dense(t, a).Same(want) {
				t.Errorf("%v %s: entries of\n%v, want\n%v", shape, name, dense(t, a), want)
			}
			if !strings.HasPrefix(name, "bsr") && a.Values.Len() != len(places) {
				t.Errorf("%v %s: %d entries, want %d", shape, name, a.Values.Len(), len(places))
			}
			if _, err := OpenZipParts(bytes.NewReader(file), int64(len(file)), halfulp.InputFormat{}, ""); !errors.Is(err, textio.ErrWhole) {
				t.Errorf("%v %s in parts: %v", shape, name, err)
			}
		}
	}
}

// dense returns the matrix of entries, which must be ordered by rows and within a row by columns,
// with no place twice.
func dense(t testing.TB, a *matrixmarket.Sparse) *halfulp.Matrix {
	t.Helper()
	m := halfulp.NewMatrix(a.Values.NumberFormat(), a.Rows, a.Cols)
	for k := range a.Row {
		if k > 0 && (a.Row[k] < a.Row[k-1] || a.Row[k] == a.Row[k-1] && a.Col[k] <= a.Col[k-1]) {
			t.Errorf("entry (%d, %d) after (%d, %d)", a.Row[k], a.Col[k], a.Row[k-1], a.Col[k-1])
		}
		m.Set(int(a.Row[k]), int(a.Col[k]), a.Values.At(k))
	}
	return m
}

// TestSparseDiagonals reads diagonals that extend beyond the matrix on all sides.
func TestSparseDiagonals(t *testing.T) {
	for _, shape := range [][2]int{{4, 6}, {6, 4}, {1, 5}, {5, 1}, {3, 3}} {
		rows, cols := shape[0], shape[1]
		for _, length := range []int{1, 3, 5, 9} {
			offsets := []int64{0, -2, 1, 5, -9, 3, 9, -1, math.MinInt64, math.MaxInt64}
			data := make([]float64, len(offsets)*length)
			want := halfulp.NewMatrix(halfulp.Float64, rows, cols)
			stored := 0
			for k := range data {
				data[k] = float64(k) + 0.5
				j := k % length
				if o := offsets[k/length]; o > -10 && o < 10 {
					if i := j - int(o); i >= 0 && i < rows && j < cols {
						want.SetFloat64(i, j, data[k])
						stored++
					}
				}
			}
			file := scipy(t, "dia", rows, cols, shaped("data", "<f8", fmt.Sprintf("(%d, %d)", len(offsets), length), data), numbersOf("offsets", "<i8", offsets))
			m, err := ParseZip(file, "a.npz", options(t, halfulp.InputFormat{}, 1<<20, nil))
			if err != nil || !m.Same(want) {
				t.Errorf("%v, length %d: %v,\n%v, want\n%v", shape, length, err, m, want)
			}
			if a, err := ParseSparse(file, "a.npz", options(t, halfulp.InputFormat{}, 1<<20, nil)); err != nil || a.Values.Len() != stored || !dense(t, a).Same(want) {
				t.Errorf("%v, length %d: %v", shape, length, err)
			}
		}
	}
}

// TestSparseSums checks that numbers of one place are added exactly, in their own format or another
// one.
func TestSparseSums(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		descr  string
		values any
		in     halfulp.InputFormat
		want   string
	}{
		{"<f8", []float64{1e16, 1, -1e16}, halfulp.InputFormat{}, "1"},
		{"<f8", []float64{1, 0x1p-53, 0x1p-300}, halfulp.InputFormat{}, "1.0000000000000002"},
		{"<f8", []float64{1, 0x1p-60}, halfulp.Exactly(halfulp.MP(61)), "1.000000000000000001"},
		{"<f8", []float64{math.MaxFloat64, math.MaxFloat64}, halfulp.InputFormat{}, "inf"},
		{"<f8", []float64{math.MaxFloat64, 5e-324, -math.MaxFloat64}, halfulp.InputFormat{}, "5e-324"},
		{"<f8", []float64{inf, 1, -inf}, halfulp.InputFormat{}, "nan"},
		{"<f8", []float64{-inf, 1}, halfulp.InputFormat{}, "-inf"},
		{"<f8", []float64{nan, 1}, halfulp.InputFormat{}, "nan"},
		{"<f8", []float64{0, math.Copysign(0, -1)}, halfulp.InputFormat{}, "0"},
		{"<f8", []float64{math.Copysign(0, -1), math.Copysign(0, -1)}, halfulp.InputFormat{}, "-0"},
		{"<f8", []float64{math.Copysign(0, -1), 3, 0}, halfulp.InputFormat{}, "3"},
		{"<f8", []float64{3, -3}, halfulp.InputFormat{}, "0"},
		{"<f4", []float32{0.5, 0x1p-25, 0x1p-25}, halfulp.InputFormat{}, "0.50000006"},
		{"<i8", []int64{math.MaxInt64, math.MaxInt64, 1}, halfulp.InputFormat{}, "18446744073709551615"},
		{"<i8", []int64{math.MinInt64, math.MinInt64, -1}, halfulp.InputFormat{}, "-18446744073709551617"},
		{"<i8", []int64{1 << 53, 1}, halfulp.InputFormat{}, "9007199254740993"},
		{"<u8", []uint64{math.MaxUint64, math.MaxUint64}, halfulp.InputFormat{}, "36893488147419103230"},
		{"<i1", []int8{100, 100, -1}, halfulp.InputFormat{}, "199"},
		{"|b1", []uint8{1, 1, 0}, halfulp.InputFormat{}, "1"},
		{"|b1", []uint8{0, 0}, halfulp.InputFormat{}, "0"},
	} {
		n := binary.Size(c.values) / int(c.descr[2]-'0')
		file := scipy(t, "coo", 2, 3, numbersOf("data", c.descr, c.values), numbersOf("row", "<i8", make([]int64, n)), numbersOf("col", "<i8", slices.Repeat([]int64{2}, n)))
		m, err := ParseZip(file, "a.npz", options(t, c.in, 1<<20, nil))
		a, err2 := ParseSparse(file, "a.npz", options(t, c.in, 1<<20, nil))
		if err != nil || err2 != nil || m.At(0, 2).String() != c.want || a.Values.Len() != 1 || a.Values.At(0).String() != c.want {
			t.Errorf("%s %v: %v, %v, %v, %+v, want %s", c.descr, c.values, err, err2, m, a, c.want)
		}
	}
	// A loss by the range of the format counts once.
	var stats halfulp.InputStats
	file := scipy(t, "coo", 1, 2, numbersOf("data", "<f8", []float64{1e38, 3e38, 1}), numbersOf("row", "<i8", make([]int64, 3)), numbersOf("col", "<i8", []int64{0, 0, 1}))
	if _, err := ParseZip(file, "a", options(t, halfulp.Exactly(halfulp.Float32), 1<<20, &stats)); err != nil || stats.ToInf.Count != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestSparseErrors(t *testing.T) {
	data := numbersOf("data", "<f8", []float64{1, 2})
	index := func(name string, x ...int64) Array { return numbersOf(name, "<i8", x) }
	named := func(name string, a Array) Array { a.Name = name; return a }
	for k, c := range []struct {
		file []byte
		want string
	}{
		{scipy(t, "csr", 2, 2, data, index("indices", 0, 2), index("indptr", 0, 1, 2)), `array "indices": index 2, at place 1, is not from 0 to 1`},
		{scipy(t, "csr", 2, 2, data, index("indices", 0, -1), index("indptr", 0, 1, 2)), `array "indices": index -1, at place 1`},
		{scipy(t, "csc", 3, 2, data, index("indices", 2, 3), index("indptr", 0, 1, 2)), "index 3, at place 1, is not from 0 to 2"},
		{scipy(t, "csr", 2, 2, data, index("indices", 0, 1), index("indptr", 0, 2)), "its length is 2, not 3"},
		{scipy(t, "csr", 2, 2, data, index("indices", 0, 1), index("indptr", 1, 1, 2)), "number 1, at place 0, does not rise from 0"},
		{scipy(t, "csr", 2, 2, data, index("indices", 0, 1), index("indptr", 0, 2, 1)), "number 1, at place 2, does not rise"},
		{scipy(t, "csr", 2, 2, data, index("indices", 0, 1), index("indptr", 0, 1, 3)), "number 3, at place 2, does not rise"},
		{scipy(t, "csr", 2, 2, data, index("indices", 0, 1, 1), index("indptr", 0, 1, 3)), `array "data": its length is 2, there are 3 indices`},
		{scipy(t, "csr", 2, 2, data, index("indices", 0, 1)), `no array "indptr"`},
		{scipy(t, "csr", 2, 2, data, index("indptr", 0, 1, 2)), `no array "indices"`},
		{scipy(t, "csr", 2, 2, index("indices", 0, 1), index("indptr", 0, 1, 2)), `no array "data"`},
		{scipy(t, "csr", 2, 2, data, named("indices", data), index("indptr", 0, 1, 2)), `array "indices": it does not hold integers`},
		{scipy(t, "csr", 2, 2, shaped("data", "<f8", "(2, 1)", []float64{1, 2}), index("indices", 0, 1), index("indptr", 0, 1, 2)), `array "data": it has not one dimension`},
		{scipy(t, "csr", 2, 2, shaped("data", "<c16", "(1,)", []float64{1, 2}), index("indices", 0), index("indptr", 0, 1, 1)), "complex"},
		{scipy(t, "coo", 2, 2, data, index("row", 0, 2), index("col", 0, 1)), `array "row": index 2, at place 1`},
		{scipy(t, "coo", 2, 2, data, index("row", 0, 1), index("col", -5, 1)), `array "col": index -5, at place 0`},
		{scipy(t, "coo", 2, 2, data, index("row", 0), index("col", 0, 1)), `array "row": its length is 1, that of the data 2`},
		{scipy(t, "coo", 2, 2, data, numbersOf("row", "<u8", []uint64{0, math.MaxUint64}), index("col", 0, 1)), `array "row": index 9223372036854775807`},
		{scipy(t, "coo", 2, 2, data, index("coords", 0, 1, 1, 1)), `array "coords"`},
		{scipy(t, "coo", 0, 2, data, index("row", 0, 0), index("col", 0, 1)), `array "row": index 0`},
		{scipy(t, "bsr", 2, 2, data, index("indices", 0, 1), index("indptr", 0, 1, 2)), "is none of blocks"},
		{scipy(t, "bsr", 3, 2, shaped("data", "<f8", "(1, 2, 1)", []float64{1, 2}), index("indices", 0), index("indptr", 0, 1)), "blocks of 2 x 1 do not make a 3 x 2 matrix"},
		{scipy(t, "bsr", 2, 2, shaped("data", "<f8", "(1, 2, 1)", []float64{1, 2}), index("indices", 2), index("indptr", 0, 1)), "index 2, at place 0, is not from 0 to 1"},
		{scipy(t, "bsr", 2, 2, shaped("data", "<f8", "(1, 2, 1)", []float64{1, 2}), index("indices", 0, 1), index("indptr", 0, 2)), "it has 1 blocks, there are 2 indices"},
		{scipy(t, "bsr", 2, 2, shaped("data", "<f8", "(9000000000000000000, 2, 1)", []float64{1, 2}), index("indices", 0), index("indptr", 0, 1)), "ends early"},
		{scipy(t, "dia", 2, 2, shaped("data", "<f8", "(2, 1)", []float64{1, 2}), index("offsets", 0, 0)), "diagonal 0 occurs twice"},
		{scipy(t, "dia", 2, 2, shaped("data", "<f8", "(2, 1)", []float64{1, 2}), index("offsets", 0)), "its length is 1, there are 2 diagonals"},
		{scipy(t, "dia", 2, 2, data, index("offsets", 0, 1)), "it has not two dimensions"},
		{scipy(t, "dia", 2, -2, data, index("offsets", 0, 1)), "too large, or none"},
		{scipy[int64](t, "csr", 1, 1<<31, data, index("indices", 0, 1), index("indptr", 0, 2)), "too large, or none"},
		{scipy(t, "lil", 2, 2, data), `is no name`},
		{zipOf(t, shaped("format", "|S3", "()", []byte("csr")), index("shape", 1, 2, 3), data), "the sparse array has 3 dimensions"},
		{zipOf(t, shaped("format", "|S3", "()", []byte("csr")), data), `no array "shape"`},
	} {
		for _, limit := range []int64{1 << 20} {
			_, err := ParseZip(c.file, "a.npz", options(t, halfulp.InputFormat{}, limit, nil))
			_, err2 := ParseSparse(c.file, "a.npz", options(t, halfulp.InputFormat{}, limit, nil))
			if err == nil || !strings.HasPrefix(err.Error(), "a.npz: ") || !strings.Contains(err.Error(), c.want) || err2 == nil || err2.Error() != err.Error() {
				t.Errorf("%d: %v, as entries %v, want %s", k, err, err2, c.want)
			}
		}
	}
	// The dense matrix is too large, its entries are not; then they are.
	n := int64(math.MaxInt32)
	huge := scipy(t, "coo", int(n), int(n), data, index("row", 0, n-1), index("col", n-1, 0))
	if _, err := ParseZip(huge, "a", options(t, halfulp.InputFormat{}, 1<<20, nil)); err == nil || !strings.Contains(err.Error(), "more than the memory limit") {
		t.Error(err)
	}
	if a, err := ParseSparse(huge, "a", options(t, halfulp.InputFormat{}, 1<<20, nil)); err != nil || a.Row[1] != int32(n-1) || a.Col[0] != int32(n-1) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := ParseSparse(huge, "a", options(t, halfulp.InputFormat{}, 40, nil)); err == nil || !strings.Contains(err.Error(), "more than the memory limit") {
		t.Error(err)
	}
}
