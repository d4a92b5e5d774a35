package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// What no record has. Rates are bytes a second one way, times seconds.
const (
	PeerRate = 382e9 // measured between two H200 of one host
	OwnRate  = 25e9  // measured: products of operands of the host, transfers and staging together

	LinkRate   = 50e9    // a data sheet's: 400 Gb/s
	MemoryRate = 3.35e12 // a data sheet's: of an H100

	PeerDelay = 10e-6 // assumed, a copy within a node
	LinkDelay = 20e-6 // assumed, a message between nodes
	NodeGPUs  = 8
	roomShare = 0.9 // assumed, of a GPU's memory, for matrices and residues
)

// point is a measured product on one GPU: seconds of its stages.
type point struct{ n, bits, products, multiply, residues, finish, scan, all float64 }

// stages holds the times of the stages of a solver on one GPU, in seconds.
type stages struct{ seed, proof, products, rounding, all float64 }

// Measured is what the records of an H100 say.
type Measured struct {
	Memory float64 // bytes
	points []point
	gemm   map[[2]int]float64           // whole products of the solvers' record, by n and bits
	solver map[string]map[[2]int]stages // by operation, n and bits
}

// Read reads bench/records under the tree's root.
func Read(root string) (*Measured, error) {
	m := &Measured{gemm: map[[2]int]float64{}, solver: map[string]map[[2]int]stages{}}
	var products struct {
		Machine struct {
			Devices []struct {
				Memory float64 `json:"memory"`
			} `json:"devices"`
		} `json:"machine"`
		Figures []struct {
			Benchmark string  `json:"benchmark"`
			All       float64 `json:"ms"`
			Products  float64 `json:"products"`
			Multiply  float64 `json:"products-ms"`
			Residues  float64 `json:"residues-ms"`
			Finish    float64 `json:"finish-ms"`
			Scan      float64 `json:"scan-ms"`
		} `json:"figures"`
	}
	if err := readJSON(root, "h100-gemm.json.gz", &products); err != nil {
		return nil, err
	}
	for _, d := range products.Machine.Devices {
		m.Memory = max(m.Memory, d.Memory)
	}
	for _, f := range products.Figures {
		var n, bits, threads float64
		if k, _ := fmt.Sscanf(f.Benchmark, "BenchmarkGemm/n=%f/bits=%f/spread=0-%f", &n, &bits, &threads); k == 3 {
			m.points = append(m.points, point{n, bits, f.Products, f.Multiply / 1e3, f.Residues / 1e3, f.Finish / 1e3, f.Scan / 1e3, f.All / 1e3})
		}
	}
	var solvers solverRecord
	if err := readJSON(root, "h100-linsolve.json.gz", &solvers); err != nil {
		return nil, err
	}
	if err := m.addSolvers(&solvers); err != nil {
		return nil, err
	}
	for _, n := range []int{small, large} {
		for _, bits := range solverBits {
			key := [2]int{n, bits}
			if m.gemm[key] == 0 || m.solver["solve"][key].all == 0 || m.solver["chol"][key].all == 0 {
				return nil, fmt.Errorf("the records of the H100 lack products, Solve or Cholesky of order %d with %d bits", n, bits)
			}
		}
	}
	if len(m.points) == 0 || m.Memory == 0 {
		return nil, errors.New("the records of the H100 have no figures")
	}
	return m, nil
}

// A solverRecord is a record of "halfulp bench" for solvers, of this version or an earlier one.
type solverRecord struct {
	Cases []struct {
		Operation string  `json:"operation"`
		N         int     `json:"n"`
		Format    string  `json:"format"`
		Median    float64 `json:"median_ns"`
		Stats     struct {
			Stages []struct {
				Name string  `json:"name"`
				Time float64 `json:"ns"`
			} `json:"stages"`
		} `json:"stats"`
	} `json:"cases"`
	Before  *solverRecord `json:"before"`
	Earlier *solverRecord `json:"earlier"`
}

// addSolvers takes the cases of a record, and those that it lacks of versions before.
func (m *Measured) addSolvers(r *solverRecord) error {
	if r == nil {
		return nil
	}
	for _, c := range r.Cases {
		bits := 53
		if c.Format != "f64" {
			if _, err := fmt.Sscanf(c.Format, "mp:%d", &bits); err != nil {
				return fmt.Errorf("format %q: %w", c.Format, err)
			}
		}
		key := [2]int{c.N, bits}
		if c.Operation == "gemm" {
			if m.gemm[key] == 0 {
				m.gemm[key] = c.Median / 1e9
			}
			continue
		}
		if m.solver[c.Operation] == nil {
			m.solver[c.Operation] = map[[2]int]stages{}
		}
		if _, known := m.solver[c.Operation][key]; known {
			continue
		}
		s := stages{all: c.Median / 1e9}
		for _, x := range c.Stats.Stages {
			switch x.Name {
			case "approximate inverse":
				s.seed += x.Time / 1e9
			case "proof":
				s.proof += x.Time / 1e9
			case "products":
				s.products += x.Time / 1e9
			case "rounding":
				s.rounding += x.Time / 1e9
			}
		}
		m.solver[c.Operation][key] = s
	}
	return errors.Join(m.addSolvers(r.Before), m.addSolvers(r.Earlier))
}

func readJSON(root, name string, to any) error {
	file, err := os.Open(filepath.Join(root, "bench/records", name))
	if err != nil {
		return err
	}
	defer file.Close()
	var text io.Reader = file
	if filepath.Ext(name) == ".gz" {
		if text, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := json.NewDecoder(text).Decode(to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// at returns the point of that order and precision.
func (m *Measured) at(n, bits float64) point {
	for _, p := range m.points {
		if p.n == n && p.bits == bits {
			return p
		}
	}
	panic("scale: not measured")
}

var measuredBits = []float64{53, 106, 212, 424, 848, 1696}

// between interpolates a function of the precision linearly between measured ones.
func between(bits float64, of func(bits float64) float64) float64 {
	for i := 1; i < len(measuredBits); i++ {
		lo, hi := measuredBits[i-1], measuredBits[i]
		if bits <= hi {
			t := (bits - lo) / (hi - lo)
			return (1-t)*of(lo) + t*of(hi)
		}
	}
	panic("scale: more bits than measured")
}

// small and large are the orders between which rates are fitted.
const small, large = 1000, 4096

// costs holds the costs of a product of some precision on one GPU.
type costs struct {
	bytes    float64 // of a number
	scan     float64 // seconds for a number of an operand
	residues float64
	finish   float64 // for an entry of the result
	products float64 // of byte matrices at order large
	inverse  float64 // seconds for a byte multiply-add in the limit, and
	slope    float64 // for one more over the geometric mean of the result's sides
}

func (m *Measured) costs(bits float64) costs {
	entry := func(f func(p point) float64) float64 {
		return between(bits, func(b float64) float64 { return f(m.at(large, b)) })
	}
	rate := func(n float64) float64 {
		return between(bits, func(b float64) float64 {
			p := m.at(n, b)
			return p.multiply / (n * n * n * p.products)
		})
	}
	const square = large * large
	c := costs{
		bytes:    bits/8 + 5,
		scan:     entry(func(p point) float64 { return p.scan / (2 * square) }),
		residues: entry(func(p point) float64 { return p.residues / (2 * square) }),
		finish:   entry(func(p point) float64 { return p.finish / square }),
		products: entry(func(p point) float64 { return p.products }),
	}
	if bits == 53 {
		c.bytes = 8
	}
	c.slope = (rate(small) - rate(large)) / (1.0/small - 1.0/large)
	c.inverse = rate(large) - c.slope/large
	return c
}

// count is how many byte matrices stand for an operand whose sums have that many terms: as many
// more as the sums have bits, one for each doubling of the terms.
func (c costs) count(bits, terms float64) float64 {
	return c.products * (1 + math.Log2(terms/large)/(2*bits+math.Log2(large)))
}

// multiply returns the time of a product of residues, m x k by k x n.
func (c costs) multiply(bits, m, k, n, terms float64) float64 {
	return m * k * n * c.count(bits, terms) * (c.inverse + c.slope/math.Sqrt(m*n))
}

// fit returns the a and b of a + b x through two points.
func fit(x0, y0, x1, y1 float64) (a, b float64) {
	b = (y1 - y0) / (x1 - x0)
	return y0 - b*x0, b
}
