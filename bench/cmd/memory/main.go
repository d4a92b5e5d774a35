// Memory measures the most memory that routines hold under limits: each in a process of its own,
// whose peak of resident memory counts from the moment the operands are there. It compares results
// under limits with those without, bit by bit. What a limit bounds is the peak beyond operands and
// results.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// A job is a routine, its operands and its limit.
type job struct {
	Routine string `json:"routine"`
	N       int    `json:"n"`
	Bits    int    `json:"bits"` // 53 is float64
	Threads int    `json:"threads"`
	Limit   int64  `json:"limit"` // Options.MemoryLimit; 0 is the default
}

// A figure is what became of a job.
type figure struct {
	job
	Times float64 `json:"times,omitempty"` // the limit as a multiple of Data
	answer
	// Same says that the result has the bits of the result without a limit. It is absent where one
	// of them is.
	Same *bool `json:"same,omitempty"`
}

// An answer is what the process of a job finds. Sizes are in bytes.
type answer struct {
	Data    int64   `json:"data"`    // operands and results
	Results int64   `json:"results"` // and the copies of operands that factors keep
	Before  int64   `json:"before"`  // resident before the routine runs, with the operands
	Peak    int64   `json:"peak"`    // most that was resident while the routine ran
	Scratch int64   `json:"scratch"` // what the peak is beyond Before and Results
	After   int64   `json:"after"`   // heap in use after a collection, with operands and results
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
	Hash    string  `json:"hash,omitempty"` // of the bits of the results
}

type results struct {
	Command string          `json:"command"`
	Date    time.Time       `json:"date"`
	Commit  string          `json:"commit"`
	Dirty   bool            `json:"dirty"`
	Go      string          `json:"go"`
	Machine machine.Machine `json:"machine"`
	Figures []figure        `json:"figures"`
}

// child is the argument of the process of a job, which reads the job from standard input.
const child = "child"

func main() {
	if len(os.Args) == 2 && os.Args[1] == child {
		if err := answerJob(); err != nil {
			fmt.Fprintln(os.Stderr, "memory:", err)
			os.Exit(1)
		}
		return
	}
	routines := flag.String("routines", strings.Join(names(), ","), "routines")
	sizes := flag.String("sizes", "2500:53,400:1000", "orders and bits, such as 600:53,120:1000; 53 is float64")
	limits := flag.String("limits", "4x,2x,30M", "limits: multiples of operands and results, or sizes in megabytes")
	threads := flag.Int("threads", runtime.NumCPU(), "threads")
	seconds := flag.Float64("seconds", 600, "seconds after which a job is ended")
	path := flag.String("json", "", "file for the figures")
	flag.Parse()
	r := results{
		Command: "go run ./cmd/memory " + strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Truncate(time.Second),
		Go: runtime.Version(), Machine: machine.Describe(),
	}
	r.Commit, r.Dirty = record.Commit()
	err := r.measure(os.Stdout, strings.Split(*routines, ","), strings.Split(*sizes, ","), strings.Split(*limits, ","), *threads, *seconds)
	if err = errors.Join(err, record.Write(*path, r)); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

// measure runs every routine at every size, first without a limit, and prints a line for each.
func (r *results) measure(w io.Writer, routines, sizes, limits []string, threads int, seconds float64) error {
	fmt.Fprintf(w, "%-8s %5s %5s %9s %9s %9s %9s %6s %8s  %s\n", "", "n", "bits", "data MB", "limit MB", "peak", "scratch", "/limit", "seconds", "")
	for _, size := range sizes {
		var n, bits int
		if _, err := fmt.Sscanf(size, "%d:%d", &n, &bits); err != nil {
			return fmt.Errorf("size %q: %w", size, err)
		}
		for _, name := range routines {
			free := figure{job: job{Routine: name, N: n, Bits: bits, Threads: threads}}
			if err := run(&free, seconds); err != nil {
				return err
			}
			r.show(w, free)
			for _, limit := range limits {
				f := figure{job: free.job}
				var x float64
				switch _, err := fmt.Sscanf(limit, "%g", &x); {
				case err != nil || x <= 0:
					return fmt.Errorf("limit %q is no multiple and no size", limit)
				case strings.HasSuffix(limit, "x"):
					f.Times, f.Limit = x, int64(x*float64(free.Data))
				case strings.HasSuffix(limit, "M"):
					f.Limit = int64(1e6 * x)
				default:
					return fmt.Errorf("limit %q: want 4x or 30M, say", limit)
				}
				if err := run(&f, seconds); err != nil {
					return err
				}
				f.Data = free.Data // which lacks the results that a routine refuses to compute
				if f.Hash != "" && free.Hash != "" {
					same := f.Hash == free.Hash
					f.Same = &same
				}
				r.show(w, f)
			}
		}
	}
	return nil
}

// show prints a figure and keeps it.
func (r *results) show(w io.Writer, f figure) {
	r.Figures = append(r.Figures, f)
	limit, share := "-", "-"
	if f.Limit > 0 {
		limit, share = fmt.Sprintf("%.1f", float64(f.Limit)/1e6), fmt.Sprintf("%.2f", float64(f.Scratch)/float64(f.Limit))
	}
	what := f.Error
	if f.Same != nil && !*f.Same {
		what = "ANOTHER RESULT"
	}
	fmt.Fprintf(w, "%-8s %5d %5d %9.1f %9s %9.1f %9.1f %6s %8.2f  %s\n", f.Routine, f.N, f.Bits, float64(f.Data)/1e6, limit, float64(f.Peak)/1e6, float64(f.Scratch)/1e6, share, f.Seconds, what)
}

// run has a process of its own do the job of f. A process that is ended, by the system or as it
// takes too long, is an error in the figure.
func run(f *figure, seconds float64) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := json.Marshal(f.job)
	if err != nil {
		return err
	}
	cmd := exec.Command(self, child)
	var out, trace bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &trace
	if err := cmd.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(time.Duration(seconds*1e9), func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(trace.String()), "\n")
		f.Error = strings.TrimSpace("the process ended: " + err.Error() + " " + first)
		return nil //nolint:nilerr // the figure tells it
	}
	return json.Unmarshal(out.Bytes(), &f.answer)
}
