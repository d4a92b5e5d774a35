package main

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
)

// verifySVDResult is the JSON of verify svd.
type verifySVDResult struct {
	Command  string            `json:"command"`
	Format   string            `json:"format"`
	U        *spectrumAccuracy `json:"U,omitempty"`
	Values   spectrumAccuracy  `json:"s"`
	Vt       *spectrumAccuracy `json:"Vt,omitempty"`
	Clusters [][2]int          `json:"clusters,omitempty"` // whose vectors are not compared
	Stats    *runStats         `json:"stats"`
}

// svdOperands are the parts of a decomposition that is compared; u and vt are nil if they are not
// given.
type svdOperands struct{ u, s, vt *halfulp.Matrix }

// svdFiles returns the files of U, s and Vt.
func (c *verifyCmd) svdFiles() (u, s, vt string) {
	switch {
	case c.VT != "":
		return c.B, c.X, c.VT
	default:
		if all := members(c.B, []string{"U"}, []string{"s", "S"}, []string{"Vt", "Vh"}); all[1] != "" {
			if all[0] == "" || all[2] == "" {
				return "", all[1], ""
			}
			return all[0], all[1], all[2]
		}
		return "", c.B, ""
	}
}

// svdOperands reads the decomposition of an m x n matrix in the format of the comparison, and sorts
// its values in descending order.
func (c *verifyCmd) svdOperands(j *job, m, n int) (z svdOperands, err error) {
	fileU, fileS, fileVt := c.svdFiles()
	read := func(file string) (*halfulp.Matrix, error) {
		x, err := j.inFormat(file)
		if err != nil {
			return nil, err
		}
		return x.Convert(j.format), nil
	}
	if z.s, err = read(fileS); err != nil {
		return z, err
	}
	if z.s.Rows() == 1 {
		z.s = z.s.T()
	}
	k, most := z.s.Rows(), min(m, n)
	if z.s.Cols() != min(k, 1) && z.s.Cols() != 1 || k > most || k == 0 && most > 0 {
		return z, cli.Misuse("%s is %d x %d, want 1 to %d singular values of a %d x %d matrix", shown(fileS), z.s.Rows(), z.s.Cols(), most, m, n)
	}
	order := inOrder(z.s, -1)
	j.noteOrder(fileS, order, "singular values", "descending")
	if k < most && !j.print.Quiet {
		fmt.Fprintf(j.env.Stderr, "halfulp: note: %s has %d of %d singular values, which are compared with the largest\n", shown(fileS), k, most)
	}
	z.s = columnsOf(z.s.T(), order).T()
	if fileU == "" {
		return z, nil
	}
	vectors := func(file string, transposed bool, rows int) (*halfulp.Matrix, error) {
		x, err := read(file)
		if err != nil {
			return nil, err
		}
		wantRows, wantCols := rows, k
		if transposed {
			wantRows, wantCols = k, rows
		}
		if x.Rows() != rows || x.Cols() != rows || k < most { // not a full matrix
			if x.Rows() != wantRows || x.Cols() != wantCols {
				return nil, cli.Misuse("%s is %d x %d, want %d x %d", shown(file), x.Rows(), x.Cols(), wantRows, wantCols)
			}
		}
		if transposed {
			x = x.T()
		}
		return columnsOf(x, order), nil
	}
	if z.u, err = vectors(fileU, false, m); err != nil {
		return z, err
	}
	z.vt, err = vectors(fileVt, true, n)
	z.vt = z.vt.T()
	return z, err
}

// svd compares singular values, and singular vectors if there are any, with correctly rounded ones.
func (c *verifyCmd) svd(j *job) error {
	a, err := j.scaledMatrix(c.A, nil)
	if err != nil {
		return err
	}
	m, n := a.Dims()
	given, err := c.svdOperands(j, m, n)
	if err != nil {
		return err
	}
	k := given.s.Rows()
	find := func(f halfulp.Format) (*eigen.SVDResult, error) {
		// One more value shows whether the last wanted one belongs to a cluster.
		return j.svd(c.A, a, f, eigen.SVDOptions{ValuesOnly: given.u == nil, Largest: min(k+1, m, n)})
	}
	z, err := find(halfulp.MP(uint(j.format.Bits() + referenceBits)))
	if err != nil {
		return err
	}
	stats := j.solver
	j.warnOpen("entries of singular vectors")
	var exact *eigen.SVDResult // in the format itself, where it is needed
	inFormat := func(pick func(*eigen.SVDResult) halfulp.Scalar) func() (halfulp.Scalar, error) {
		return func() (halfulp.Scalar, error) {
			if exact == nil {
				if exact, err = find(j.format); err != nil {
					return halfulp.Scalar{}, err
				}
			}
			return pick(exact), nil
		}
	}
	r := verifySVDResult{Command: "verify", Format: j.format.String()}
	for _, x := range z.Clusters {
		if x[0] < k {
			r.Clusters = append(r.Clusters, [2]int{x[0], min(x[1], k-1)})
		}
	}
	values := &errorsOf{format: j.format}
	for i := range k {
		if err := values.add(i, 0, given.s.At(i, 0), z.S.At(i), inFormat(func(e *eigen.SVDResult) halfulp.Scalar { return e.S.At(i) })); err != nil {
			return err
		}
	}
	r.Values = values.accuracy()
	parts := []verifiedPart{{"singular values", "index %[1]d", &r.Values}}
	notCompared := notComparedClusters(r.Clusters)
	if given.u != nil {
		left, right := &errorsOf{format: j.format}, &errorsOf{format: j.format}
		alike := inClusters(r.Clusters, k)
		for q := range k {
			if alike[q] {
				continue
			}
			u, v := dot(given.u.Col(q), z.U.Col(q)), dot(given.vt.Row(q), z.V.Col(q))
			compareU, compareV := true, true
			if z.S.At(q).Sign() == 0 {
				// The signs of U and V are independent, and the longer vector is not unique.
				compareU, compareV = m <= n, n <= m
			} else {
				u, v = u+v, u+v
			}
			if !compareU || !compareV {
				side := "U"
				if compareU {
					side = "Vt"
				}
				notCompared = append(notCompared, fmt.Sprintf("of the singular value 0\t%s, %d", side, q+1))
			}
			for i := 0; compareU && i < m; i++ {
				if err := left.add(i, q, signed(given.u.At(i, q), u < 0), z.U.At(i, q), inFormat(func(e *eigen.SVDResult) halfulp.Scalar { return e.U.At(i, q) })); err != nil {
					return err
				}
			}
			for i := 0; compareV && i < n; i++ {
				if err := right.add(q, i, signed(given.vt.At(q, i), v < 0), z.V.At(i, q), inFormat(func(e *eigen.SVDResult) halfulp.Scalar { return e.V.At(i, q) })); err != nil {
					return err
				}
			}
		}
		u, vt := left.accuracy(), right.accuracy()
		r.U, r.Vt = &u, &vt
		parts = append(parts, verifiedPart{"entries of U", "row %d, column %d", r.U}, verifiedPart{"entries of Vt", "row %d, column %d", r.Vt})
		if given.u.Cols() > k {
			notCompared = append(notCompared, fmt.Sprintf("which complete U\t%s", positions(k, given.u.Cols()-1)))
		}
		if given.vt.Rows() > k {
			notCompared = append(notCompared, fmt.Sprintf("which complete Vt\t%s", positions(k, given.vt.Rows()-1)))
		}
	}
	j.solver = stats
	return j.writeVerified(parts, notCompared, func() any {
		r.Stats = j.resultStats(stats)
		return r
	})
}
