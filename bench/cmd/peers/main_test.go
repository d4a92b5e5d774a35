package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/bench/internal/libraries"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// TestRun measures every library once on the smallest workload.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.json")
	var stdout, stderr strings.Builder
	args := []string{"--only", "^gemm-100$", "--bits", "106", "--repeat", "1", "--column-seconds", "0.05", "--json", path}
	if status := run(args, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d\n%s", status, stderr.String())
	}
	r, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Libraries) != len(libraries.All()) || len(r.Figures) < len(r.Libraries) {
		t.Errorf("%d libraries and %d figures of %d libraries", len(r.Libraries), len(r.Figures), len(libraries.All()))
	}
	for _, f := range r.Figures {
		if f.Median <= 0 || f.Min > f.Median || f.Max < f.Median {
			t.Errorf("%s: min %g, median %g, max %g", f.Method, f.Min, f.Median, f.Max)
		}
		if !strings.Contains(stdout.String(), f.Method) {
			t.Errorf("%s is missing in\n%s", f.Method, stdout.String())
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{
		{"--only", "("}, {"--only", "nothing"}, {"--libraries", "nothing"}, {"--bits", "1"}, {"--repeat", "0"}, {"--no-such-flag"},
	} {
		var stdout, stderr strings.Builder
		if status := run(args, &stdout, &stderr); status != 2 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%v: status %d, stdout %q, stderr %q", args, status, stdout.String(), stderr.String())
		}
	}
}
