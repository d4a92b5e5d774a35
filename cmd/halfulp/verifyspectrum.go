package main

import (
	"archive/zip"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/linsolve"
)

// Shared code of the comparisons of spectra and singular value decompositions.

// spectrumAccuracy is the accuracy of values or of entries of vectors.
type spectrumAccuracy struct {
	linsolve.Accuracy
	// of the entries that are not correctly rounded; 0 if all are
	Median        string `json:"median_error_ulps"`
	LargestInUlps string `json:"largest_error_ulps"`
}

// verifiedPart is one of the results that are compared: what it consists of, and the format of the
// place of an entry, a row and a column, counted from 1.
type verifiedPart struct {
	what, place string
	accuracy    *spectrumAccuracy
}

// writeVerified writes the accuracies of all parts, and rows about vectors that are not compared.
// object returns the JSON. The error counts the wrong entries.
func (j *job) writeVerified(parts []verifiedPart, notCompared []string, object func() any) (err error) {
	j.report(j.solver)
	wrong, entries := 0, 0
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.accuracy.table(p.what, j.format, p.place))
		wrong, entries = wrong+p.accuracy.Wrong, entries+p.accuracy.Entries
	}
	for _, s := range notCompared {
		b.WriteString("vectors not compared, " + s + "\n")
	}
	if j.print.JSON {
		err = j.writeText(jsonText(object()))
	} else {
		err = j.writeTable(b.String())
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

// notComparedClusters returns rows about the vectors of clusters.
func notComparedClusters(clusters [][2]int) (rows []string) {
	for _, c := range clusters {
		rows = append(rows, "of a cluster\t"+positions(c[0], c[1]))
	}
	return rows
}

// inClusters reports which of n positions belong to a cluster.
func inClusters(clusters [][2]int, n int) []bool {
	alike := make([]bool, n)
	for _, c := range clusters {
		for k := c[0]; k <= c[1]; k++ {
			alike[k] = true
		}
	}
	return alike
}

// noteOrder notes that the values of a file are compared in another order than they stand there.
func (j *job) noteOrder(file string, order []int, what, wanted string) {
	if !slices.IsSorted(order) && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: %s: the %s are not in %s order, and are compared in this order\n", shown(file), what, wanted)
	}
}

// signed returns x or, if opposite is true, -x.
func signed(x halfulp.Scalar, opposite bool) halfulp.Scalar {
	if opposite {
		return x.Neg()
	}
	return x
}

// members returns, for each list of names, the first that is a matrix of a .npz file, as an
// operand; nothing for a list without one, and for other kinds of files.
func members(file string, lists ...[]string) []string {
	found := make([]string, len(lists))
	if ending(file, ".npz") == "" {
		return found
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		return found // the error of reading names the file
	}
	defer z.Close()
	for i, names := range lists {
		for _, name := range names {
			if found[i] == "" && slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == name+".npy" || f.Name == name+"_format.npy" }) {
				found[i] = file + ":" + name
			}
		}
	}
	return found
}

// inOrder returns the positions of the entries of a column in ascending order, or in descending
// order if sign is -1, NaN last.
func inOrder(w *halfulp.Matrix, sign int) []int {
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
		return sign * x.Cmp(y)
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
	unit := ulp(z.Big(), e.format)
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
func ulp(b *big.Float, f halfulp.Format) *big.Float {
	e := math.MinInt32
	if b.Sign() != 0 {
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
	case c.What != "eigh" && c.What != "svd" && c.X == "":
		return cli.Misuse("verify %s compares X: A B X are needed", c.What)
	case c.What != "svd" && c.VT != "":
		return cli.Misuse("verify %s has no operand %s", c.What, c.VT)
	case c.What == "svd" && c.X != "" && c.VT == "":
		return cli.Misuse("verify svd compares s, or U s VT: A s or A U s VT are needed")
	case c.What != "eigh" && c.Uplo != 0:
		return cli.Misuse("--uplo is for verify eigh")
	}
	return nil
}
