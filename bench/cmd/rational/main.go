// Rational measures package rational beside python-flint, in turn in one run: solutions of A x = b,
// inverses, determinants, null spaces of n x (n + 2) matrices, and characteristic polynomials, for
// random integers. It compares the results.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/rational"
)

// peersOf are the functions of python-flint for a workload. The fastest one counts.
var peersOf = map[string][]string{
	"solve":     {"solve_fmpz", "solve_dixon"},
	"inverse":   {"inverse_fmpz", "inverse_fmpq"},
	"det":       {"det_fmpz"},
	"nullspace": {"nullspace_fmpz"},
	"charpoly":  {"charpoly_fmpz"},
}

// A cell is a problem with medians of milliseconds. It is stored as a list, in this order.
type cell struct {
	workload         string
	n, bits, threads int
	ours, flint      seconds
	peer             string // the function of python-flint
	runs             int    // of each
	times            int    // computations in a run
}

// columns are the names of the elements of a stored cell.
const columns = "workload, n, bits, threads, processor ms of halfulp and of FLINT, wall-clock ms of halfulp and of FLINT, runs"

// seconds are the times of a run.
type seconds struct{ processor, wall float64 }

func (c cell) MarshalJSON() ([]byte, error) {
	ms := func(x float64) float64 { // four digits
		y, _ := strconv.ParseFloat(strconv.FormatFloat(1e3*x, 'g', 4, 64), 64)
		return y
	}
	return json.Marshal([]any{c.workload, c.n, c.bits, c.threads, ms(c.ours.processor), ms(c.flint.processor), ms(c.ours.wall), ms(c.flint.wall), c.runs})
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	Level   string          `json:"level"`
	Peer    string          `json:"peer"`
	Columns string          `json:"columns"`
	Cells   []cell          `json:"cells"`
}

// conditions are the same for all cells of a run.
type conditions struct {
	repeats          int
	seconds, longest float64
	most, inverses   int             // n times bits
	took             map[string]cost // by workload, bits and method
}

// cost is the time of a method in seconds for order n.
type cost struct {
	n       int
	seconds float64
}

func main() {
	orders := flag.String("n", "10,50,200,500", "orders")
	sizes := flag.String("bits", "10,100,1000", "bits of entries")
	threads := flag.String("threads", "1,2", "threads")
	workloads := flag.String("workloads", "solve,inverse,det,nullspace,charpoly", "workloads")
	repeats := flag.Int("repeats", 5, "runs of each method")
	limit := flag.Float64("seconds", 3, "a method is not repeated once its runs of a problem have taken so long")
	longest := flag.Float64("longest", 60, "a method of python-flint is left out if its time at the last order predicts a run of more seconds, unless it is the only one")
	peers := flag.String("peers", "", "functions of python-flint that are measured; empty: all")
	most := flag.Int("most", 500*1000, "largest order times bits")
	inverses := flag.Int("inverses", 200*1000, "the same for inverses and characteristic polynomials")
	interpreter := flag.String("python", "python3", "Python with python-flint; empty: none")
	profile := flag.String("profile", "", "file for a profile of the processor")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	if *peers != "" {
		for name, all := range peersOf {
			peersOf[name] = slices.DeleteFunc(all, func(x string) bool { return !slices.Contains(strings.Split(*peers, ","), x) })
		}
	}
	r := results{
		Command: "go run ./cmd/rational " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(), Level: isa.Level().String(), Columns: columns,
	}
	r.Commit, r.Dirty = record.Commit()
	at := &conditions{repeats: *repeats, seconds: *limit, longest: *longest, most: *most, inverses: *inverses, took: map[string]cost{}}
	err := r.profiled(*profile, func() error {
		return r.measure(*path, list(*orders), list(*sizes), list(*threads), strings.Split(*workloads, ","), at, *interpreter)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "rational:", err)
		os.Exit(1)
	}
}

// list returns the integers of a list.
func list(text string) (z []int) {
	for _, x := range strings.Split(text, ",") {
		v, err := strconv.Atoi(x)
		if err != nil {
			fmt.Fprintln(os.Stderr, "rational:", err)
			os.Exit(2)
		}
		z = append(z, v)
	}
	return z
}

func (r *results) profiled(path string, run func() error) error {
	if path == "" {
		return run()
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	err = run()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

// wanted reports whether the workload is measured for this problem: inverses take the memory of n³
// times the bits, and characteristic polynomials n^4 times the bits of time.
func (at *conditions) wanted(workload string, n, bits int) bool {
	switch workload {
	case "inverse":
		return n*bits <= at.inverses && (n < 500 || bits <= 100)
	case "charpoly":
		return n <= 200 && n*bits <= at.inverses
	}
	return n*bits <= at.most
}

// measure measures all cells and prints a line for each. It writes the file again after each cell.
func (r *results) measure(path string, orders, sizes, threads []int, workloads []string, at *conditions, interpreter string) error {
	var p *peer.Python
	if interpreter != "" {
		var err error
		if p, err = peer.StartPython(interpreter, script); err != nil {
			return err
		}
		defer p.Stop()
		r.Peer = p.Version
	}
	for _, n := range orders {
		for _, bits := range sizes {
			x := newProblem(n, bits)
			if p != nil {
				if err := x.load(p); err != nil {
					return err
				}
			}
			for _, count := range threads {
				if p != nil {
					if _, err := p.Ask(fmt.Sprint("threads ", count)); err != nil {
						return err
					}
				}
				for _, workload := range workloads {
					if !at.wanted(workload, n, bits) {
						continue
					}
					c := cell{workload: workload, n: n, bits: bits, threads: count, times: max(1, 4000000/(n*n*n)/bits)}
					if err := c.measure(x, p, at); err != nil {
						return fmt.Errorf("%s n = %d, %d bits: %w", workload, n, bits, err)
					}
					r.Cells = append(r.Cells, c)
					fmt.Println(c)
					if err := record.Write(path, r); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// String returns a line for the cell.
func (c cell) String() string {
	z := fmt.Sprintf("%-9s n = %3d, %4d bits, %d threads, processor ms: %10.3f", c.workload, c.n, c.bits, c.threads, 1e3*c.ours.processor)
	if c.peer != "" {
		z += fmt.Sprintf("; %s %10.3f, quotient %.2f, of wall-clock times %.2f", c.peer, 1e3*c.flint.processor,
			c.flint.processor/c.ours.processor, c.flint.wall/c.ours.wall)
	}
	return z
}

// measure times halfulp and python-flint in turn, and compares the results of the first runs.
func (c *cell) measure(x *problem, p *peer.Python, at *conditions) error {
	var ours []seconds
	flint := map[string][]seconds{}
	total := map[string]float64{}
	var hash string
	for range at.repeats {
		if total[""] <= at.seconds {
			t, result, err := x.run(c)
			if err != nil {
				return err
			}
			if hash == "" && p != nil {
				hash = result()
			}
			ours = append(ours, t)
			total[""] += t.processor
		}
		for _, name := range peersOf[c.workload] {
			if p == nil || total[name] > at.seconds {
				continue
			}
			key := fmt.Sprint(name, c.bits)
			if last := at.took[key]; len(peersOf[c.workload]) > 1 && last.seconds*math.Pow(float64(c.n)/float64(max(1, last.n)), 3) > at.longest {
				continue
			}
			t, err := pythonTime(p, name, c.times)
			if err != nil {
				return err
			}
			at.took[key] = cost{c.n, t.processor}
			if len(flint[name]) == 0 {
				other, err := p.Ask("hash " + name)
				if err != nil {
					return err
				}
				if other != hash {
					return fmt.Errorf("results differ: %s of halfulp, %s of %s", hash, other, name)
				}
			}
			flint[name] = append(flint[name], t)
			total[name] += t.processor
		}
	}
	c.ours, c.runs = median(ours), len(ours)
	for name, t := range flint {
		if m := median(t); c.peer == "" || m.processor < c.flint.processor {
			c.flint, c.peer = m, name
		}
	}
	return nil
}

// median returns the medians of both times.
func median(t []seconds) seconds {
	var processor, wall []float64
	for _, x := range t {
		processor, wall = append(processor, x.processor), append(wall, x.wall)
	}
	slices.Sort(processor)
	slices.Sort(wall)
	return seconds{processor[len(t)/2], wall[len(t)/2]}
}

// problem has random integers of a number of bits.
type problem struct {
	n       int
	wide    [][]*big.Int // n x (n + 2)
	right   [][]*big.Int // n x 1
	a, b, w *rational.Matrix
}

func newProblem(n, bits int) *problem {
	r := rand.New(rand.NewPCG(1, uint64(n*bits)))
	number := func() *big.Int {
		z := new(big.Int)
		for range (bits + 63) / 64 {
			z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(r.Uint64()))
		}
		if z.Rsh(z, uint((bits+63)/64*64-bits)); r.IntN(2) == 0 {
			z.Neg(z)
		}
		return z
	}
	x := &problem{n: n}
	var square [][]*big.Int
	for range n {
		row := make([]*big.Int, n+2)
		for j := range row {
			row[j] = number()
		}
		x.wide, x.right, square = append(x.wide, row), append(x.right, []*big.Int{number()}), append(square, row[:n])
	}
	x.a, x.b, x.w = rational.FromInts(square), rational.FromInts(x.right), rational.FromInts(x.wide)
	return x
}

// run computes the workload. The function returned hashes the result.
func (x *problem) run(c *cell) (seconds, func() string, error) {
	opt := &halfulp.Options{Threads: c.threads}
	var matrix *rational.Matrix
	var numbers []*big.Rat
	var err error
	runtime.GC()                                            // garbage of other runs
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.threads)) // with the collector of garbage
	processor, wall := processorTime(), time.Now()
	for range c.times {
		matrix, numbers, err = x.compute(c.workload, opt)
	}
	per := float64(c.times)
	t := seconds{(processorTime() - processor) / per, time.Since(wall).Seconds() / per}
	return t, func() string { return hash(c, matrix, numbers) }, err
}

// compute runs the workload once.
func (x *problem) compute(workload string, opt *halfulp.Options) (matrix *rational.Matrix, numbers []*big.Rat, err error) {
	switch workload {
	case "solve":
		matrix, err = rational.Solve(x.a, x.b, opt)
	case "inverse":
		matrix, err = rational.Inverse(x.a, opt)
	case "det":
		var d *big.Rat
		d, err = rational.Det(x.a, opt)
		numbers = []*big.Rat{d}
	case "nullspace":
		matrix, err = rational.NullSpace(x.w, opt)
	case "charpoly":
		numbers, err = rational.CharPoly(x.a, opt)
	default:
		err = fmt.Errorf("no workload %q", workload)
	}
	return matrix, numbers, err
}

// hash returns the hash of flint.py.
func hash(c *cell, m *rational.Matrix, numbers []*big.Rat) string {
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
	residue := func(x *big.Rat) *big.Int {
		d := new(big.Int).ModInverse(x.Denom(), prime)
		return d.Mod(d.Mul(d, new(big.Int).Mod(x.Num(), prime)), prime)
	}
	var z []string
	if m == nil {
		for _, x := range numbers {
			z = append(z, residue(x).Text(16))
		}
	} else {
		by := make([]*big.Int, m.Cols())
		for j := range by {
			if by[j] = big.NewInt(1); c.workload == "nullspace" {
				by[j].ModInverse(residue(m.At(m.Rows()-m.Cols()+j, j)), prime)
			}
		}
		for i := range m.Rows() {
			for j := range m.Cols() {
				x := residue(m.At(i, j))
				z = append(z, x.Mod(x.Mul(x, by[j]), prime).Text(16))
			}
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(z, " "))))[:16]
}

// processorTime returns the processor seconds of this process.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
