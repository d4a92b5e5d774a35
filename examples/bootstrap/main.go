// Bootstrap does what a step of an interior-point method for semidefinite programs of the conformal
// bootstrap spends its time on: Q = Pᵀ P of a tall matrix P in blocks, the Cholesky factor of Q and
// a solve with it, in 1000 bits. Alone it runs on the processors of the machine, under mpiexec on a
// grid of processes, with the same bits.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"math"
	"math/big"
	"runtime"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/mpi"
)

const (
	fullRows, fullCols = 195368, 9437 // of P in a program of SDPB's users: see README.md

	blocks    = 16
	precision = 1000
	wide      = 4000 // bits that hold all sums of products of the checks
)

func main() {
	log.SetFlags(0)
	scale := flag.Int("scale", 200, "what the sizes of P are divided by, of 195368 x 9437")
	threads := flag.Int("threads", 0, "threads of a process (default: the processors, divided by the processes)")
	flag.Parse()
	if *scale < 1 || *scale > fullCols {
		log.Fatalf("-scale is from 1 to %d", fullCols)
	}
	j := job{device: "cpu", where: "one process", first: true}
	processes := 1
	if mpi.Launched() {
		comm, err := distributed.Init()
		check(err)
		processes = comm.Size()
		j.device, j.first = distributed.Device(0, 0), comm.Rank() == 0
		j.where = fmt.Sprintf("%d processes, %s", processes, j.device)
	}
	if *threads < 1 {
		*threads = max(1, runtime.GOMAXPROCS(0)/processes)
	}
	runtime.GOMAXPROCS(*threads)
	j.run(fullRows / *scale, fullCols / *scale)
	if mpi.Launched() {
		mpi.Exit(0)
	}
}

// job is where the matrices live, in words too, and whether this is the process that speaks.
type job struct {
	device halfulp.Device
	where  string
	first  bool
}

func (j job) say(format string, a ...any) {
	if j.first {
		fmt.Printf(format+"\n", a...)
	}
}

// step runs a step and says its time.
func (j job) step(name string, run func() error) {
	start := time.Now()
	check(run())
	j.say("%-20s %9.3f s", name, time.Since(start).Seconds())
}

func (j job) matrix(rows, cols int) *halfulp.Matrix {
	m, err := halfulp.NewMatrixOn(j.device, halfulp.MP(precision), rows, cols)
	check(err)
	return m
}

func (j job) run(rows, cols int) {
	j.say("P is %d x %d in %d blocks of %d bits, %s", rows, cols, blocks, precision, j.where)
	p, q := j.matrix(rows, cols), j.matrix(cols, cols)
	one, zero := halfulp.Float(1), halfulp.Float(0)
	s := newSamples(rows)
	j.step("P, block by block", func() error {
		for b := range blocks {
			i0, i1 := rows*b/blocks, rows*(b+1)/blocks
			if err := p.Slice(i0, i1, 0, cols).CopyFrom(s.block(i0, i1, cols)); err != nil {
				return err
			}
		}
		return nil
	})
	j.step("Q = Pᵀ P", func() error {
		if err := halfulp.Syrk(halfulp.Lower, halfulp.Trans, one, p, zero, q, nil); err != nil {
			return err
		}
		return mirror(q)
	})
	var factors *linsolve.CholeskyFactors
	j.step("Q = L Lᵀ", func() (err error) {
		factors, err = linsolve.Cholesky(q, q.NumberFormat(), nil)
		return err
	})
	// Q times a vector of integers, in enough bits for exact sums: Q x = b has that solution.
	solution, b := halfulp.NewMatrix(q.NumberFormat(), cols, 1), halfulp.NewMatrix(halfulp.MP(wide), cols, 1)
	for i := range cols {
		solution.SetFloat64(i, 0, float64(i%13-6))
	}
	hostQ := host(q)
	err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, hostQ, solution, zero, b, nil)
	check(err)
	right, err := b.On(j.device)
	check(err)
	var x *halfulp.Matrix
	j.step("L Lᵀ x = b", func() (err error) {
		x, err = factors.Solve(right, halfulp.MP(precision), nil)
		return err
	})

	hostL, hostX := host(factors.L), host(x)
	const sampled = 10
	for k := range sampled {
		row, col := k*(cols-1)/(sampled-1), k*7%cols
		if want := s.entryOfQ(row, col); want.Cmp(hostQ.Big(row, col)) != 0 {
			log.Fatalf("Q[%d][%d] is not the correctly rounded sum", row, col)
		}
	}
	j.say("Q: %d entries are the sums of math/big in %d bits, rounded once", sampled, wide)
	residual := halfulp.NewMatrix(halfulp.Float64, cols, cols)
	err = halfulp.GemmTo(halfulp.NoTrans, halfulp.Trans, one, hostL, hostL, halfulp.Float(-1), hostQ, residual, nil)
	check(err)
	j.say("L: |L Lᵀ - Q| is at most 2^%.1f of the diagonal", math.Log2(relative(residual, hostQ)))
	if !hostX.Same(solution) {
		log.Fatal("x is not what b was made of")
	}
	j.say("x: the %d integers that b was made of, without error", cols)
	j.say("sha256 of Q, L, x: %x", hash(hostQ, hostL, hostX))
}

// mirror copies the lower triangle of Q to the upper one.
func mirror(q *halfulp.Matrix) error {
	n := q.Rows()
	if n <= 64 {
		h, err := q.Host()
		if err != nil {
			return err
		}
		for i := range n {
			for k := range i {
				h.Set(k, i, h.At(i, k))
			}
		}
		return q.CopyFrom(h)
	}
	half := n / 128 * 64
	if half == 0 {
		half = 64
	}
	if err := q.Slice(0, half, half, n).CopyFrom(q.Slice(half, n, 0, half).T()); err != nil {
		return err
	}
	if err := mirror(q.Slice(0, half, 0, half)); err != nil {
		return err
	}
	return mirror(q.Slice(half, n, half, n))
}

// samples holds points of [-1, 1], dense at both ends like Chebyshev points, and weights; blocks
// differ in scale, as slacks of constraints do.
type samples struct{ points, weights []*big.Float }

func newSamples(rows int) (s samples) {
	three := big.NewFloat(3)
	for i := range rows {
		// x = (3 t - t³) / 2, the t equidistant
		t, x := numbers(1)[0], numbers(1)[0]
		t.Quo(t.SetInt64(int64(2*i+1-rows)), big.NewFloat(float64(rows)))
		x.Mul(x.Sub(three, x.Mul(t, t)), t)
		w := numbers(1)[0].SetInt64(int64(2 + i%7))
		s.points = append(s.points, x.SetMantExp(x, -1))
		s.weights = append(s.weights, w.SetMantExp(w.Sqrt(w), -4*(i*blocks/rows%4)))
	}
	return s
}

// row sets p[k] = w T_k(x), T_k a Chebyshev polynomial, w the weight of the sample.
func (s samples) row(i int, p []*big.Float) {
	x, w := s.points[i], s.weights[i]
	twice := new(big.Float).Add(x, x)
	for k := range p {
		switch k {
		case 0:
			p[k].Set(w)
		case 1:
			p[k].Mul(w, x)
		default:
			p[k].Sub(p[k].Mul(twice, p[k-1]), p[k-2])
		}
	}
}

func numbers(n int) []*big.Float {
	z := make([]*big.Float, n)
	for i := range z {
		z[i] = new(big.Float).SetPrec(precision)
	}
	return z
}

// block returns rows i0 to i1-1 of P.
func (s samples) block(i0, i1, cols int) *halfulp.Matrix {
	m, p := halfulp.NewMatrix(halfulp.MP(precision), i1-i0, cols), numbers(cols)
	for i := range i1 - i0 {
		s.row(i0+i, p)
		for k, x := range p {
			m.SetBig(i, k, x)
		}
	}
	return m
}

// entryOfQ returns the sum over all samples that is an entry of Q, rounded once.
func (s samples) entryOfQ(row, col int) *big.Float {
	sum, term := new(big.Float).SetPrec(wide), new(big.Float).SetPrec(wide)
	p := numbers(max(row, col) + 1)
	for i := range s.points {
		s.row(i, p)
		sum.Add(sum, term.Mul(p[row], p[col]))
	}
	return sum.SetPrec(precision)
}

// relative returns the largest |r_ik| / √(q_ii q_kk).
func relative(r, q *halfulp.Matrix) (most float64) {
	n := q.Rows()
	for i := range n {
		for k := range n {
			most = max(most, math.Abs(r.Float64(i, k))/math.Sqrt(q.Float64(i, i)*q.Float64(k, k)))
		}
	}
	return most
}

func host(m *halfulp.Matrix) *halfulp.Matrix {
	h, err := m.Host()
	check(err)
	return h
}

func hash(list ...*halfulp.Matrix) []byte {
	h := sha256.New()
	for _, m := range list {
		b, err := m.MarshalBinary()
		check(err)
		h.Write(b)
	}
	return h.Sum(nil)[:12]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
