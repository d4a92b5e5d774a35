package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestBenchOnDevice measures every operation with operands that live on a GPU: a fake one whose
// kernels are written in Go.
func TestBenchOnDevice(t *testing.T) {
	testlength.SkipRace(t, "kernels of fake GPUs are Go of the tests")
	devs, _ := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	save := filepath.Join(t.TempDir(), "run.json")
	args := []string{"bench", "--size", "6", "--format", "f64,mp:106", "--device", "cuda:0", "--device", "cpu", "--runs", "1", "--save", save}
	for _, o := range benchOperations {
		args = append(args, o.name)
	}
	var used [2]int64 // after a first run, tables of constants
	for i := range used {
		var stdout, stderr strings.Builder
		if status := run(args, nil, &stdout, &stderr); status != 0 {
			t.Fatalf("exit status %d, %s", status, stderr.String())
		}
		used[i] = devs[0].Counters().InUse
	}
	if used[1] > used[0] {
		t.Errorf("%d bytes are left in use, %d after an earlier run", used[1], used[0])
	}
	text, err := os.ReadFile(save)
	if err != nil {
		t.Fatal(err)
	}
	var r benchReport
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if want := 4 * len(benchOperations); len(r.Cases) != want {
		t.Errorf("%d cases, want %d", len(r.Cases), want)
	}
	for _, c := range r.Cases {
		switch {
		case c.Error != "" || len(c.Times) != 1 || c.Median <= 0 || c.Rate <= 0:
			t.Errorf("%+v", c)
		case c.Resident != (c.Device == "cuda:0"):
			t.Errorf("%s on %s: resident is %v", c.Operation, c.Device, c.Resident)
		case c.Operation == benchProduct && (c.Stats.Device != c.Device || c.Products != 1):
			t.Errorf("%+v: a product on %s", c, c.Stats.Device)
		}
	}
}

// TestBenchCompare looks for cases of an earlier run.
func TestBenchCompare(t *testing.T) {
	times := func(d ...time.Duration) benchCase {
		return benchCase{Operation: "sum", N: 5, Format: "f64", Device: "cpu", Times: d, Median: d[len(d)/2]}
	}
	before := &benchReport{Cases: []benchCase{
		{Operation: "sum", N: 6, Format: "f64", Device: "cpu", Times: []time.Duration{1}, Median: 1},
		times(100, 101, 102, 103, 104, 105, 106),
	}}
	c := times(200, 201, 202, 203, 204, 205, 206)
	c.compare(before)
	if c.Before != 103 || c.Ratio != 203./103 || c.P == nil || *c.P > 0.01 {
		t.Errorf("twice as slow: %+v", c)
	}
	c = times(99, 107, 103, 102, 105, 101, 106)
	if c.compare(before); c.P == nil || *c.P < 0.05 {
		t.Errorf("the same: %+v", c)
	}
	c = times(1)
	c.Format = "dd"
	if c.compare(before); c.Before != 0 || c.P != nil {
		t.Errorf("compared with another format: %+v", c)
	}
}

// TestBenchPlot reads pictures as XML and counts their elements.
func TestBenchPlot(t *testing.T) {
	var r benchReport
	for _, n := range []int{300, 100, 1000} {
		for _, f := range []string{"f64", "mp:424"} {
			r.Cases = append(r.Cases, benchCase{Operation: "gemm", N: n, Format: f, Device: "cpu", Median: time.Duration(n * n)})
		}
	}
	r.Cases = append(r.Cases, benchCase{Operation: "inv", N: 300, Format: "f64", Device: "cpu", Error: "longer than 1s"})
	var many benchReport // more lines than the usual height has room for
	for _, o := range benchOperations {
		for _, f := range []string{"f64", "dd"} {
			many.Cases = append(many.Cases, benchCase{Operation: o.name, N: 5, Format: f, Device: "cpu", Median: 1}, benchCase{Operation: o.name, N: 6, Format: f, Device: "cpu", Median: 2})
		}
	}
	for _, c := range []struct {
		report benchReport
		axis   string
		points int
		names  []string
	}{
		{r, "n", 6, []string{"gemm f64", "gemm mp:424"}},
		{benchReport{Cases: r.Cases[:2]}, "bits", 2, []string{"gemm"}},
		{benchReport{Cases: r.Cases[:1]}, "bits", 1, []string{"gemm"}},
		{many, "n", len(many.Cases), []string{"sum f64", "qr dd"}},
	} {
		var b strings.Builder
		if err := plotBench(&b, c.report); err != nil {
			t.Fatal(err)
		}
		var texts []string
		points, text, height := 0, false, 0.
		for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch e := token.(type) {
			case xml.StartElement:
				text = e.Name.Local == "text"
				if e.Name.Local == "circle" {
					points++
				}
				for _, a := range e.Attr {
					v, _ := strconv.ParseFloat(a.Value, 64)
					if e.Name.Local == "rect" && a.Name.Local == "height" {
						height = v
					}
					if a.Name.Local == "y" && v > height {
						t.Errorf("a text at %v in a picture of height %v", v, height)
					}
					if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
						t.Errorf("%s=%s", a.Name.Local, a.Value)
					}
				}
			case xml.CharData:
				if text {
					texts = append(texts, string(e))
				}
			case xml.EndElement:
				text = false
			}
		}
		all := "\n" + strings.Join(texts, "\n") + "\n"
		for _, want := range append(c.names, c.axis) {
			if !strings.Contains(all, "\n"+want+"\n") {
				t.Errorf("%q is not in the picture: %q", want, texts)
			}
		}
		if points != c.points {
			t.Errorf("%d points, want %d", points, c.points)
		}
	}
	if err := plotBench(io.Discard, benchReport{Cases: r.Cases[6:]}); err == nil {
		t.Error("a picture of nothing")
	}
}
