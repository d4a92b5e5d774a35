package reproduce

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/rns"
)

// checkAccuracy compares the accuracy of our sums with tables 1 and 2 of the paper.
func checkAccuracy(t *testing.T, r *Report) {
	t.Helper()
	// Exceptions that the notes of the report explain.
	differs := map[[3]string]bool{
		{"set 1", "120", "Reduce2 pairwise"}:  true, // paper 0
		{"set 2", "60", "Reduce1 recursive"}:  true, // paper 9e-13
		{"set 2", "60", "Reduce2 pairwise"}:   true,
		{"set 2", "60", "Reduce3 hybrid"}:     true,
		{"set 2", "120", "Reduce1 recursive"}: true, // paper 6e-13
		{"set 2", "120", "Reduce2 pairwise"}:  true,
		{"set 2", "120", "Reduce3 hybrid"}:    true,
		{"set 2", "240", "Reduce1 recursive"}: true,
		{"set 2", "240", "Reduce2 pairwise"}:  true,
		{"set 2", "240", "Reduce3 hybrid"}:    true,
		{"set 3", "60", "Reduce1 recursive"}:  true, // paper 1e-17
	}
	for _, k := range r.find(tableData) {
		want, err := parse(k.PaperText)
		got, err2 := parse(k.HereText)
		if err != nil || err2 != nil || got != want {
			t.Errorf("%s, %s: sum %s, in the paper %s", k.Case, k.Method, k.HereText, k.PaperText)
		}
	}
	for _, k := range r.find(tableAccuracy) {
		here := *k.Here
		switch {
		case k.Method == exactMethod:
			if here > math.Ldexp(1, -k.Bits) {
				t.Errorf("%s, %d bits: halfulp.Sum has a relative error of %g", k.Case, k.Bits, here)
			}
		case differs[[3]string{k.Case, count(k.Bits), k.Method}]:
			// More accurate, or as the other two.
			if here > *k.Paper && (k.Case != "set 1" || here > 5e-15) {
				t.Errorf("%s, %d bits, %s: relative error %g, in the paper %g", k.Case, k.Bits, k.Method, here, *k.Paper)
			}
		case min(here, 1) > 10**k.Paper || here < *k.Paper/10:
			t.Errorf("%s, %d bits, %s: relative error %g, in the paper %g", k.Case, k.Bits, k.Method, here, *k.Paper)
		}
	}
}

func parse(s string) (float64, error) {
	f, _, err := big.ParseFloat(s, 10, 53, big.ToNearestEven)
	if err != nil {
		return 0, err
	}
	x, _ := f.Float64()
	return x, nil
}

// TestNotes checks the statements of the notes.
func TestNotes(t *testing.T) {
	// Terms of 58·2^-59 in place of 1e-16 have a sum with a relative error of 6.1e-13.
	terms := new(big.Float).SetMantExp(big.NewFloat(58e6), -59)
	got := terms.Add(terms, big.NewFloat(1))
	exact, _, _ := big.ParseFloat("1.0000000001", 10, 300, big.ToNearestEven)
	if e := *errorOf(got, exact); e < 6.05e-13 || e > 6.15e-13 {
		t.Errorf("58·2^-59: relative error %g", e)
	}
	// The double 1e-16 is a multiple of 2^-106.
	if x := math.Ldexp(1e-16, 106); x != math.Trunc(x) {
		t.Errorf("1e-16·2^106 = %v", x)
	}
	// The series and the sum of its rounded terms.
	sum := new(big.Float).SetPrec(exactBits)
	for _, x := range sumSets()[2].terms {
		sum.Add(sum, big.NewFloat(x))
	}
	series := big.NewFloat(math.Exp(-4 * math.Pi))
	if e := *errorOf(sum, series); e < 1.35e-6 || e > 1.5e-6 || math.Abs(math.Exp(-4*math.Pi)-3.48734236e-6) > 1e-14 {
		t.Errorf("set 3 and its series differ by %g, the series is %.9g", e, series)
	}
}

// TestAccuracy sums the small sets.
func TestAccuracy(t *testing.T) {
	r := &Report{}
	e, err := (&Options{}).start(plan{})
	if err != nil {
		t.Fatal(err)
	}
	sets := sumSets()
	for _, i := range []int{0, 2} {
		if err := e.accuracy(r, sets[i]); err != nil {
			t.Fatal(err)
		}
	}
	if n, want := len(r.find(tableAccuracy)), 2*4*4; n != want {
		t.Errorf("%d figures of table 2, want %d", n, want)
	}
	checkAccuracy(t, r)
}

// TestSum runs the whole experiment on few addends.
func TestSum(t *testing.T) {
	if testing.Short() {
		t.Skip("set 2 has 10^6 terms")
	}
	var last float64
	r, err := Sum(Options{N: 500, Threads: 2, Machine: Machine{CPU: "test"}, Progress: func(done float64) {
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
	if n, want := len(r.find(tableAccuracy)), 3*4*4; n != want {
		t.Errorf("%d figures of table 2, want %d", n, want)
	}
	checkAccuracy(t, r)
	checkTimes(t, r)
	ratios := map[string]int{}
	for _, k := range r.find(tableSpeedups) {
		if gpu := !strings.HasSuffix(k.Method, "both on the CPU"); gpu != (k.Here == nil) || gpu && k.Bits != speedupBits {
			t.Errorf("a ratio measured, or not: %+v", k)
		}
		ratios[k.Method]++
	}
	if len(ratios) != 6+3 || ratios[ratio12] != 5 || ratios[ratio1P] != 1 {
		t.Errorf("ratios %v", ratios)
	}
	checkFiles(t, r, "mpres-sum.csv mpres-sum.json mpres-sum.png mpres-sum.svg mpres-sum-accuracy.png mpres-sum-accuracy.svg",
		"halfulp.Sum, correctly rounded", "Reduce1 recursive")
}

// TestSumTimes: SIMD is left out where it is not available.
func TestSumTimes(t *testing.T) {
	for _, level := range []isa.Set{isa.Level(), isa.Portable} {
		restore := isa.Force(level)
		r := &Report{N: 100}
		e, err := (&Options{N: 100}).start(plan{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.sumTimes(r); err != nil {
			t.Error(err)
		}
		checkTimes(t, r)
		restore()
	}
}

// checkTimes checks that everything was measured that the active level allows.
func checkTimes(t *testing.T, r *Report) {
	t.Helper()
	times := map[string]int{}
	for _, k := range r.find(tableTimes) {
		if k.Device == paperSumCPU || k.Device == paperSumGPU {
			continue
		}
		if k.Here == nil || *k.Here <= 0 || k.Runs < 1 {
			t.Errorf("no time: %+v", k)
		}
		if k.Residues == "SIMD" && k.Moduli < 8 {
			t.Errorf("SIMD with %d moduli", k.Moduli)
		}
		times[k.Residues]++
	}
	simd := 0
	if isa.Level() >= isa.AVX2 {
		simd = 4 * 4
	}
	if times["SIMD"] != simd || times["scalar"] != 4*5 || times[""] != 1+5 {
		t.Errorf("%v: numbers of times %v", isa.Level(), times)
	}
}

// checkFiles checks the text and every file of a report.
func checkFiles(t *testing.T, r *Report, names string, words ...string) {
	t.Helper()
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "measured on test, ") {
		t.Errorf("the text does not say what it was measured on:\n%s", text.String())
	}
	for _, l := range strings.Split(text.String(), "\n") {
		if strings.HasSuffix(l, " ") {
			t.Errorf("blanks at the end of %q", l)
		}
	}
	var got []string
	for _, f := range r.Files() {
		got = append(got, f.Name)
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		switch f.Name[strings.LastIndexByte(f.Name, '.'):] {
		case ".csv":
			rows, err := csv.NewReader(&b).ReadAll()
			if err != nil || len(rows) != 1+len(r.Records) {
				t.Errorf("%s: %d rows for %d records, %v", f.Name, len(rows), len(r.Records), err)
			}
		case ".json":
			var back Report
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Records) != len(r.Records) || back.Machine.CPU != "test" {
				t.Errorf("%s: %d records of %d, %v", f.Name, len(back.Records), len(r.Records), err)
			}
		case ".png":
			m, err := png.Decode(&b)
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			ink := 0
			for x := range m.Bounds().Dx() {
				for y := range m.Bounds().Dy() {
					if r, g, b, _ := m.At(x, y).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff {
						ink++
					}
				}
			}
			size := m.Bounds().Size()
			if size.X < 400 || size.Y < 400 || ink < size.X*size.Y/100 || ink > size.X*size.Y/2 {
				t.Errorf("%s: %v, %d pixels are not white", f.Name, size, ink)
			}
		case ".svg":
			s := b.String()
			for d := xml.NewDecoder(&b); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
			}
			for _, p := range r.plots {
				if p.name+".svg" == f.Name && !strings.Contains(s, ">"+p.label()+"<") {
					t.Errorf("%s has no label %q", f.Name, p.label())
				}
			}
			if f.Name == r.Name+".svg" {
				for _, w := range words {
					if !strings.Contains(s, w) {
						t.Errorf("%s does not say %q", f.Name, w)
					}
				}
			}
		}
	}
	if s := strings.Join(got, " "); s != names {
		t.Errorf("files %s, want %s", s, names)
	}
	checkPlots(t, r)
	checkPaper(t, r)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := Gemv(Options{N: 10, Context: ctx, Progress: func(float64) {
		if n++; n == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("error %v after %d steps", err, n)
	}
	if _, err = Sum(Options{N: 10, Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestMemory(t *testing.T) {
	if _, err := Gemv(Options{N: 1 << 20, MemoryLimit: 1 << 30}); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("error %v", err)
	}
	if _, err := Sum(Options{N: 1 << 30, MemoryLimit: 1 << 30}); err == nil || !strings.Contains(err.Error(), "GiB") {
		t.Errorf("error %v", err)
	}
}

// TestScalarLoops: bases keep the loops that they were made under.
func TestScalarLoops(t *testing.T) {
	for _, l := range loops() {
		b, err := l.base(rns.GemvBase, 424)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.SIMD(); got != (l.name == "SIMD") {
			t.Errorf("%s loops: SIMD %v", l.name, got)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{0, "0"}, {0.00123456, "0.00123"}, {1.5, "1.50"}, {12.345, "12.3"}, {123.45, "123"}, {1234.5, "1230"}, {9994.9, "9990"}, {9995.1, "1.00e4"}, {-1e-9, "-1.00e-9"}, {math.Inf(1), "+Inf"}} {
		if got := short(&c.x); got != c.want {
			t.Errorf("short(%v) = %q, want %q", c.x, got, c.want)
		}
	}
	if got := significant(known(1.0000000001), 11); got != "1.0000000001" {
		t.Errorf("11 digits: %s", got)
	}
	if short(nil) != "" || asError(nil) != "" || full(nil) != "" {
		t.Error("a figure that does not exist has a text")
	}
	for _, c := range []struct {
		x    float64
		want string
	}{{0, "0"}, {1, "1.0e0"}, {570, "5.7e2"}, {6e-13, "6.0e-13"}, {2.65e-7, "2.7e-7"}} {
		if got := errorText(big.NewFloat(c.x)); got != c.want {
			t.Errorf("errorText(%v) = %q, want %q", c.x, got, c.want)
		}
	}
	if got, want := wrap("1. ", strings.Repeat("word ", 25)), "1. "+strings.Repeat("word ", 18)+"word\n   "+strings.Repeat("word ", 5)+"word"; got != want {
		t.Errorf("wrap:\n%s\nwant\n%s", got, want)
	}
}
