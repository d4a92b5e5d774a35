package reproduce

import "github.com/halfulp/halfulp/expansion"

// The quantities of tables that are derived from others.
const (
	counted     = "operations on doubles"
	countSplit  = "operations on doubles, Two-Prod by Split"
	countShort  = "operations on doubles, short form, Two-Prod by Split"
	coefficient = "coefficient"
	timesSlower = "double / format"
	gpuOverCPU  = "GPU / CPU"
)

// qdFunctionsOf are the names in qdCounts of an operation, as published and ours, without the
// format.
var qdFunctionsOf = map[string][2]string{
	"+": {"publishedAdd", "add"}, "-": {"publishedAdd", "add"}, "*": {"publishedMul", "mul"}, "/": {"publishedDiv", "div"},
	"sqrt": {"publishedSqrt", "sqrt"}, "exp": {"publishedExp"}, "log": {"publishedLog"}, "sin": {"publishedCircle"},
}

// qdCountFormats are the names of formats in qdCounts.
var qdCountFormats = map[string]string{qdDD: "DD", qdQD: "QD"}

// qdShortCounts returns the operations, with Split, of the forms of QD's × and ÷ that the paper
// counts in table 3.6-2: products exact to order u² and rounded at u³, without u⁴, and four terms
// of the quotient in place of five.
func qdShortCounts() map[string]int {
	n := func(name string) int { return qdCounts[name].split }
	return map[string]int{
		// The products of order 1, u and u², Three-Sum, Six-Three-Sum, four products and their sums
		// with the four errors of order u³.
		"*": 6*n("twoProd") + n("threeSum") + n("sixThreeSum") + 12 + n("publishedRenorm"),
		"/": 4 + 3*(n("publishedMulFloatQD")+n("publishedAddQD")) + n("publishedRenorm"),
	}
}

// qdHere returns the figure measured here for an arithmetic and an operation, the largest of
// several, nil if there is none.
func qdHere(list []Record, kind, operation, device, quantity string) (x *float64) {
	for _, k := range list {
		if k.Here != nil && k.Case == kind && k.Method == operation && k.Device == device && k.Quantity == quantity && (x == nil || *k.Here > *x) {
			x = k.Here
		}
	}
	return x
}

// qdCounts adds tables 3.6-2 and 3.6-3: operations on doubles, counted in the source of package
// expansion; their share of the time at the measured speed of sums of doubles; and how many times
// slower operations are than operations on doubles.
func (r *Report) qdCounts() {
	list := r.find(tableQDScalars)
	double := qdHere(list, qdFloat64, "+", cpuDevice, operations)
	short := qdShortCounts()
	for _, op := range qdOperations {
		names := qdFunctionsOf[op.name]
		for _, format := range []string{qdDD, qdQD} {
			f := qdCountFormats[format]
			count := func(kind, quantity string, n int) {
				r.add(Record{Table: tableQDCounts, Case: kind, Method: op.name, Quantity: quantity, Here: known(float64(n))})
			}
			for i, kind := range []string{format + qdPublished, format} {
				if names[i] == "" {
					continue
				}
				c := qdCounts[names[i]+f]
				count(kind, counted, c.fused)
				if i == 0 {
					count(kind, countSplit, c.split)
				}
				if rate := qdHere(list, kind, op.name, cpuDevice, operations); rate != nil {
					r.add(Record{Table: tableQDCounts, Case: kind, Method: op.name, Device: cpuDevice, Quantity: coefficient, Here: known(float64(float64(c.fused)*(*rate)) / *double)})
				}
			}
			if n, ok := short[op.name]; ok && format == qdQD {
				count(format+qdPublished, countShort, n)
			}
		}
		for _, k := range qdKinds {
			here, other := qdHere(list, k.name, op.name, cpuDevice, operations), qdHere(list, qdFloat64, op.name, cpuDevice, operations)
			if k.name != qdFloat64 && here != nil {
				r.add(Record{Table: tableQDSlower, Case: k.name, Method: op.name, Device: cpuDevice, Quantity: timesSlower, Here: known(*other / *here)})
			}
		}
	}
}

// qdRatios adds the tables of ratios: each rate on the GPU divided by the CPU's rate for the same
// arithmetic and operation, or way to multiply or solve, where the CPU has it.
func (r *Report) qdRatios() {
	for _, t := range qdRatioTables {
		list := r.find(t.from)
		for _, k := range list {
			if k.Here == nil || k.Quantity != operations || k.Device != r.GPU {
				continue
			}
			if cpu := r.qdOnCPU(list, &k); cpu != nil {
				r.add(Record{Table: t.table, Case: k.Case, Method: k.Method, Device: r.GPU, N: k.N, Quantity: gpuOverCPU, Here: known(*k.Here / *cpu)})
			}
		}
	}
}

// qdOnCPU returns the CPU's rate for a record of the GPU, from the records of its table: the rate
// of the same method, or else of the native one.
func (r *Report) qdOnCPU(list []Record, k *Record) *float64 {
	for _, method := range []string{k.Method, qdNative, qdLibrary} {
		if x := qdHere(list, k.Case, method, cpuDevice, operations); x != nil {
			return x
		}
	}
	solved := r.find(tableQDSolve)
	for _, method := range []string{qdSolver(expansion.ZeroPivoting, expansion.NativeUpdates), qdLibrary} {
		if x := qdHere(solved, k.Case, method, cpuDevice, operations); x != nil && k.Table != tableQDGemm {
			return x
		}
	}
	return nil
}
