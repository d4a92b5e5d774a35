// Pictures writes the parts of the documents that are made from the records of measurements.
//
// usage: pictures ROOT FOLDER
//
// It reads bench/records of the repository in ROOT. It writes plots as FOLDER/NAME.svg, and the
// verdicts on the papers' claims as FOLDER/verdicts.md.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halfulp/halfulp/reproduce"
)

// record is what the plots need of a file of bench/records. A figure without a median was skipped.
type record struct {
	Figures []struct {
		Workload string  `json:"workload"`
		N        int     `json:"n"`
		Bits     float64 `json:"bits"`
		Kappa    float64 `json:"kappa"`
		Method   string  `json:"method"`
		Median   float64 `json:"median"`
		// Of benchmarks on GPUs:
		Benchmark    string  `json:"benchmark"`
		Milliseconds float64 `json:"ms"`
	} `json:"figures"`
}

func readRecord(root, name string) (*record, error) {
	path := filepath.Join(root, "bench/records", name+".json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) { // a long record
		text, err = uncompressed(path + ".gz")
	}
	if err != nil {
		return nil, err
	}
	r := new(record)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// series collects points by the names of lines, in the order of first appearance.
type series []reproduce.Series

func (s *series) add(name string, x, y float64) {
	if y == 0 {
		return
	}
	k := slices.IndexFunc(*s, func(l reproduce.Series) bool { return l.Name == name })
	if k < 0 {
		k = len(*s)
		*s = append(*s, reproduce.Series{Name: name, Colour: colourOf(name)})
	}
	(*s)[k].Points = append((*s)[k].Points, [2]float64{x, y})
}

// libraries are the first words of the names of methods. Each library has its own colour, which is
// the same in all plots.
var libraries = []string{"halfulp", "OpenBLAS", "Arb", "MPFR", "math/big.Float", "FLINT", "QD"}

// colourOf returns the number of the colour of a method's library, or 0 for other lines.
func colourOf(method string) int {
	library, _, _ := strings.Cut(method, " ")
	if library == "LAPACK" {
		library = "OpenBLAS" // which has the routines of LAPACK
	}
	return slices.Index(libraries, library) + 1
}

// hardwareBits is the only precision of OpenBLAS. Its figures at other precisions were measured
// beside those of halfulp, to show the state of the machine.
const hardwareBits = 53

// first puts the line of that name before the others.
func (s series) first(name string) series {
	slices.SortStableFunc(s, func(a, b reproduce.Series) int {
		switch name {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return s
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pictures ROOT FOLDER")
		os.Exit(2)
	}
	root, folder := os.Args[1], os.Args[2]
	if err := errors.Join(plots(root, folder), verdicts(root, filepath.Join(folder, "verdicts.md"))); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// plots draws the records.
func plots(root, folder string) error {
	for _, p := range []struct {
		name string
		make func(root string) (*reproduce.Curves, error)
	}{
		{"gemm-1000", gemmPlot}, {"vectors", vectorPlot}, {"spread", spreadPlot}, {"solve", solvePlot}, {"h100-gemm", gpuPlot},
	} {
		c, err := p.make(root)
		if err != nil {
			return err
		}
		for _, panel := range c.Panels {
			if len(panel.Series) == 0 {
				return fmt.Errorf("%s: the records have no points of the panel %q", p.name, panel.Title)
			}
		}
		picture, err := c.SVG()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, p.name+".svg"), picture, 0o666); err != nil {
			return err
		}
	}
	return nil
}

const (
	bitsAxis = "bits of the significand"
	nsAxis   = "ns per multiply-add"
)

// workloadSeries are the lines of one workload, a method each.
func workloadSeries(r *record, workload string) series {
	var s series
	for _, f := range r.Figures {
		if f.Workload == workload && (colourOf(f.Method) != colourOf("OpenBLAS") || f.Bits == hardwareBits) {
			s.add(f.Method, f.Bits, f.Median)
		}
	}
	return s.first("halfulp")
}

func gemmPlot(root string) (*reproduce.Curves, error) {
	r, err := readRecord(root, "epyc-avx2")
	if err != nil {
		return nil, err
	}
	return &reproduce.Curves{
		Title: "Products of matrices, n = 1000", X: bitsAxis, Y: nsAxis,
		Panels: []reproduce.CurvesPanel{{Series: workloadSeries(r, "gemm-1000")}},
	}, nil
}

func vectorPlot(root string) (*reproduce.Curves, error) {
	r, err := readRecord(root, "epyc-avx2")
	if err != nil {
		return nil, err
	}
	return &reproduce.Curves{
		Title: "Sums and products of vectors", X: bitsAxis, Y: "ns per number or multiply-add",
		Panels: []reproduce.CurvesPanel{
			{Title: "sum of 10⁶ numbers", Series: workloadSeries(r, "sum-1e6")},
			{Title: "dot product of 10⁶", Series: workloadSeries(r, "dot-1e6")},
			{Title: "matrix times vector, n = 1000", Series: workloadSeries(r, "gemv-1000")},
		},
	}, nil
}

func spreadPlot(root string) (*reproduce.Curves, error) {
	r, err := readRecord(root, "epyc-avx2-spread")
	if err != nil {
		return nil, err
	}
	var s series
	for _, f := range r.Figures {
		if f.Method == "halfulp" {
			_, spread, wide := strings.Cut(f.Workload, "-spread")
			name := "no spread"
			if wide {
				name = "2^-" + spread + " to 2^" + spread
			}
			s.add(name, f.Bits, f.Median)
		}
	}
	return &reproduce.Curves{
		Title: "Wide spread, n = 1000", X: bitsAxis, Y: nsAxis,
		Panels: []reproduce.CurvesPanel{{Series: s}},
	}, nil
}

func solvePlot(root string) (*reproduce.Curves, error) {
	c := &reproduce.Curves{
		Title: "Systems with one right-hand side", X: bitsAxis, Y: "seconds of processor time",
	}
	panels := map[int]series{}
	var orders []int
	for _, name := range []string{"epyc-avx2-linsolve", "epyc-avx2-linsolve-1000", "epyc-avx2-linsolve-1000-arb"} {
		r, err := readRecord(root, name)
		if err != nil {
			return nil, err
		}
		for _, f := range r.Figures {
			if f.Kappa != 0 || strings.Contains(f.Method, "product") || colourOf(f.Method) == colourOf("OpenBLAS") && f.Bits != hardwareBits {
				continue
			}
			if !slices.Contains(orders, f.N) {
				orders = append(orders, f.N)
			}
			s := panels[f.N]
			s.add(f.Method, f.Bits, f.Median)
			panels[f.N] = s
		}
	}
	slices.Sort(orders)
	for _, n := range orders {
		s := panels[n].first("halfulp Solve")
		for k := range s {
			slices.SortFunc(s[k].Points, func(a, b [2]float64) int { return int(a[0] - b[0]) })
		}
		c.Panels = append(c.Panels, reproduce.CurvesPanel{Title: fmt.Sprintf("n = %d", n), Series: s})
	}
	return c, nil
}

func gpuPlot(root string) (*reproduce.Curves, error) {
	r, err := readRecord(root, "h100-gemm")
	if err != nil {
		return nil, err
	}
	var s series
	for _, f := range r.Figures {
		var n, bits int
		var rest string
		if k, _ := fmt.Sscanf(f.Benchmark, "BenchmarkGemm/n=%d/bits=%d/%s", &n, &bits, &rest); k == 3 && strings.HasPrefix(rest, "spread=0-") {
			s.add(fmt.Sprintf("n = %d", n), float64(bits), f.Milliseconds)
		}
	}
	return &reproduce.Curves{
		Title: "Products on an NVIDIA H100", X: bitsAxis, Y: "ms",
		Panels: []reproduce.CurvesPanel{{Series: s}},
	}, nil
}
