package reproduce

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The names of experiments.
const (
	sumName   = "mpres-sum"
	gemvName  = "mpres-gemv"
	ozakiName = "ozaki"
	qdName    = "qd"
)

// Names are the experiments in the order of the report of all of them.
var Names = []string{sumName, gemvName, ozakiName, qdName}

// paper describes the paper that an experiment repeats.
type paper struct {
	title   string // of its page
	sources []string
	about   string // in place of a claim
	// size returns the sizes of the report, the sizes of the paper, and which is larger, like
	// cmp.Compare; here is "" for the paper's sizes.
	size func(r *Report) (here, paper string, order int)
}

var papers = map[string]paper{
	sumName: {
		title: "Multiple-precision sums (MPRES)",
		sources: []string{
			"K. Isupov, V. Knyazkov, A. Kuvaev, Multiple-precision summation on CPUs and GPUs with the library MPRES, 2018 (in Russian)",
		},
		about: "Recursive, pairwise and hybrid summation of numbers in a residue number system, on CPUs and GPUs.",
		size: func(r *Report) (here, paper string, order int) {
			if r.N == SumN {
				return "", "", 0
			}
			return fmt.Sprintf("%d addends are timed", r.N), fmt.Sprint(SumN), cmp.Compare(r.N, SumN)
		},
	},
	gemvName: {
		title: "Matrix-vector products (MPRES-BLAS)",
		sources: []string{
			"K. Isupov, V. Knyazkov, Multiple-precision matrix-vector multiplication on graphics processing units, 2020",
			"К. С. Исупов, В. С. Князьков, Матрично-векторное умножение многократной точности на графическом процессоре, 2020 (the same paper in Russian)",
		},
		about: "Matrix-vector products of numbers in a residue number system, whose steps are kernels of their own.",
		size: func(r *Report) (here, paper string, order int) {
			if r.N == GemvN {
				return "", "", 0
			}
			return fmt.Sprintf("M = N = %d", r.N), fmt.Sprint(GemvN), cmp.Compare(r.N, GemvN)
		},
	},
	ozakiName: {
		title: "Products by float32 slices (Ozaki scheme)",
		sources: []string{
			"K. Nanai, N. Fujimoto, Evaluation of double-precision matrix multiplication based on the Ozaki scheme with a small constant number of split matrices in single-precision for gaming GPUs, 2021 (in Japanese)",
		},
		about: "Products of float64 matrices, more accurate than float32 and on gaming GPUs faster than float64, from a few float32 products.",
		size: func(r *Report) (here, paper string, order int) {
			p := r.ozakiParts()
			sizes, phis, seeds := p.sizes, p.phis, p.seeds
			if slices.Equal(sizes, OzakiPaperSizes) && seeds >= OzakiPaperSeeds && slices.Equal(phis, OzakiPhi) {
				return "", "", 0
			}
			list := func(x any) string { return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(x), "[]")), ", ") }
			text := func(sizes []int, seeds int, phis []float64) string {
				return fmt.Sprintf("n = %s with %d seeds, phi = %s", list(sizes), seeds, list(phis))
			}
			order = cmp.Compare(slices.Max(sizes), slices.Max(OzakiPaperSizes))
			if order == 0 {
				order = cmp.Compare(seeds, OzakiPaperSeeds)
			}
			return text(sizes, seeds, phis), text(OzakiPaperSizes, OzakiPaperSeeds, OzakiPhi), order
		},
	},
	qdName: {
		title: "Double-double and quad-double numbers (QD)",
		sources: []string{
			"T. Sivkova, L. Dovgilovich, O. Voskoboynikova, I. Sofronov, CUDA algorithms of some linear algebra operations for the extended precision arithmetic library QD (in Russian)",
		},
		about: "Operations, functions, products and systems of double-double and quad-double numbers on GPUs.",
		size: func(r *Report) (here, paper string, order int) {
			cpuN, gpuN := r.qdOrders()
			var list []string
			if cpuN != QDN {
				list = append(list, fmt.Sprintf("n = %d on the CPU", cpuN))
			}
			if gpuN != QDN && gpuN != 0 {
				list = append(list, fmt.Sprintf("n = %d on the GPU", gpuN))
			}
			return strings.Join(list, ", "), fmt.Sprint(QDN), cmp.Compare(min(cpuN, cmp.Or(gpuN, cpuN)), QDN)
		},
	},
}

// sizes says in words which sizes differ from the paper's, "" if none does.
func (r *Report) sizes() string {
	here, paper, order := papers[r.Name].size(r)
	if here == "" {
		return ""
	}
	word := [...]string{"smaller", "other", "larger"}[order+1]
	return fmt.Sprintf("%s than the paper's: %s (paper: %s)", word, here, paper)
}
