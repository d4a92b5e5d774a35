package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/rational"
)

// Exact numbers: operands (--in exact) and results (--format exact).

// rationally reports whether operands or results of a run are exact numbers.
func (j *job) rationally() bool { return j.in.exact() || j.exactResult }

// exact reads an operand as a matrix of rational numbers. The matrix must not be changed.
func (j *job) exact(name string) (*rational.Matrix, error) {
	if m := j.rationals[name]; m != nil {
		return m, nil
	}
	m, err := j.readExact(name)
	if err != nil {
		return nil, err
	}
	if name != files.Stdio {
		if j.rationals == nil {
			j.rationals = map[string]*rational.Matrix{}
		}
		j.rationals[name] = m
	}
	return m, nil
}

func (j *job) readExact(name string) (*rational.Matrix, error) {
	if !j.in.exact() {
		m, err := j.inFormat(name)
		if err != nil {
			return nil, err
		}
		if err := checkFinite(name, m); err != nil {
			return nil, err
		}
		z, err := rational.FromMatrix(m)
		if err == nil && j.digits > 0 && !z.IsInteger() && !j.print.Quiet {
			file, _ := matfile.SplitName(name)
			fmt.Fprintf(j.env.Stderr, "halfulp: note: %s: its decimals were read as binary numbers of format %v; --in exact takes 0.1 as one tenth\n", shown(file), m.NumberFormat())
		}
		return z, err
	}
	x, info, err := j.literal(name, true)
	if err != nil {
		return nil, err
	}
	m, err := j.fromExact(name, x)
	if err != nil || info.Format == nil || j.print.Quiet {
		return m, err
	}
	if rounded, err := m.Round(*info.Format); err == nil {
		if back, err := rational.FromMatrix(rounded); err != nil || !back.Equal(m) {
			file, _ := matfile.SplitName(name)
			fmt.Fprintf(j.env.Stderr, "halfulp: note: %s: its decimals stand for numbers of format %v, as a comment says: --in exact takes them as decimals; without it they are numbers of this format\n",
				shown(file), info.Format)
		}
	}
	return m, nil
}

// fromExact returns the numbers of a file as a matrix, unless it takes more memory than allowed:
// numbers of a row get a common denominator.
func (j *job) fromExact(name string, x *matfile.Exact) (*rational.Matrix, error) {
	if x.Matrix != nil {
		return rational.FromMatrix(x.Matrix)
	}
	if x.Rows == 0 || x.Cols == 0 {
		return rational.New(x.Rows, x.Cols), nil
	}
	bits := 0.0
	for _, row := range x.Values {
		d, longest := commonDenominator(row), 0
		for _, v := range row {
			longest = max(longest, v.Num().BitLen()-v.Denom().BitLen())
		}
		bits += float64(max(d.BitLen()+longest+1, 64)) * float64(len(row)) // may fuse: an estimate
	}
	if err := j.how.Memory.checkBits(bits, shown(name)+": with a common denominator in each row its numbers take"); err != nil {
		return nil, err
	}
	return rational.FromRats(x.Values), nil
}

// literal reads the exact numbers of a file; literally says that a format that the file names has
// no effect.
func (j *job) literal(name string, literally bool) (*matfile.Exact, matfile.Info, error) {
	start := time.Now()
	var info matfile.Info
	opt := &matfile.Options{
		Literal: literally, Threads: int(j.how.Threads), MemoryLimit: int64(j.how.Memory), Context: j.env.Ctx,
		Progress: j.startProgress("reading " + name), Dialect: j.in.dialect(), Info: &info, Stdin: j.env.Stdin,
	}
	x, err := matfile.ReadExact(name, opt)
	j.finish()
	err = team.same(opt, name, x, err)
	j.reading += time.Since(start)
	if err != nil {
		return nil, info, err
	}
	j.names, j.flat = info.Names, j.flat || info.Flat
	j.table = j.table || info.Kind == matfile.Text
	j.noteHeader(name, info.Note)
	j.warnInput(name, info.Stats, j.format)
	if !literally && x.Matrix == nil {
		j.noteDigits(name, info.Stats)
	}
	return x, info, nil
}

// commonDenominator returns the least common denominator of numbers, 1 without any.
func commonDenominator(all []*big.Rat) *big.Int {
	d := big.NewInt(1)
	var q, r big.Int
	for _, x := range all {
		if q.QuoRem(d, x.Denom(), &r); r.Sign() != 0 {
			q.GCD(nil, nil, d, x.Denom())
			q.Quo(x.Denom(), &q)
			d.Mul(d, &q)
		}
	}
	return d
}

// entriesOf returns the entries of matrices, row by row.
func entriesOf(all ...*rational.Matrix) []*big.Rat {
	var z []*big.Rat
	for _, a := range all {
		for i := range a.Rows() {
			for k := range a.Cols() {
				z = append(z, a.At(i, k))
			}
		}
	}
	return z
}

// exactVector reads an n x 1 or 1 x n matrix as a column.
func (j *job) exactVector(name string) (*rational.Matrix, error) {
	m, err := j.exact(name)
	if err != nil {
		return nil, err
	}
	switch rows, cols := m.Dims(); {
	case cols == 1:
		return m, nil
	case rows == 1:
		return m.T(), nil
	case rows == 0 || cols == 0:
		return rational.New(0, 1), nil
	default:
		return nil, cli.Misuse("%s is %d x %d, a vector is wanted", shown(name), rows, cols)
	}
}

// exactSquare reads a square matrix.
func (j *job) exactSquare(name string) (*rational.Matrix, error) {
	a, err := j.exact(name)
	if err != nil {
		return nil, err
	}
	return a, checkSquare(name, a)
}

// rationalMethod is the method of results that are computed exactly.
const rationalMethod = "rational"

// computed calls a routine of package rational. Its errors name the file that they are about.
func computed[T any](j *job, file string, routine func(opt *halfulp.Options) (T, error)) (T, error) {
	opt, start := j.options(), time.Now()
	if j.solver == nil {
		threads := opt.Threads
		if threads == 0 {
			threads = runtime.GOMAXPROCS(0)
		}
		j.solver = &halfulp.Stats{Device: cpuDevice, Method: rationalMethod, Threads: threads}
	}
	z, err := routine(opt)
	j.finish()
	j.solver.Stages = append(j.solver.Stages, halfulp.Stage{Name: "exact arithmetic", Time: time.Since(start)})
	var singular *rational.SingularError
	var inconsistent *rational.InconsistentError
	switch {
	case err == nil || j.env.Ctx.Err() != nil:
	case errors.As(err, &singular):
		err = fmt.Errorf("%s: %w: its rank is %d, it has %s (proved)", shown(file), rational.ErrSingular, singular.Rank, textio.Count(singular.Cols, "column"))
	case errors.As(err, &inconsistent):
		err = fmt.Errorf("%s: there is no solution (proved): column %d of the right-hand side is no combination of its columns", shown(file), inconsistent.Col+1)
	default:
		err = named(file, err)
	}
	return z, err
}

// writeRational writes a matrix of rational numbers: exactly, or every entry rounded once.
func (j *job) writeRational(z *rational.Matrix) error {
	if !j.exactResult {
		m, err := j.round(z)
		if err != nil {
			return err
		}
		return j.writeMatrix(m, j.solver)
	}
	j.report(j.solver)
	if j.print.JSON {
		return j.writeText(jsonText(matrixResult{
			Command: j.command, Format: exactName, Rows: z.Rows(), Cols: z.Cols(), Values: fractions(z), Stats: j.resultStats(j.solver),
		}))
	}
	return j.writeExact(matfile.Named{Name: j.print.target(), Exact: toFile(z)})
}

// exactName is the name of exact results in place of the name of a format.
const exactName = "exact"

// writeExact writes matrices of exact numbers to their files.
func (j *job) writeExact(all ...matfile.Named) error {
	opt := &matfile.Options{Context: j.env.Ctx, Stdout: j.env.Stdout}
	if j.print.To != "" {
		opt.Kind = matfile.KindOf(j.print.as())
	}
	return j.writing(func(last func() error) error {
		opt.Last = last
		return matfile.WriteAll(all, opt)
	})
}

// toFile returns a matrix for a file.
func toFile(z *rational.Matrix) *matfile.Exact {
	x := &matfile.Exact{Rows: z.Rows(), Cols: z.Cols(), Values: make([][]*big.Rat, z.Rows())}
	for i := range x.Values {
		x.Values[i] = make([]*big.Rat, z.Cols())
		for k := range x.Values[i] {
			x.Values[i][k] = z.At(i, k)
		}
	}
	return x
}

// fractions returns the entries by rows, in lowest terms.
func fractions(z *rational.Matrix) [][]string {
	rows := make([][]string, z.Rows())
	for i := range rows {
		rows[i] = make([]string, z.Cols())
		for k := range rows[i] {
			rows[i][k] = z.At(i, k).RatString()
		}
	}
	return rows
}

// writeNumber writes a rational number: exactly, or rounded once.
func (j *job) writeNumber(x *big.Rat) error {
	if !j.exactResult {
		z, err := j.number(x)
		if err != nil {
			return err
		}
		return j.writeScalar(z, *j.solver)
	}
	j.report(j.solver)
	if j.print.JSON {
		return j.writeText(jsonText(scalarResult{j.command, exactName, x.RatString(), j.resultStats(j.solver)}))
	}
	return j.writeText(x.RatString() + "\n")
}

// round rounds every entry once, and counts the entries that leave the range of the format.
func (j *job) round(z *rational.Matrix) (*halfulp.Matrix, error) {
	m, err := z.Round(j.format)
	if err != nil {
		return nil, err
	}
	if j.solver == nil {
		return m, nil
	}
	j.solver.Exact += int64(z.Rows()) * int64(z.Cols())
	if j.format.IsMP() {
		return m, nil
	}
	smallest := 0x1p-1022
	if j.format == halfulp.Float32 {
		smallest = 0x1p-126
	}
	for i := range m.Rows() {
		for k := range m.Cols() {
			x := m.At(i, k)
			switch {
			case x.IsInf(0):
				j.solver.Overflow++
			case math.Abs(x.Float64()) < smallest:
				if exact, _ := x.Big().Rat(nil); exact == nil || exact.Cmp(z.At(i, k)) != 0 {
					j.solver.Underflow++
				}
			}
		}
	}
	return m, nil
}

// exactFactors returns alpha and beta as rational numbers. last names the operand that beta
// multiplies, file its file or nothing.
func (j *job) exactFactors(f *productFlags, last, file string) (alpha, beta *big.Rat, err error) {
	if j.in.exact() {
		alpha, beta = big.NewRat(1, 1), big.NewRat(1, 1)
		if f.Beta != nil && file == "" {
			return nil, nil, cli.Misuse("--beta: there is no %s for it to multiply", last)
		}
		for _, x := range []struct {
			name string
			text *numberText
			dst  **big.Rat
		}{{"--alpha", f.Alpha, &alpha}, {"--beta", f.Beta, &beta}} {
			if x.text == nil {
				continue
			}
			if *x.dst, err = exactNumber(x.name, *x.text); err != nil {
				return nil, nil, err
			}
		}
		return alpha, beta, nil
	}
	a, b, err := j.factors(f, last, file)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range []struct {
		name string
		from halfulp.Scalar
		dst  **big.Rat
	}{{"--alpha", a, &alpha}, {"--beta", b, &beta}} {
		if x.from.IsNaN() || x.from.IsInf(0) {
			return nil, nil, cli.Misuse("%s: %v is no finite number", x.name, x.from)
		}
		*x.dst, _ = x.from.Big().Rat(new(big.Rat))
	}
	return alpha, beta, nil
}

// exactNumber reads the number of a flag.
func exactNumber(flag string, text numberText) (*big.Rat, error) {
	x, err := decimal.Rat([]byte(text))
	if err != nil {
		return nil, cli.Misuse("%s: %w", flag, err)
	}
	return x, nil
}

// checkBits returns an error if numbers of so many bits together take more memory than allowed.
func (m memorySize) checkBits(bits float64, what string) error {
	if need, limit := bits/8, float64(m.limit()); need > limit {
		return fmt.Errorf("%s up to %s, the memory limit is %s: --memory raises it", what, textio.Bytes(need), textio.Bytes(limit))
	}
	return nil
}

// minorBits returns a bound on the bits of the minors of order up to k of the integers that rows of
// A and B have with a common denominator, by Hadamard's inequality.
func minorBits(k int, a, b *rational.Matrix) float64 {
	bits := make([]float64, a.Rows())
	for i := range bits {
		row := rowOf(a, i)
		if b != nil {
			row = append(row, rowOf(b, i)...)
		}
		d, longest := commonDenominator(row).BitLen(), 0
		for _, x := range row {
			if x.Sign() != 0 {
				longest = max(longest, x.Num().BitLen()+d-x.Denom().BitLen()+1)
			}
		}
		more := math.Log2(float64(max(len(row), 1))) / 2
		bits[i] = float64(max(longest, d)) + more // may fuse: an estimate
	}
	slices.Sort(bits)
	sum := 0.0
	for _, x := range bits[max(0, len(bits)-k):] {
		sum += x
	}
	return sum
}

// rowOf returns row i of a matrix.
func rowOf(a *rational.Matrix, i int) []*big.Rat {
	row := make([]*big.Rat, a.Cols())
	for k := range row {
		row[k] = a.At(i, k)
	}
	return row
}

// real returns a rational number's numerator for package superacc.
func real(x *big.Int) num.Real {
	if x.Sign() == 0 {
		return num.Real{}
	}
	return num.Real{Class: num.Finite, Neg: x.Sign() < 0, Mag: num.FromInt(nil, x)}
}

// checkSolution returns an error if the solution of A X = B may take more memory than allowed.
func (j *job) checkSolution(a, b *rational.Matrix) error {
	entries := float64(a.Cols()) * float64(b.Cols()+1)
	return j.how.Memory.checkBits(entries*minorBits(min(a.Rows(), a.Cols()), a, b), "the exact solution takes")
}

// number returns a rational number, rounded once.
func (j *job) number(x *big.Rat) (halfulp.Scalar, error) {
	m, err := j.round(rational.FromRats([][]*big.Rat{{x}}))
	if err != nil {
		return halfulp.Scalar{}, err
	}
	return m.At(0, 0), nil
}
