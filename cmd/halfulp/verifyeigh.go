package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/linsolve"
)

// referenceBits are how many bits more than the format the eigenvalues and eigenvectors have that
// results are compared with, so errors are known to about 2^-referenceBits ulps.
const referenceBits = 64

// spectrumAccuracy is the accuracy of eigenvalues or of entries of eigenvectors.
type spectrumAccuracy struct {
	linsolve.Accuracy
	// of the entries that are not correctly rounded; 0 if all are
	Median        string `json:"median_error_ulps"`
	LargestInUlps string `json:"largest_error_ulps"`
}

// verifyEighResult is the JSON of verify eigh.
type verifyEighResult struct {
	Command  string            `json:"command"`
	Format   string            `json:"format"`
	Values   spectrumAccuracy  `json:"w"`
	Vectors  *spectrumAccuracy `json:"V,omitempty"`
	Clusters [][2]int          `json:"clusters,omitempty"` // whose vectors are not compared
	Stats    *runStats         `json:"stats"`
}

// eigh compares eigenvalues, and eigenvectors if there are any, with correctly rounded ones.
func (c *verifyCmd) eigh(j *job) error {
	a, err := j.symmetricMatrix(c.A, c.Uplo)
	if err != nil {
		return err
	}
	n := a.Rows()
	w, err := j.matrix(c.B)
	if err != nil {
		return err
	}
	if w, err = shaped(c.B, w.Convert(j.format), n, 1); err != nil {
		return err
	}
	var v *halfulp.Matrix
	if c.X != "" {
		if v, err = j.matrix(c.X); err != nil {
			return err
		}
		if v, err = shaped(c.X, v.Convert(j.format), n, n); err != nil {
			return err
		}
	}
	order := ascending(w)
	if !slices.IsSorted(order) && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: %s: the eigenvalues are not in ascending order, and are compared in this order\n", shown(c.B))
	}
	w = columnsOf(w.T(), order).T()
	find := func(f halfulp.Format) (*eigen.SymResult, error) {
		return solved(j, c.A, func(how *halfulp.Options) (*eigen.SymResult, error) {
			return eigen.Sym(a, f, &eigen.SymOptions{Options: *how, ValuesOnly: v == nil})
		})
	}
	z, err := find(halfulp.MP(uint(j.format.Bits() + referenceBits)))
	if err != nil {
		return err
	}
	stats := j.solver
	j.warnUndecided()
	var exact *eigen.SymResult // in the format itself, where it is needed
	inFormat := func(pick func(*eigen.SymResult) halfulp.Scalar) (halfulp.Scalar, error) {
		if exact == nil {
			if exact, err = find(j.format); err != nil {
				return halfulp.Scalar{}, err
			}
		}
		return pick(exact), nil
	}
	r := verifyEighResult{Command: "verify", Format: j.format.String(), Clusters: z.Clusters}
	values := &errorsOf{format: j.format}
	for i := range n {
		err := values.add(i, 0, w.At(i, 0), z.Values.At(i), func() (halfulp.Scalar, error) {
			return inFormat(func(e *eigen.SymResult) halfulp.Scalar { return e.Values.At(i) })
		})
		if err != nil {
			return err
		}
	}
	r.Values = values.accuracy()
	wrong, entries := r.Values.Wrong, n
	if v != nil {
		v = columnsOf(v, order)
		alike := make([]bool, n) // of a cluster
		for _, c := range z.Clusters {
			for k := c[0]; k <= c[1]; k++ {
				alike[k] = true
			}
		}
		vectors := &errorsOf{format: j.format}
		for k := range n {
			if alike[k] {
				continue
			}
			opposite := dot(v.Col(k), z.Vectors.Col(k)) < 0
			for i := range n {
				x := v.At(i, k)
				if opposite {
					x = x.Neg()
				}
				err := vectors.add(i, k, x, z.Vectors.At(i, k), func() (halfulp.Scalar, error) {
					return inFormat(func(e *eigen.SymResult) halfulp.Scalar { return e.Vectors.At(i, k) })
				})
				if err != nil {
					return err
				}
			}
		}
		accuracy := vectors.accuracy()
		r.Vectors = &accuracy
		wrong, entries = wrong+accuracy.Wrong, entries+accuracy.Entries
	}
	j.solver = stats
	j.report(stats)
	if c.JSON {
		r.Stats = j.resultStats(stats)
		err = j.writeText(jsonText(r))
	} else {
		s := r.Values.table("eigenvalues", j.format, "index %[1]d")
		if r.Vectors != nil {
			s += r.Vectors.table("entries of eigenvectors", j.format, "row %d, column %d")
		}
		for _, c := range r.Clusters {
			s += fmt.Sprintf("vectors not compared, of a cluster\t%s\n", positions(c[0], c[1]))
		}
		err = j.writeTable(s)
	}
	if err != nil || wrong == 0 {
		return err
	}
	is := "are"
	if wrong == 1 {
		is = "is"
	}
	return fmt.Errorf("%d of %s %s wrong", wrong, textio.Count(entries, "entry"), is)
}

// ascending returns the positions of the entries of a column in ascending order, NaN last.
func ascending(w *halfulp.Matrix) []int {
	order := make([]int, w.Rows())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		x, y := w.At(i, 0), w.At(k, 0)
		switch {
		case x.IsNaN() && y.IsNaN():
			return 0
		case x.IsNaN():
			return 1
		case y.IsNaN():
			return -1
		}
		return x.Cmp(y)
	})
	return order
}

// columnsOf returns the columns of m in the given order.
func columnsOf(m *halfulp.Matrix, order []int) *halfulp.Matrix {
	z := halfulp.NewMatrix(m.NumberFormat(), m.Rows(), m.Cols())
	for k, from := range order {
		for i := range m.Rows() {
			z.Set(i, k, m.At(i, from))
		}
	}
	return z
}

// dot estimates the scalar product of two vectors.
func dot(x, y *halfulp.Vector) float64 {
	sum := 0.0
	for i := range x.Len() {
		sum += x.At(i).Float64() * y.At(i).Float64() // may fuse: an estimate
	}
	return sum
}

// errorsOf collects the errors of entries in ulps.
type errorsOf struct {
	format halfulp.Format
	found  linsolve.Accuracy
	others []float64 // errors of entries that are not correctly rounded
}

// add compares the entry x in row i and column k with z, the exact value rounded to referenceBits
// more than the format. If z is halfway between two numbers of the format, exact returns the exact
// value rounded to the format.
func (e *errorsOf) add(i, k int, x, z halfulp.Scalar, exact func() (halfulp.Scalar, error)) error {
	e.found.Entries++
	nearest := z.Convert(e.format)
	unit := ulp(z, e.format)
	if !nearest.IsInf(0) {
		half := new(big.Float).SetMantExp(unit, -1)
		if off := exactDifference(z.Big(), nearest.Big()); off.Cmp(half) == 0 {
			var err error
			if nearest, err = exact(); err != nil {
				return err
			}
		}
	}
	if !x.IsNaN() && x.Cmp(nearest) == 0 {
		e.found.Correct++
		return nil
	}
	off := math.Inf(1)
	if !x.IsNaN() && !x.IsInf(0) {
		off, _ = new(big.Float).Quo(exactDifference(x.Big(), z.Big()), unit).Float64()
		off = min(off, math.MaxFloat64)
	}
	if off < 1 {
		e.found.Faithful++
	} else {
		e.found.Wrong++
	}
	if off > float64(e.found.Largest) {
		e.found.Largest, e.found.Row, e.found.Col = halfulp.Measure(off), i, k
	}
	e.others = append(e.others, off)
	return nil
}

// exactDifference returns |x - y|.
func exactDifference(x, y *big.Float) *big.Float {
	span := uint(0)
	if x.Sign() != 0 && y.Sign() != 0 {
		d := x.MantExp(nil) - y.MantExp(nil)
		span = uint(min(max(d, -d), maxExactExponent))
	}
	z := new(big.Float).SetPrec(x.Prec() + y.Prec() + span + 2)
	return z.Abs(z.Sub(x, y))
}

// ulp returns the unit in the last place of a value, as linsolve.Accuracy defines it.
func ulp(z halfulp.Scalar, f halfulp.Format) *big.Float {
	e := math.MinInt32
	if b := z.Big(); b.Sign() != 0 {
		e = b.MantExp(nil) - f.Bits()
	}
	switch {
	case f == halfulp.Float32:
		e = max(e, -149)
	case !f.IsMP():
		e = max(e, -1074)
	}
	return new(big.Float).SetMantExp(big.NewFloat(1), e)
}

// accuracy returns what was found.
func (e *errorsOf) accuracy() spectrumAccuracy {
	z := spectrumAccuracy{Accuracy: e.found, Median: "0", LargestInUlps: shownUlps(float64(e.found.Largest))}
	if n := len(e.others); n > 0 {
		slices.Sort(e.others)
		z.Median = shownUlps(e.others[(n-1)/2])
	}
	return z
}

// shownUlps returns an error in ulps with three digits.
func shownUlps(x float64) string {
	s := shortMeasure(halfulp.Measure(x), 3)
	switch {
	case x == math.MaxFloat64:
		return "more than " + s
	case x < 1 && s == "1": // faithful, as counted
		return "0.999"
	}
	return s
}

// inUlps returns a number of ulps with its unit.
func inUlps(x string) string {
	if x == "1" {
		return "1 ulp"
	}
	return x + " ulps"
}

// table returns rows of a table; place is the format of a row and a column, counted from 1.
func (a spectrumAccuracy) table(what string, f halfulp.Format, place string) string {
	s := fmt.Sprintf("%s\t%d\ncorrectly rounded to %v\t%d\nfaithful\t%d\nwrong\t%d\n", what, a.Entries, f, a.Correct, a.Faithful, a.Wrong)
	if a.Correct < a.Entries {
		s += fmt.Sprintf("median error of the others\t%s\n", inUlps(a.Median))
		s += fmt.Sprintf("largest error\t%s, %s\n", inUlps(a.LargestInUlps), fmt.Sprintf(place, a.Row+1, a.Col+1))
	}
	return s
}

// needed returns an error unless all operands of a comparison are given, and no others.
func (c *verifyCmd) needed() error {
	switch {
	case c.What != "eigh" && c.X == "":
		return cli.Misuse("verify %s compares X: A B X are needed", c.What)
	case c.What != "eigh" && c.Uplo != 0:
		return cli.Misuse("--uplo is for verify eigh")
	}
	return nil
}
