package reproduce

// The tables of a report on double-double and quad-double arithmetic, with the paper's numbers.
const (
	tableQDScalars   = "table 3.6-1"
	tableQDFixed     = "table 5.1-1"
	tableQDSpread    = "table 5.1-3"
	tableQDCompute   = "table 5.1-5"
	tableQDFunctions = "table 5.2.5-1"
	tableQDCached    = "table 5.2.5-3"
	tableQDGemm      = "table 6.2.2-1"
	tableQDSquare    = "table 6.3.2-1"
	tableQDLinear    = "table 6.3.2-3"
	tableQDSolve     = "tables 6.3.2-1 and 6.3.2-3" // measured here

	tableQDCounts   = "table 3.6-2"
	tableQDSlower   = "table 3.6-3"
	tableQDAccuracy = "accuracy"    // of the algorithms of sections 3 and 5.2, measured here
	tableQDBits     = "section 4.1" // results of the GPU that were compared
)

// qdRatioTables have operations on the GPU divided by operations on the CPU, from another table.
var qdRatioTables = []struct{ table, from string }{
	{"table 5.1-2", tableQDFixed}, {"table 5.1-4", tableQDSpread}, {"table 5.1-6", tableQDCompute},
	{"table 5.2.5-2", tableQDFunctions}, {"table 5.2.5-4", tableQDCached},
	{"table 6.2.2-2", tableQDGemm}, {"table 6.3.2-2", tableQDSquare}, {"table 6.3.2-4", tableQDLinear},
	{"tables 6.3.2-2 and 6.3.2-4", tableQDSolve},
}

// paperSuffix is the suffix of the names of devices of the paper.
const paperSuffix = ", paper"

// paperDevices are the machines of 004, in the order of its figures.
var paperDevices = [4]string{"CPU, paper", "C1060, paper", "GTX 480, paper", "C2050, paper"}

// Names of the formats.
const (
	qdFloat64 = "double"
	qdDD      = "dd"
	qdTD      = "td"
	qdQD      = "qd"
)

// paperRates are operations a ms: by table and format, for each operation the rates on
// paperDevices. In table 3.6-1 the CPU runs one thread, in the others four.
var paperRates = map[string]map[string]map[string][]float64{
	tableQDScalars: {
		qdFloat64: {"+": {1.27e6}, "-": {1.27e6}, "*": {7.75e5}, "/": {6.30e4}},
		qdDD:      {"+": {78500}, "-": {73600}, "*": {14100}, "/": {8160}},
		qdQD:      {"+": {8760}, "-": {8190}, "*": {2230}, "/": {810}},
	},
	tableQDFixed: {
		qdFloat64: {"+": {3.52e5, 3.41e6, 5.71e6, 3.54e6}, "*": {3.59e5, 3.41e6, 5.71e6, 3.53e6}, "/": {2.87e5, 2.71e6, 5.21e6, 3.50e6}},
		qdDD:      {"+": {1.78e5, 1.02e6, 2.47e6, 1.54e6}, "*": {1.31e5, 9.75e5, 2.42e6, 1.52e6}, "/": {7.60e4, 4.74e5, 1.33e6, 1.67e6}},
		qdQD:      {"+": {4.44e4, 2.43e5, 7.55e5, 6.75e5}, "*": {2.51e4, 1.45e5, 3.62e5, 4.95e5}, "/": {7.52e3, 4.20e4, 1.06e5, 2.24e5}},
	},
	tableQDSpread: {
		qdFloat64: {"+": {3.52e5, 3.48e6, 6.66e6, 4.44e6}, "*": {3.59e5, 3.48e6, 6.66e6, 4.44e6}, "/": {2.87e5, 2.32e6, 6.15e6, 4.21e6}},
		qdDD:      {"+": {1.78e5, 1.06e6, 3.07e6, 2.05e6}, "*": {1.31e5, 1.04e6, 2.96e6, 2.10e6}, "/": {7.60e4, 5.21e5, 1.33e6, 1.70e6}},
		qdQD:      {"+": {4.44e4, 2.73e5, 6.50e5, 7.70e5}, "*": {2.51e4, 1.54e5, 3.83e5, 5.88e5}, "/": {7.52e3, 4.93e4, 1.12e5, 2.54e5}},
	},
	tableQDCompute: {
		qdFloat64: {"+": {3.52e5, 2.91e7, 7.80e7, 6.76e7}, "*": {3.59e5, 2.91e7, 7.80e7, 6.83e7}, "/": {2.87e5, 1.96e6, 1.20e7, 1.15e7}},
		qdDD:      {"+": {1.78e5, 2.50e6, 6.10e6, 1.27e7}, "*": {1.31e5, 1.70e6, 4.16e6, 8.14e6}, "/": {7.60e4, 8.13e5, 2.24e6, 3.60e6}},
		qdQD:      {"+": {4.44e4, 3.41e5, 8.14e5, 2.01e6}, "*": {2.51e4, 2.34e5, 5.56e5, 1.07e6}, "/": {7.52e3, 4.58e4, 1.12e5, 2.60e5}},
	},
	tableQDFunctions: {
		qdFloat64: {"sqrt": {9.74e4, 2.10e6, 3.26e6, 4.68e6}, "exp": {4.21e4, 1.82e6, 1.93e6, 4.67e6}, "log": {2.95e4, 1.08e6, 1.18e6, 3.30e6}, "sin": {6.95e4, 9.30e5, 1.67e6, 3.70e6}},
		qdDD:      {"sqrt": {3.56e4, 5.80e5, 9.10e5, 2.34e6}, "exp": {3.93e3, 4.83e4, 1.05e5, 2.52e5}, "log": {3.52e3, 4.40e4, 9.45e4, 2.28e5}, "sin": {4.83e3, 2.64e4, 5.86e4, 1.34e5}},
		qdQD:      {"sqrt": {1.78e3, 1.61e4, 3.66e4, 8.84e4}, "exp": {497, 3.67e3, 8.44e3, 2.16e4}, "log": {164, 1.12e3, 2.67e3, 6.26e3}, "sin": {458, 3.19e3, 8.66e3, 1.17e4}},
	},
	tableQDCached: {
		qdFloat64: {"sqrt": {1.60e5, 5.06e6, 7.70e6, 4.99e6}, "exp": {7.10e4, 4.80e6, 4.66e6, 7.28e6}, "log": {3.40e4, 2.86e6, 2.68e6, 4.78e6}, "sin": {1.07e5, 3.86e6, 3.64e6, 5.65e6}},
		qdDD:      {"sqrt": {4.30e4, 1.69e6, 1.60e6, 3.15e6}, "exp": {3.60e3, 1.19e5, 1.10e5, 2.62e5}, "log": {3.81e3, 1.07e5, 9.89e4, 2.35e5}, "sin": {5.43e3, 6.37e4, 6.02e4, 1.36e5}},
		qdQD:      {"sqrt": {2.31e3, 3.95e4, 3.69e4, 8.88e4}, "exp": {590, 3.70e3, 8.44e3, 2.14e4}, "log": {199, 1.16e3, 2.70e3, 6.25e3}, "sin": {552, 3.08e3, 8.68e3, 1.21e4}},
	},
}

// paperMatrices are the seconds of products and systems on paperDevices, and the paper's operations
// a ms.
var paperMatrices = map[string]map[string][2][4]float64{
	tableQDGemm: {
		qdFloat64: {{95.68, 0.34, 0.20, 0.26}, {1.71e5, 6.20e7, 8.25e7, 6.17e7}},
		qdDD:      {{557.78, 8.34, 3.62, 1.75}, {2.93e4, 1.97e6, 4.52e6, 9.34e6}},
		qdQD:      {{1785.50, 74.63, 31.37, 14.22}, {9.18e3, 2.20e5, 5.22e5, 1.15e6}},
	},
	tableQDSquare: {
		qdFloat64: {{41.33, 18.89, 5.49, 5.26}, {3.72e5, 8.14e5, 2.80e6, 2.92e6}},
		qdDD:      {{378.33, 33.63, 10.04, 8.69}, {4.07e4, 4.57e5, 1.53e6, 1.77e6}},
		qdQD:      {{3383.58, 181.94, 50.73, 33.44}, {4.55e3, 8.46e4, 3.03e5, 4.60e5}},
	},
	tableQDLinear: {
		qdFloat64: {{41.33, 18.43, 3.94, 3.26}, {3.72e5, 8.35e5, 3.90e6, 4.72e6}},
		qdDD:      {{378.33, 36.06, 9.42, 6.98}, {4.07e4, 4.27e5, 1.63e6, 2.20e6}},
		qdQD:      {{3383.58, 251.35, 64.70, 40.52}, {4.55e3, 6.12e4, 2.38e5, 3.79e5}},
	},
}

// The paper's numbers of operations on doubles in the product and in the system of its size, QDN.
const (
	qdGemmOperations  = 1.64e10
	qdSolveOperations = 1.54e10
)

// paperQDRatios are the ratios of qdRatioTables: by table and format, for each operation, "" for
// products and systems, the ratios on paperDevices without the CPU.
var paperQDRatios = map[string]map[string]map[string][]float64{
	"table 5.1-2": {
		qdFloat64: {"+": {9.70, 16.22, 10.06}, "*": {9.50, 15.90, 9.83}, "/": {9.44, 18.15, 12.20}},
		qdDD:      {"+": {5.73, 13.87, 8.65}, "*": {7.44, 18.47, 11.60}, "/": {6.23, 17.5, 21.97}},
		qdQD:      {"+": {5.47, 17.01, 15.20}, "*": {5.77, 14.42, 19.72}, "/": {5.58, 14.09, 29.78}},
	},
	"table 5.1-4": {
		qdFloat64: {"+": {9.88, 18.92, 12.61}, "*": {9.70, 18.55, 12.36}, "/": {8.10, 21.42, 15.14}},
		qdDD:      {"+": {5.95, 17.24, 11.51}, "*": {7.93, 22.59, 16.03}, "/": {6.85, 17.50, 22.36}},
		qdQD:      {"+": {6.14, 14.63, 17.34}, "*": {6.13, 15.26, 23.42}, "/": {6.55, 14.90, 33.77}},
	},
	"table 5.1-6": {
		qdFloat64: {"+": {82.67, 221.59, 192.04}, "*": {81.05, 217.27, 190.25}, "/": {6.83, 41.81, 40.07}},
		qdDD:      {"+": {14.04, 34.27, 71.35}, "*": {12.98, 31.76, 62.14}, "/": {10.70, 29.47, 47.37}},
		qdQD:      {"+": {7.68, 18.33, 45.27}, "*": {9.32, 22.15, 42.63}, "/": {6.10, 14.89, 34.57}},
	},
	"table 5.2.5-2": {
		qdFloat64: {"sqrt": {2.16, 33.47, 48.05}, "exp": {43.23, 45.84, 110.93}, "log": {36.61, 40.00, 111.86}, "sin": {13.38, 24.03, 53.23}},
		qdDD:      {"sqrt": {16.29, 25.56, 65.73}, "exp": {12.29, 26.72, 64.12}, "log": {12.50, 26.84, 64.77}, "sin": {5.46, 12.13, 27.74}},
		qdQD:      {"sqrt": {9.04, 20.56, 49.66}, "exp": {7.38, 16.98, 43.46}, "log": {6.83, 16.28, 38.17}, "sin": {6.96, 18.91, 25.54}},
	},
	"table 5.2.5-4": {
		qdFloat64: {"sqrt": {31.63, 48.13, 31.19}, "exp": {67.60, 65.63, 102.53}, "log": {84.12, 78.82, 140.59}, "sin": {36.07, 34.02, 52.80}},
		qdDD:      {"sqrt": {39.30, 37.21, 73.25}, "exp": {33.06, 30.56, 72.78}, "log": {28.16, 26.05, 61.68}, "sin": {11.85, 11.11, 25.05}},
		qdQD:      {"sqrt": {16.95, 16.09, 38.44}, "exp": {6.17, 14.01, 36.27}, "log": {6.01, 13.50, 31.40}, "sin": {5.63, 15.82, 21.92}},
	},
	"table 6.2.2-2": {
		qdFloat64: {"": {362.57, 482.46, 360.82}},
		qdDD:      {"": {67.23, 154.26, 318.77}},
		qdQD:      {"": {23.96, 56.86, 125.27}},
	},
	"table 6.3.2-2": {
		qdFloat64: {"": {2.19, 7.52, 7.85}},
		qdDD:      {"": {11.24, 37.68, 43.53}},
		qdQD:      {"": {18.5, 66.7, 101.2}},
	},
	"table 6.3.2-4": {
		qdFloat64: {"": {2.24, 10.5, 12.68}},
		qdDD:      {"": {10.5, 40.16, 54.2}},
		qdQD:      {"": {13.46, 52.3, 83.5}},
	},
}

// paperCounts are table 3.6-2: the operations on doubles of one operation, and their share of the
// time at 10^6 operations on doubles a ms. paperSlower is table 3.6-3.
var (
	paperCounts = map[string]map[string][2]float64{
		qdDD: {"+": {11, 0.9}, "-": {11, 0.8}, "*": {24, 0.3}, "/": {37, 0.3}},
		qdQD: {"+": {95, 0.8}, "-": {95, 0.8}, "*": {216, 0.5}, "/": {667, 0.5}},
	}
	paperSlower = map[string]map[string]float64{
		qdDD: {"+": 16.2, "-": 17.3, "*": 55.1, "/": 7.7},
		qdQD: {"+": 145.0, "-": 155.1, "*": 347.3, "/": 77.8},
	}
)
