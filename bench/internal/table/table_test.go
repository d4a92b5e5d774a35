package table

import (
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
)

func figure(workload string, spread int, bits uint, method, role string, median float64, columns int) record.Figure {
	return record.Figure{
		Workload: workload, Kind: "gemm", N: 300, Spread: spread, Bits: bits, Method: method, Role: role, Threads: 2,
		Unit: "ns per multiply-add", Median: median, Columns: columns, ColumnsOf: 300,
	}
}

var sample = record.Record{
	Command: "go run ./cmd/peers",
	Date:    time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
	Machine: machine.Machine{CPU: "Some CPU", Cores: 2, Features: []string{"avx2"}},
	Go:      "go1.26",
	Libraries: []record.Library{
		{Name: "OpenBLAS", Version: "OpenBLAS 0.3"}, {Name: "MPFR", Version: "4.2.0"}, {Name: "math/big", Version: "go1.26"},
	},
	Figures: []record.Figure{
		figure("gemm-300", 0, 106, "OpenBLAS DGEMM", "reference", 0.04, 300),
		figure("gemm-300", 0, 106, "MPFR loop", "peer", 60, 100),
		figure("gemm-300", 0, 106, "Arb", "peer", 6, 300),
		figure("gemm-300", 0, 106, "halfulp", "subject", 0.4, 300),
		figure("gemm-300", 0, 212, "OpenBLAS DGEMM", "reference", 0.04, 300),
		{Workload: "gemm-300", Kind: "gemm", N: 300, Bits: 212, Method: "MPFR loop", Role: "peer", Threads: 2, Skipped: "40 s"},
		figure("gemm-300-spread50", 50, 106, "halfulp", "subject", 1, 300),
	},
}

func TestWriteText(t *testing.T) {
	const want = `gemm-300: gemm, n = 300; ns per multiply-add

  method                            106 bits   212 bits
  OpenBLAS DGEMM, 2 threads             0.04       0.04
  MPFR loop, 2 threads        60.0* (1500 T)    skipped
  Arb, 2 threads                6.00 (150 T)
  halfulp, 2 threads           0.40 (10.0 T)
  best peer / halfulp                   15.0

  T is OpenBLAS DGEMM on the same size, 2 threads.
  MPFR loop, 212 bits, skipped: 40 s.
  *: measured on the first columns of the result only, which cost the same each or nearly so.

gemm-300-spread50: gemm, n = 300, exponents spread over 2^±50; ns per multiply-add

  method                              106 bits
  halfulp, 2 threads                      1.00
  halfulp / halfulp on uniform data       2.50

`
	compare(t, want, func(s *strings.Builder) error { return WriteText(s, &sample) })
}

func TestWriteMarkdown(t *testing.T) {
	const want = "Some CPU, 2 cores (avx2), go1.26, 2026-01-02.\n" +
		"OpenBLAS 0.3; MPFR 4.2.0. Repeat with `go run ./cmd/peers` in `bench/`.\n" + `
**gemm-300: gemm, n = 300; ns per multiply-add**

| method                    |       106 bits | 212 bits |
|---------------------------|---------------:|---------:|
| OpenBLAS DGEMM, 2 threads |           0.04 |     0.04 |
| MPFR loop, 2 threads      | 60.0* (1500 T) |  skipped |
| Arb, 2 threads            |   6.00 (150 T) |          |
| halfulp, 2 threads        |  0.40 (10.0 T) |          |
| best peer / halfulp       |           15.0 |          |

T is OpenBLAS DGEMM on the same size, 2 threads. MPFR loop, 212 bits, skipped: 40 s. \*: measured on the first columns of the result only, which cost the same each or nearly so.

**gemm-300-spread50: gemm, n = 300, exponents spread over 2^±50; ns per multiply-add**

| method                            | 106 bits |
|-----------------------------------|---------:|
| halfulp, 2 threads                |     1.00 |
| halfulp / halfulp on uniform data |     2.50 |
`
	compare(t, want, func(s *strings.Builder) error { return WriteMarkdown(s, &sample) })
}

func compare(t *testing.T, want string, write func(*strings.Builder) error) {
	t.Helper()
	var s strings.Builder
	if err := write(&s); err != nil {
		t.Fatal(err)
	}
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
