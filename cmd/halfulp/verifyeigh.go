package main

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
)

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
	if c.X == "" {
		if all := members(c.B, []string{"w", "eigenvalues"}, []string{"V", "eigenvectors"}); all[0] != "" {
			c.B, c.X = all[0], all[1]
		}
	}
	a, err := j.symmetricScaled(c.A, c.Uplo)
	if err != nil {
		return err
	}
	n := a.Rows()
	w, err := j.inFormat(c.B)
	if err != nil {
		return err
	}
	if w, err = shaped(c.B, w.Convert(j.format), n, 1); err != nil {
		return err
	}
	var v *halfulp.Matrix
	if c.X != "" {
		if v, err = j.inFormat(c.X); err != nil {
			return err
		}
		if v, err = shaped(c.X, v.Convert(j.format), n, n); err != nil {
			return err
		}
	}
	order := inOrder(w, 1)
	j.noteOrder(c.B, order, "eigenvalues", "ascending")
	w = columnsOf(w.T(), order).T()
	find := func(f halfulp.Format) (*eigen.SymResult, error) {
		return j.sym(c.A, a, f, eigen.SymOptions{ValuesOnly: v == nil})
	}
	z, err := find(halfulp.MP(uint(j.format.Bits() + referenceBits)))
	if err != nil {
		return err
	}
	stats := j.solver
	j.warnOpen("entries of eigenvectors")
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
	parts := []verifiedPart{{"eigenvalues", "index %[1]d", &r.Values}}
	if v != nil {
		v = columnsOf(v, order)
		alike := inClusters(z.Clusters, n)
		vectors := &errorsOf{format: j.format}
		for k := range n {
			if alike[k] {
				continue
			}
			opposite := dot(v.Col(k), z.Vectors.Col(k)) < 0
			for i := range n {
				err := vectors.add(i, k, signed(v.At(i, k), opposite), z.Vectors.At(i, k), func() (halfulp.Scalar, error) {
					return inFormat(func(e *eigen.SymResult) halfulp.Scalar { return e.Vectors.At(i, k) })
				})
				if err != nil {
					return err
				}
			}
		}
		accuracy := vectors.accuracy()
		r.Vectors = &accuracy
		parts = append(parts, verifiedPart{"entries of eigenvectors", "row %d, column %d", r.Vectors})
	}
	j.solver = stats
	return j.writeVerified(parts, notComparedClusters(z.Clusters), func() any {
		r.Stats = j.resultStats(stats)
		return r
	})
}
