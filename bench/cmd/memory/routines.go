package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// A routine has operands and returns results.
type routine struct {
	name     string
	operands func(p *problem) []*halfulp.Matrix
	run      func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error)
}

// A problem makes operands.
type problem struct {
	format halfulp.Format
	n      int
	opt    *halfulp.Options
}

func names() (list []string) {
	for _, r := range routines {
		list = append(list, r.name)
	}
	return list
}

// routines lists the routines measured. Matrices are square of order n, for lstsq n x n/2.
var routines = []routine{
	{"gemm", func(p *problem) []*halfulp.Matrix {
		return []*halfulp.Matrix{p.random(1, p.n, p.n), p.random(2, p.n, p.n)}
	}, func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
		c := halfulp.NewMatrix(p.format, p.n, p.n)
		err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), in[0], in[1], halfulp.Float(0), c, p.opt)
		return []*halfulp.Matrix{c}, err
	}},
	{"solve1", systems(1), solve},
	{"solven", systems(0), solve},
	{"inv", one, func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
		x, err := linsolve.Inverse(in[0], p.format, p.opt)
		return []*halfulp.Matrix{x}, err
	}},
	{"det", one, func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
		d, err := linsolve.Det(in[0], p.format, p.opt)
		if err != nil {
			return nil, err
		}
		x := halfulp.NewMatrix(p.format, 1, 1)
		x.Set(0, 0, d)
		return []*halfulp.Matrix{x}, nil
	}},
	{"lu", one, func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
		z, err := linsolve.LU(in[0], p.format, p.opt)
		if err != nil {
			return nil, err
		}
		return []*halfulp.Matrix{z.L, z.U}, nil
	}},
	{"qr", one, func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
		z, err := linsolve.QR(in[0], p.format, p.opt)
		if err != nil {
			return nil, err
		}
		return []*halfulp.Matrix{z.Q, z.R}, nil
	}},
	{"chol", func(p *problem) []*halfulp.Matrix {
		// Strictly dominant diagonals make it positive definite.
		a := p.random(1, p.n, p.n)
		for j := range p.n {
			for i := range j {
				a.Set(i, j, a.At(j, i))
			}
			a.Set(j, j, halfulp.Float(float64(p.n)))
		}
		return []*halfulp.Matrix{a}
	}, func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
		z, err := linsolve.Cholesky(in[0], p.format, p.opt)
		if err != nil {
			return nil, err
		}
		return []*halfulp.Matrix{z.L}, nil
	}},
	{"lstsq", func(p *problem) []*halfulp.Matrix {
		return []*halfulp.Matrix{p.random(1, p.n, max(p.n/2, 1)), p.random(2, p.n, 1)}
	}, func(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
		x, err := linsolve.LeastSquares(in[0], in[1], p.format, &linsolve.LeastSquaresOptions{Options: *p.opt})
		return []*halfulp.Matrix{x}, err
	}},
}

func one(p *problem) []*halfulp.Matrix { return []*halfulp.Matrix{p.random(1, p.n, p.n)} }

// systems returns operands with so many right-hand sides, or n for 0.
func systems(columns int) func(p *problem) []*halfulp.Matrix {
	return func(p *problem) []*halfulp.Matrix {
		k := columns
		if k == 0 {
			k = p.n
		}
		return []*halfulp.Matrix{p.random(1, p.n, p.n), p.random(2, p.n, k)}
	}
}

func solve(p *problem, in []*halfulp.Matrix) ([]*halfulp.Matrix, error) {
	x, err := linsolve.Solve(in[0], in[1], p.format, p.opt)
	return []*halfulp.Matrix{x}, err
}

// random returns a matrix of numbers in (-1, 1) with all bits of the format.
func (p *problem) random(seed uint64, rows, cols int) *halfulp.Matrix {
	return gallery.Random(p.format, rows, cols, 0, seed)
}

// size returns the bytes of matrices, as Options.MemoryLimit counts them.
func (p *problem) size(list []*halfulp.Matrix) (bytes int64) {
	each := int64(8)
	if p.format.IsMP() {
		each = int64(p.format.Bits()+63)/64*8 + 5
	}
	for _, m := range list {
		if m != nil { // there is none after an error
			bytes += each * int64(m.Rows()) * int64(m.Cols())
		}
	}
	return bytes
}

// answerJob does the job on standard input and writes its answer to standard output.
func answerJob() error {
	var j job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		return err
	}
	k := slices.IndexFunc(routines, func(r routine) bool { return r.name == j.Routine })
	if k < 0 {
		return fmt.Errorf("no routine is named %q", j.Routine)
	}
	p := &problem{format: halfulp.Float64, n: j.N, opt: &halfulp.Options{Device: "cpu", Threads: j.Threads, MemoryLimit: j.Limit}}
	if j.Bits != 53 {
		p.format = halfulp.MP(uint(j.Bits))
	}
	in := routines[k].operands(p)
	debug.FreeOSMemory()
	var a answer
	var err error
	if a.Before, err = status("VmRSS"); err != nil {
		return err
	}
	// The peak begins anew.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return err
	}
	start := time.Now()
	out, failed := routines[k].run(p, in)
	a.Seconds = time.Since(start).Seconds()
	if a.Peak, err = status("VmHWM"); err != nil {
		return err
	}
	a.Results = p.size(out)
	a.Data = p.size(in) + a.Results
	switch {
	case failed != nil:
		a.Results = 0
	case slices.Contains([]string{"lu", "qr", "chol"}, j.Routine):
		a.Results += p.size(in)
	}
	a.Scratch = a.Peak - a.Before - a.Results
	if failed != nil {
		a.Error = failed.Error()
	} else {
		hash := sha256.New()
		for _, m := range out {
			text, err := m.MarshalBinary()
			if err != nil {
				return err
			}
			hash.Write(text)
		}
		a.Hash = fmt.Sprintf("%x", hash.Sum(nil)[:8])
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	a.After = int64(m.HeapInuse)
	runtime.KeepAlive(in)
	runtime.KeepAlive(out)
	return json.NewEncoder(os.Stdout).Encode(a)
}

// status returns a size that Linux tells of this process.
func status(name string) (bytes int64, err error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, name+": %d kB", &bytes); err == nil {
			return bytes << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no %s", name)
}
