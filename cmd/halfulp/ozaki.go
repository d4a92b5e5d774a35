package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/ozaki"
)

// ozakiFlags are the flags for the methods of package ozaki.
type ozakiFlags struct {
	Tolerance *float64 `group:"run" placeholder:"T" help:"With --method ozaki:auto: the requested error bound, relative to |alpha| times the 2-norms of row and column (default 1e-12)."`
	Block     int      `group:"run" placeholder:"N" help:"With --method ozaki:...: length of the longest float32 sum (default 4096)."`
}

const (
	ozakiAuto    = "ozaki:auto"
	ozakiLiteral = "ozaki-literal"
	doubleFloat  = "double-float"

	defaultTolerance = 1e-12
)

// ozakiHelp is the part about these methods in the help of gemm.
const ozakiHelp = `

Further methods come from the paper of Nanai and Fujimoto. They use float32 hardware and reach at most float64 accuracy. Their results are not correctly rounded, so auto never selects them:

  ozaki:K          K (K + 1) / 2 products of float32 matrices, K slices of each operand
  ozaki:auto       the least K whose error bound meets --tolerance
  ozaki-literal:K  the same with the paper's own slices: one bit less each, numbers within the range of float32
  double-float     arithmetic on numbers of two float32 words

Operands are rounded to float64 first. --stats shows an error bound for the result in float64.`

// isOzaki reports whether the method is one of package ozaki, as its name says.
func isOzaki(method string) bool {
	name, _, _ := strings.Cut(method, ":")
	return method == doubleFloat || name == "ozaki" || name == ozakiLiteral
}

// ozakiOptions returns the options of a method of package ozaki, nil for another.
func ozakiOptions(how *runFlags, f *ozakiFlags) (*ozaki.Options, error) {
	if f.Tolerance != nil && how.Method != ozakiAuto {
		return nil, cli.Misuse("--tolerance goes with the method %s, not with %s", ozakiAuto, how.Method)
	}
	name, count, _ := strings.Cut(how.Method, ":")
	if f.Block != 0 && name != "ozaki" {
		return nil, cli.Misuse("--block goes with the methods ozaki:..., not with %s", how.Method)
	}
	if !isOzaki(how.Method) {
		return nil, nil
	}
	if f.Block < 0 || f.Block > ozaki.MaxBlock {
		return nil, cli.Misuse("--block: %d is not between 1 and %d", f.Block, ozaki.MaxBlock)
	}
	o := &ozaki.Options{Options: halfulp.Options{Device: halfulp.Device(how.Device), Threads: int(how.Threads), MemoryLimit: int64(how.Memory)}, Block: f.Block}
	switch how.Method {
	case doubleFloat:
	case ozakiAuto:
		o.Tolerance = defaultTolerance
		if f.Tolerance != nil {
			o.Tolerance = *f.Tolerance
		}
		if !(o.Tolerance > 0) {
			return nil, cli.Misuse("--tolerance: %g is not a positive number", o.Tolerance)
		}
	default:
		slices, err := strconv.Atoi(count)
		switch bad := err != nil || slices < 1 || slices > ozaki.MaxSlices; {
		case bad && name == ozakiLiteral:
			return nil, cli.Misuse("method %q: want %s:1 to %[2]s:%d", how.Method, ozakiLiteral, ozaki.MaxSlices)
		case bad:
			return nil, cli.Misuse("method %q: want ozaki:1 to ozaki:%d or %s", how.Method, ozaki.MaxSlices, ozakiAuto)
		case name == ozakiLiteral:
			o.Split = ozaki.Literal
		}
		o.Slices = slices
	}
	return o, nil
}

// runOzaki computes a product by a method of package ozaki.
func runOzaki(method string, tA, tB halfulp.Transpose, alpha float64, a, b *halfulp.Matrix, beta float64, c *halfulp.Matrix, o *ozaki.Options) error {
	gemm := ozaki.Gemm
	if method == doubleFloat {
		gemm = ozaki.GemmDoubleFloat
	}
	err := gemm(tA, tB, alpha, a, b, beta, c, o)
	if err != nil {
		err = errors.Unwrap(err) // without the name of the routine
	}
	return err
}

// ozakiStats are the statistics of a method of package ozaki beside the common ones.
type ozakiStats struct {
	Slices   int    `json:"slices,omitempty"`
	Bits     int    `json:"bits,omitempty"`        // of a slice
	Block    int    `json:"block,omitempty"`       // longest float32 sum
	Products int64  `json:"products,omitempty"`    // of float32 matrices
	Skipped  int    `json:"skipped,omitempty"`     // products with slices of zeros
	Rounded  int64  `json:"rounded_inputs"`        // numbers that are not float64 numbers
	Bound    string `json:"error_bound,omitempty"` // largest bound of the error of an entry
	// Relative is the largest quotient of an entry's bound and size.
	Relative string `json:"relative_error_bound,omitempty"`
}

// ozakiProduct sets z = alpha op(A) op(B) + beta C by the method; c may be nil.
func (j *job) ozakiProduct(o ozaki.Options, tA, tB bool, alpha halfulp.Scalar, a, b *halfulp.Matrix, beta halfulp.Scalar, c, z *halfulp.Matrix) (halfulp.Stats, error) {
	own := &ozakiStats{}
	j.ozaki = own
	double := func(m *halfulp.Matrix) *halfulp.Matrix {
		if m.NumberFormat() == halfulp.Float64 || m.NumberFormat() == halfulp.Float32 {
			return m
		}
		d := m.Convert(halfulp.Float64)
		back := d.Convert(m.NumberFormat())
		for k := range m.Cols() {
			for i := range m.Rows() {
				if !m.At(i, k).IsNaN() && !back.Slice(i, i+1, k, k+1).Same(m.Slice(i, i+1, k, k+1)) {
					own.Rounded++
				}
			}
		}
		return d
	}
	factor := func(s halfulp.Scalar) float64 {
		m := halfulp.NewMatrix(s.NumberFormat(), 1, 1)
		m.Set(0, 0, s)
		return double(m).Float64(0, 0)
	}
	result := halfulp.NewMatrix(halfulp.Float64, z.Rows(), z.Cols())
	if c != nil {
		result = double(c).Convert(halfulp.Float64)
	}
	o.Context, o.Progress = j.env.Ctx, j.startProgress(j.command)
	if j.how.Stats != noStats || j.print.JSON {
		o.Bound = halfulp.NewMatrix(halfulp.Float64, z.Rows(), z.Cols())
	}
	var s ozaki.Stats
	o.Stats = &s
	err := runOzaki(j.how.Method, transpose(tA), transpose(tB), factor(alpha), double(a), double(b), factor(beta), result, &o)
	own.Slices, own.Bits, own.Block, own.Products, own.Skipped = s.Slices, s.Bits, s.Block, s.Products, s.Skipped
	stats := s.Stats
	stats.Method, stats.Products = halfulp.Method(j.how.Method), 0
	if err != nil {
		return stats, err
	}
	if o.Bound != nil {
		own.bounds(o.Bound, result)
	}
	for k := range z.Cols() {
		for i := range z.Rows() {
			z.Set(i, k, result.At(i, k))
		}
	}
	return stats, nil
}

// bounds stores the largest bounds.
func (s *ozakiStats) bounds(bound, result *halfulp.Matrix) {
	most, relative := 0.0, 0.0
	for k := range bound.Cols() {
		for i := range bound.Rows() {
			b := bound.Float64(i, k)
			most = max(most, b)
			if b > 0 {
				relative = max(relative, b/math.Abs(result.Float64(i, k))) // Inf for 0
			}
		}
	}
	s.Bound, s.Relative = upText(most), upText(relative)
}

// upText is x ≥ 0 in two digits, rounded up.
func upText(x float64) string {
	if x == 0 {
		return "0"
	}
	if math.IsInf(x, 1) || x != x {
		return "none"
	}
	return decimal.AboveFloat(x, 2)
}

// ozaki prints the statistics of a method of package ozaki.
func (t rows) ozaki(s *ozakiStats) {
	if s.Slices > 0 {
		t.row("slices", fmt.Sprintf("%d of %d bits, float32 sums of up to %d products", s.Slices, s.Bits, s.Block))
		t.row("float32 matrix products", fmt.Sprintf("%d, and %d of zeros left out", s.Products, s.Skipped))
	}
	t.row("inputs rounded to float64", s.Rounded)
	t.row("error bound", s.Bound)
	t.row("relative error bound", s.Relative)
}
