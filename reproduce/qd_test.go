package reproduce

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestQD runs the experiment on small vectors and matrices.
func TestQD(t *testing.T) { testQD(t, cpuDevice) }

// TestQDDevice runs the experiment on the machine's GPU.
func TestQDDevice(t *testing.T) {
	if err := CheckDevice("cuda:0"); errors.Is(err, halfulp.ErrDevice) && os.Getenv("HALFULP_WANT_GPU") == "" {
		t.Skip("no GPU:", err)
	}
	testQD(t, "cuda:0")
}

func testQD(t *testing.T, device string) {
	t.Helper()
	defer Brief()()
	var last float64
	r, err := QD(Options{N: 36, Device: device, Threads: 2, MemoryLimit: 1 << 30, Machine: Machine{CPU: "test"}, Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress %v after %v", done, last)
		}
		last = done
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last == 0 { // shares are of measured times: the last step may have any
		t.Error("no progress is reported")
	}
	formats, gpu := len(qdFormats), 0
	if device != cpuDevice {
		gpu = 1
	}
	words := formats - 1 // formats of package expansion, all but double
	// arithmetics with all operations, and with sums alone
	each, rounded := len(qdKinds)-2, 2
	for table, want := range map[string][2]int{ // figures here, and of the paper
		tableQDScalars:               {4*each + 2*rounded, 4 * 3},
		tableQDFixed:                 {3*each + rounded + 3*each*gpu, 3 * 3 * 4},
		tableQDSpread:                {3*each + rounded + (3*each+rounded)*gpu, 3 * 3 * 4},
		tableQDCompute:               {3*each + rounded + 2*3*each*gpu, 3 * 3 * 4},
		tableQDFunctions:             {4*each + 4*each*gpu, 3 * 4 * 4},
		tableQDCached:                {4*each + 2*4*each*gpu, 3 * 4 * 4},
		tableQDCounts:                {8*2*2 + 5*2 + 2 + 4*2*2, 8 * 2},
		tableQDSlower:                {4*(each-1) + 2*rounded, 4 * 2},
		tableQDAccuracy:              {9*4 + 2*2 + 1, 0},
		tableQDBits:                  {(each - 1) * gpu, 0},
		"table 5.1-2":                {3 * each * gpu, 3 * 3 * 3},
		"table 5.1-4":                {(3*each + rounded) * gpu, 3 * 3 * 3},
		"table 5.1-6":                {2 * 3 * each * gpu, 3 * 3 * 3},
		"table 5.2.5-2":              {4 * each * gpu, 3 * 4 * 3},
		"table 5.2.5-4":              {2 * 4 * each * gpu, 3 * 4 * 3},
		"table 6.2.2-2":              {3 * words * gpu, 3 * 3},
		"table 6.3.2-2":              {formats * gpu, 3 * 3},
		"table 6.3.2-4":              {formats * gpu, 3 * 3},
		tableQDGemm:                  {2 * (2*formats + 3*words*gpu), 2 * 3 * 4},
		tableQDSquare:                {2 * formats * gpu, 2 * 3 * 4},
		tableQDLinear:                {2 * formats * gpu, 2 * 3 * 4},
		"tables 6.3.2-2 and 6.3.2-4": {4 * words * gpu, 0},
		tableQDSolve:                 {2 * (1 + 4*words + 4*words*gpu), 0},
	} {
		var got [2]int
		for _, k := range r.find(table) {
			switch {
			// some with cuBLAS
			case k.Case == qdFloat64 && k.Device == r.GPU && (table == tableQDGemm || table == "table 6.2.2-2"):
			case k.Paper != nil && k.Here == nil:
				got[1]++
			case k.Paper == nil && k.Here != nil && *k.Here > 0 && !math.IsInf(*k.Here, 0), table == tableQDAccuracy && *k.Here == 0:
				got[0]++
			default:
				t.Errorf("%+v", k)
			}
		}
		if got != want {
			t.Errorf("%s has %v figures, want %v", table, got, want)
		}
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Table 3.6-1", "Table 5.1-3", "Tables 6.3.2-1 and", "others are scaled", "sqrt", "gonum"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
	checkPlots(t, r)
	checkPaper(t, r)
	for _, f := range r.Files() {
		var b strings.Builder
		if err := f.Write(&b); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestQDPaper checks the paper's figures against each other: operations a ms are the operations of
// the product or system divided by its time, to the paper's accuracy.
func TestQDPaper(t *testing.T) {
	for table, formats := range paperMatrices {
		for name, p := range formats {
			for i, device := range paperDevices {
				x := qdCount(table, QDN) / (1000 * p[0][i])
				if table == tableQDGemm && name == qdFloat64 && i > 0 {
					continue // the paper's figures do not agree there
				}
				if q := p[1][i] / x; math.Abs(q-1) > 0.01 {
					t.Errorf("%s, %s, %s: %g operations a ms, by its time %g", table, name, device, p[1][i], x)
				}
			}
		}
	}
}
