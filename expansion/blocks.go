package expansion

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
)

// SquareBlocks and LinearBlocks are methods of products and systems: the block schemes of Sivkova,
// Dovgilovich, Voskoboynikova, Sofronov, CUDA algorithms of some linear algebra operations for the
// extended precision arithmetic library QD, sections 6.1.1 and 6.2.1. One thread computes an entry;
// on a GPU, blocks have 8 x 8 threads, or 128 in a row. They are for comparisons: [Method] is
// faster.
//
//   - [Gemm] by SquareBlocks has 8 x 8 tiles of A and B in shared memory, each thread loading an
//     entry of either, and the bits of Gemm.
//
//   - [Solve] goes over the columns k of A one by one: it exchanges rows, divides row k of [A B] by
//     its entry in column k, and subtracts the multiple of it from all other rows that makes column
//     k zero. In step k, for j > k and i ≠ k,
//
//     a_kj ← Div(a_kj, a_kk),  a_ij ← FMA(-a_ik, a_kj, a_ij).
//
//     The two schemes differ in their threads and give the same bits, which differ from the bits of
//     Method. The paper's rule is ZeroPivoting. Updates and Block do not apply.
//
// The arithmetic is the arithmetic of this package. Both methods also support format Float64, with
// operands of Float64 and Float32 and sums of products s ← fma(a, b, s). On the CPU, which has no
// blocks of threads, they compute the same bits.
const (
	SquareBlocks halfulp.Method = place.SquareBlocks
	LinearBlocks halfulp.Method = place.LinearBlocks
)

// hasBlocks reports whether a routine supports the method; routine "" stands for any.
func hasBlocks(routine string, method halfulp.Method) bool {
	return routine == "" || routine == "Solve" || routine == "Gemm" && method == SquareBlocks
}

// isBlocks reports whether a method is a block scheme.
func isBlocks(method halfulp.Method) bool { return method == SquareBlocks || method == LinearBlocks }

// byBlocks reports whether the run is by a block scheme.
func (r *run) byBlocks() bool { return isBlocks(r.stats.Method) }

// productFormats is formatsFit, with Float64 where the run is by a block scheme.
func (r *run) productFormats(z *num.Array, in []num.Mat) (words int, err error) {
	if !r.byBlocks() || z.Kind != num.F64 {
		return formatsFit(z, in)
	}
	for i, m := range in {
		if m.Arr.Kind != num.F64 && m.Arr.Kind != num.F32 {
			return 0, fmt.Errorf("operand %d of format %v, result %v: %w (want f64 or f32; convert it first)", i+1, m.Arr.Format, z.Format, halfulp.ErrFormat)
		}
	}
	return 1, nil
}

// float1 is a float64 as an expansion of one word.
type float1 [1]float64

func (a float1) Add(b float1) float1    { return float1{a[0] + b[0]} }
func (a float1) Mul(b float1) float1    { return float1{float64(a[0] * b[0])} }
func (a float1) Div(b float1) float1    { return float1{a[0] / b[0]} }
func (a float1) FMA(b, c float1) float1 { return float1{math.FMA(a[0], b[0], c[0])} }
func (a float1) Neg() float1            { return float1{-a[0]} }

// Canonical returns a, with a single bit pattern for NaN.
func (a float1) Canonical() float1 {
	if a[0] != a[0] {
		return float1{math.NaN()}
	}
	return a
}

// summable is a format of sums of products, float64 included.
type summable[E any] interface {
	float1 | DD | TD | QD
	Add(E) E
	Mul(E) E
	Canonical() E
}

// eliminable is a format of systems, float64 included.
type eliminable[E any] interface {
	float1 | DD | TD | QD
	Div(E) E
	FMA(E, E) E
	Neg() E
	Canonical() E
}

// multiplyFloat64 computes C, of float64.
func multiplyFloat64(p *productRun) error {
	ended := p.pieces(max(p.c.Cols, 1))
	return par.For(p.Ctx, min(p.Threads, max(p.c.Cols, 1)), p.c.Cols, func(_, j int) {
		for i := range p.c.Rows {
			s := 0.0
			for h := range p.a.Cols {
				s = math.FMA(leadOf(p.a, i, h), leadOf(p.b, h, j), s)
			}
			finishEntry(p, float1{s}, i, j)
		}
		ended()
	})
}

// solveByColumns eliminates column by column, in all of [A B].
func (s *system[E]) solveByColumns() error {
	for k := range s.n {
		q, ok := s.pivot(k)
		if !ok {
			return noPivot(k)
		}
		s.swap(k, q, k, s.ld)
		divisor, last := s.at(k, k), k == s.n-1
		put := func(i, j int, x E) {
			if last { // of those that are X
				x = x.Canonical()
			}
			s.set(i, j, x)
		}
		for j := k + 1; j < s.ld; j++ {
			s.set(k, j, s.at(k, j).Div(divisor))
		}
		if err := s.rows(s.n, s.ld-k, func(i int) {
			if i == k {
				return
			}
			l := s.at(i, k).Neg()
			for j := k + 1; j < s.ld; j++ {
				put(i, j, l.FMA(s.at(k, j), s.at(i, j)))
			}
		}); err != nil {
			return err
		}
		if last {
			for j := k + 1; j < s.ld; j++ {
				put(k, j, s.at(k, j))
			}
		}
		s.eliminated(k + 1)
	}
	return nil
}

// checkBlocks returns an error for options that block schemes do not support.
func (o *SolveOptions) checkBlocks(method halfulp.Method) error {
	if o.Updates != NativeUpdates || o.Block != 0 {
		return fmt.Errorf("updates %d, blocks of %d columns with method %s: %w", o.Updates, o.Block, method, halfulp.ErrOptions)
	}
	return nil
}
