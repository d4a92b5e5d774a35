package sym

import (
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Solve computes the eigenvalues of A x = λ B x, or of A x = λ x for a B without an array.
type Solve func(a, b num.Mat, f num.Format, want Wanted) (Result, error)

// ByBlocks calls solve for each diagonal block of A and B, after the rows and columns that neither
// couples are sorted into blocks, and merges the results. Vectors are 0 outside of their block.
//
// Eigenvalues of different blocks that round to the same number are compared as numbers of 4p + 64
// bits, for a format of p bits. If these are equal too, the eigenvalues are not separated, and the
// block with the smaller first index comes first.
func ByBlocks(s *call.Run, a, b num.Mat, f num.Format, want Wanted, solve Solve) (Result, error) {
	blocks := Blocks(a, b)
	if len(blocks) < 2 {
		return solve(a, b, f, want)
	}
	parts := make([]part, len(blocks))
	total, done := 0.0, 0.0 // the time is proportional to the cubes of orders
	for _, rows := range blocks {
		total += call.Cube(len(rows)) // may fuse: an estimate
	}
	for k, rows := range blocks {
		q := part{rows: rows, a: modular.Chosen(a, rows, rows)}
		if b.Arr != nil {
			q.b = modular.Chosen(b, rows, rows)
		}
		q.want = want
		q.want.First, q.want.Last = 0, len(rows)-1
		lo := done / total
		done += call.Cube(len(rows)) // may fuse: an estimate
		end := Within(s, 0.99*lo, 0.99*done/total)
		var err error
		q.Result, err = solve(q.a, q.b, f, q.want)
		if end(); err != nil {
			return Result{}, err
		}
		parts[k] = q
	}
	defer Within(s, 0.99, 1)()
	return merge(parts, a.Rows, f, want, solve)
}

// part is a block with its spectrum.
type part struct {
	Result
	rows []int
	a, b num.Mat
	want Wanted
	fine num.Mat // the values in more bits, once they are needed
}

// item is eigenvalue at of a part.
type item struct {
	part  *part
	index int // of the part
	at    int
	value *big.Float
}

// merge sorts the eigenvalues of all parts and returns the wanted ones.
func merge(parts []part, n int, f num.Format, want Wanted, solve Solve) (Result, error) {
	var z Result
	var items []item
	for k := range parts {
		q := &parts[k]
		z.First += q.First
		for p := range q.Values.Rows {
			items = append(items, item{q, k, p, q.Values.Big(p, 0)})
		}
	}
	slices.SortStableFunc(items, func(x, y item) int { return x.value.Cmp(y.value) })
	joined := make([]bool, len(items)+1) // item i and i + 1 are not separated
	for first := 0; first < len(items); {
		last := first
		for last+1 < len(items) && items[last+1].value.Cmp(items[first].value) == 0 {
			last++
		}
		if err := refine(items[first:last+1], f, want, solve, joined[first:last+1]); err != nil {
			return Result{}, err
		}
		first = last + 1
	}
	// A cluster of a block may have values that differ, and values of other blocks between them.
	begin := map[*part]map[int]int{} // of a cluster of a part, by its last index
	for i, x := range items {
		for _, c := range x.part.Clusters {
			if x.at == c[0] {
				if begin[x.part] == nil {
					begin[x.part] = map[int]int{}
				}
				begin[x.part][c[1]] = i
			}
			if x.at == c[1] {
				for k := begin[x.part][c[1]]; k < i; k++ {
					joined[k] = true
				}
			}
		}
	}
	low, high := max(want.First-z.First, 0), min(want.Last-z.First, len(items)-1)
	z.First = max(z.First, want.First)
	k := max(high-low+1, 0)
	z.Values = num.NewMat(f, k, 1)
	if want.Vectors {
		z.Vectors = num.NewMat(f, n, k)
	}
	for j := range k {
		x := items[low+j]
		z.Values.Arr.CopyFrom(z.Values.At(j, 0), x.part.Values.Arr, x.part.Values.At(x.at, 0))
		if want.Vectors {
			for i, row := range x.part.rows {
				z.Vectors.Arr.CopyFrom(z.Vectors.At(row, j), x.part.Vectors.Arr, x.part.Vectors.At(i, x.at))
			}
		}
	}
	if want.Vectors {
		for j := 0; j < k; j++ {
			first := j
			for j+1 < k && joined[low+j] {
				j++
			}
			if j > first {
				z.Clusters = append(z.Clusters, [2]int{first, j})
			}
		}
	}
	return z, nil
}

// refine sorts eigenvalues that round to the same number, and reports which are not separated from
// the next one.
func refine(items []item, f num.Format, want Wanted, solve Solve, joined []bool) error {
	several := false
	for _, x := range items {
		several = several || x.part != items[0].part
	}
	if several && want.Vectors {
		for i := range items {
			q := items[i].part
			if q.fine.Arr == nil {
				w := q.want
				w.Vectors = false
				r, err := solve(q.a, q.b, call.MP(4*f.Bits()+64), w)
				if err != nil {
					return err
				}
				q.fine = r.Values
			}
			items[i].value = q.fine.Big(items[i].at, 0)
		}
		slices.SortStableFunc(items, func(x, y item) int {
			if c := x.value.Cmp(y.value); c != 0 {
				return c
			}
			return x.index - y.index
		})
	}
	for i := range len(items) - 1 {
		x, y := items[i], items[i+1]
		joined[i] = x.part != y.part && x.value.Cmp(y.value) == 0
		for _, c := range x.part.Clusters {
			joined[i] = joined[i] || x.part == y.part && c[0] <= x.at && y.at <= c[1]
		}
	}
	return nil
}

// Symmetric is ziv.Symmetric with the threads of s; errors call A by the name given.
func Symmetric(s *call.Run, name string, a num.Mat) error {
	var differ atomic.Bool
	if err := par.For(s.Ctx, s.Threads, (a.Cols+stripe-1)/stripe, func(_, part int) {
		first, to := part*stripe, min(a.Cols, (part+1)*stripe)
		for i := range to {
			for j := max(first, i+1); j < to; j++ {
				if !a.Arr.SameBits(a.At(i, j), a.Arr, a.At(j, i)) {
					differ.Store(true)
					return
				}
			}
		}
	}); err != nil || !differ.Load() {
		return err
	}
	return ziv.Symmetric(1, name, a)
}

// Blocks returns the indices of the blocks of symmetric matrices A and B, in ascending order, by
// their first index.
func Blocks(list ...num.Mat) [][]int {
	n := list[0].Rows
	root := call.All(n)
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	count := n // of blocks
	for _, m := range list {
		if m.Arr == nil {
			continue
		}
		for j := 0; j < n && count > 1; j++ {
			for i := j + 1; i < n; i++ {
				if m.Arr.Class(m.At(i, j)) == num.Zero {
					continue
				}
				if p, q := find(i), find(j); p != q {
					root[max(p, q)] = min(p, q)
					count--
				}
			}
		}
	}
	var z [][]int
	at := map[int]int{}
	for i := range n {
		r := find(i)
		k, ok := at[r]
		if !ok {
			k = len(z)
			at[r] = k
			z = append(z, nil)
		}
		z[k] = append(z[k], i)
	}
	return z
}
