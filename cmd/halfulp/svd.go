package main

import (
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/internal/cli"
)

type svdCmd struct {
	A          string `arg:"" name:"A" help:"Matrix; - is standard input."`
	ValuesOnly bool   `group:"result" help:"Print only the singular values, one a line, which takes less time."`
	Full       bool   `group:"result" help:"Complete the singular vectors: U is m x m, Vt is n x n."`
	Largest    *int   `group:"result" short:"k" placeholder:"K" help:"Only the K largest singular values and their vectors."`
	U          string `group:"result" placeholder:"FILE" help:"Write the left singular vectors, the columns of U, to FILE."`
	S          string `group:"result" placeholder:"FILE" help:"Write the singular values to FILE."`
	Vt         string `group:"result" placeholder:"FILE" help:"Write the right singular vectors, the rows of Vt, to FILE."`
	Plot       string `group:"result" placeholder:"FILE" help:"Draw the singular values over their indices to FILE.svg. The axis is logarithmic, and zeros are left out, if the others spread over two powers of ten."`
	commonFlags
}

func (svdCmd) Help() string {
	return `Prints the singular value decomposition of the m x n matrix A: A = U diag(s) Vt. s has the k singular values in descending order, k the smaller of m and n; U is m x k with orthonormal columns, and Vt is k x n with orthonormal rows. Every singular value is the exact one, rounded once, whatever the condition and the rank of A. Entries of singular vectors are rounded once, too. In each row of Vt (for m < n in each column of U) the first entry whose magnitude exceeds π/4 of the largest is positive.

s is printed as one singular value a line after its index, which counts from 1, then U and Vt as tables. --json writes one object, in which indices count from 0. --out FILE.npz writes all to one file: numpy.load(FILE)["U"], ["s"] and ["Vt"] are the results of numpy.linalg.svd with full_matrices=False, and with --full its default, full_matrices=True. The options --u, --s and --vt write one file each; then nothing is printed, unless --out or --json is given. With --values-only the result is a column of numbers, for any kind of file.

A note on standard error names clusters: singular values that are equal, or too close to be separated with four times the bits of the format. Their values are correctly rounded like all others, and their vectors are an orthonormal basis of a subspace. A warning states how many entries of singular vectors seem to be 0, or halfway between two numbers of the format, without a proof.

Examples:

  halfulp svd A.mtx
  halfulp svd A.csv --values-only --format mp:200
  halfulp svd A.npy --out F.npz                      # numpy: F["U"] * F["s"] @ F["Vt"]
  halfulp svd A.mtx -k 2 --u U.mtx --vt Vt.mtx
  halfulp svd A.mtx --full --json
  halfulp svd A.mtx --values-only --plot spectrum.svg`
}

// svdResult is the JSON of svd.
type svdResult struct {
	Command  string      `json:"command"`
	Format   string      `json:"format"`
	U        *factorText `json:"U,omitempty"`
	S        []string    `json:"s"`
	Vt       *factorText `json:"Vt,omitempty"`
	Clusters [][2]int    `json:"clusters,omitempty"` // first and last position in s
	Stats    *runStats   `json:"stats"`
}

func (c *svdCmd) Run(env *cli.Environment) error {
	for _, x := range []struct {
		given bool
		flag  string
	}{{c.U != "", "--u"}, {c.Vt != "", "--vt"}, {c.Full, "--full"}} {
		if c.ValuesOnly && x.given {
			return cli.Misuse("%s: --values-only computes no singular vectors", x.flag)
		}
	}
	switch {
	case c.Full && c.Largest != nil:
		return cli.Misuse("--full and --largest cannot be combined")
	case c.Largest != nil && *c.Largest < 1:
		return cli.Misuse("--largest: %d is not 1 or more", *c.Largest)
	}
	if err := checkPicture(c.Plot); err != nil {
		return err
	}
	j, err := c.factorsJob(env, "svd", c.ValuesOnly, "", []string{c.U, c.S, c.Vt}, c.A)
	if err != nil {
		return err
	}
	a, err := j.scaledMatrix(c.A, nil)
	if err != nil {
		return err
	}
	opt := eigen.SVDOptions{ValuesOnly: c.ValuesOnly, Full: c.Full}
	if c.Largest != nil {
		if opt.Largest = *c.Largest; opt.Largest > min(a.Rows(), a.Cols()) {
			return cli.Misuse("--largest: there is no singular value %d: %s is %d x %d", opt.Largest, shown(c.A), a.Rows(), a.Cols())
		}
	}
	z, err := j.svd(c.A, a, j.format, opt)
	if err != nil {
		return err
	}
	j.warnOpen("entries of singular vectors")
	j.noteClusters("singular values", 0, z.Clusters)
	s := spectrum{name: "s", file: c.S, of: "singular value", values: z.S}
	if z.U != nil {
		s.vectors = []namedFactor{{name: "U", file: c.U, matrix: z.U}, {name: "Vt", file: c.Vt, matrix: z.V.T()}}
	}
	return j.writeSpectrum(&s, c.Plot, func(values []string) any {
		r := svdResult{Command: j.command, Format: j.format.String(), S: values, Clusters: z.Clusters, Stats: j.resultStats(j.solver)}
		if z.U != nil {
			r.U, r.Vt = j.factorText(z.U), j.factorText(z.V.T())
		}
		return r
	})
}
