package rns

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testlength"
)

// onCUDA returns Options for a device.
func onCUDA(d halfulp.Device) *Options { return &Options{Options: halfulp.Options{Device: d}} }

// TestTune measures once, remembers, and copes with files that are wrong.
func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("blocks of 1024 threads on a fake device")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the cache directory is set as on Linux")
	}
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	name := filepath.Join(dir, "halfulp", "rns.json")
	b, err := NewBase([]uint32{3, 5, 7, 11, 13, 17, 19})
	must(t, err)
	r, drv, count := &reference{t, b, b.newScratch()}, &fake.Driver{}, 0
	for _, name := range []string{"rnsSum", "rnsDot"} {
		drv.Kernel(name, func(l *fake.Launch, c refBase, s refSums) {
			count++
			r.partial(l, c, s)
		})
	}
	drv.Kernel("rnsTree", r.tree)
	drv.Kernel("rnsMap", r.mapping)
	for _, name := range []string{"rnsPairs", "rnsRecursiveS", "rnsRecursiveP", "rnsPairwiseS", "rnsPairwiseP"} {
		drv.Kernel(name, func(*fake.Launch, refBase, refSums) { t.Error("a kernel that is not tuned") })
	}
	dev, err := cuda.OpenDriver(drv, 0)
	must(t, err)
	defer mem.Substitute(dev)()
	for _, c := range []struct {
		f       func(*Base, int, *Options) (Options, error)
		routine string
		want    Options // that no measurement gives on purpose, but is a candidate
	}{
		{TuneSum, "sum", Options{Blocks: 128, BlockSize: 512}},
		{TuneGemv, "gemv", Options{BlockSize: 256}},
	} {
		get := func(n int) Options {
			t.Helper()
			o, err := c.f(b, n, onCUDA("cuda:0"))
			must(t, err)
			if o.BlockSize < 1 || o.BlockSize > MaxBlockSize || (o.Blocks > 0) != (c.routine == "sum") {
				t.Errorf("%s: %+v", c.routine, o)
			}
			return o
		}
		file := func() string {
			t.Helper()
			data, err := os.ReadFile(name)
			must(t, err)
			return string(data)
		}
		get(5)
		for _, word := range []string{`"version": 2`, dev.Info().Name + ", " + c.routine + ", 8, moduli [3 5 7 11 13 17 19]"} {
			if !strings.Contains(file(), word) {
				t.Errorf("%s: no %q in\n%s", c.routine, word, file())
			}
		}
		before := count
		known := get(5)
		if o := get(8); o.Blocks != known.Blocks || o.BlockSize != known.BlockSize || count != before {
			t.Errorf("%s: measured again", c.routine)
		}
		if c.routine == "sum" || testlength.Long() { // the routines remember alike
			if get(9); count == before {
				t.Errorf("%s: another size is not measured", c.routine)
			}
		}
		// What the file says counts, if it can be.
		key := dev.Info().Name + ", " + c.routine + ", 8, moduli [3 5 7 11 13 17 19]"
		for k, f := range []struct {
			text string
			used bool
		}{
			{`{"version": 2, "found": {"` + key + `": {"blocks": B, "block_size": S}}}`, true},
			{`{"version": 0, "found": {"` + key + `": {"blocks": B, "block_size": S}}}`, false},
			{`{"version": 2, "found": {"` + key + `": {"blocks": B, "block_size": 5000}}}`, false},
			{`{"version": 2}`, false},
			{`{"version"`, false},
		} {
			if k > 0 && (k < 4 || c.routine == "gemv") && !testlength.Long() {
				continue // files are read in the same way for both
			}
			text := strings.NewReplacer("B", strconv.Itoa(c.want.Blocks), "S", strconv.Itoa(c.want.BlockSize)).Replace(f.text)
			must(t, os.WriteFile(name, []byte(text), 0o644))
			before := count
			o := get(7)
			if used := count == before; used != f.used || used && (o.Blocks != c.want.Blocks || o.BlockSize != c.want.BlockSize) {
				t.Errorf("%s, file %s: used %v, %+v", c.routine, text, used, o)
			}
			if (file() == text) != f.used {
				t.Errorf("%s, file %s: became %s", c.routine, text, file())
			}
		}
	}
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
	// Without a file all is the same.
	t.Setenv("XDG_CACHE_HOME", filepath.Join(name, "no"))
	_, err = TuneSum(b, 3, onCUDA("cuda:0"))
	must(t, err)
	for _, device := range []halfulp.Device{"cuda:7", "cpu", "", "cuda:0,1"} {
		if _, err := TuneGemv(b, 3, onCUDA(device)); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("%s: %v", device, err)
		}
	}
}

// fakeClock makes tuneClock a clock that stands still but for what the test adds.
func fakeClock(t *testing.T) (add func(ms float64)) {
	t.Helper()
	clock, now := tuneClock, time.Unix(0, 0)
	t.Cleanup(func() { tuneClock = clock })
	tuneClock = func() time.Time { return now }
	return func(ms float64) { now = now.Add(time.Duration(ms * float64(time.Millisecond))) }
}

// TestTuneRatios: candidates that are as fast as the default, or hardly faster, or faster once
// only, do not take its place, however the machine's speed changes.
func TestTuneRatios(t *testing.T) {
	add := fakeClock(t)
	for _, c := range []struct {
		name string
		ms   []float64                             // of the candidates
		slow func(call, k, round int) (by float64) // how much slower a call is
		want int
	}{
		{"equal", []float64{5, 5, 5}, func(int, int, int) float64 { return 1 }, 0},
		{"slower", []float64{5, 6, 5.1}, func(int, int, int) float64 { return 1 }, 0},
		{"hardly faster", []float64{5, 4.9, 5}, func(int, int, int) float64 { return 1 }, 0},
		{"faster", []float64{5, 4.7, 4.5}, func(int, int, int) float64 { return 1 }, 2},
		{"the first run is slow", []float64{5, 5, 5}, func(call, _, _ int) float64 { return 1 + 9*max(0, float64(1-call)) }, 0},
		{"a machine that gets faster", []float64{5, 5, 5, 5}, func(_, _, round int) float64 { return 1 / float64(1+round) }, 0},
		{"a machine that gets slower by the call", []float64{5, 5, 5}, func(call, _, _ int) float64 { return 1 + float64(call)/1000 }, 0},
		{"one that was fast twice", []float64{5, 6, 5}, func(_, k, round int) float64 {
			if k == 1 && (round == 2 || round == 5) {
				return 0.5
			}
			return 1
		}, 0},
		{"a default that was slow twice", []float64{5, 5, 5}, func(_, k, round int) float64 {
			if k == 0 && round%2 == 1 && round < 5 {
				return 3
			}
			return 1
		}, 0},
		{"faster on a machine that is not quiet", []float64{5, 5, 4}, func(call, _, _ int) float64 { return 1 + float64(call%5)/40 }, 2},
	} {
		calls := 0
		ratios, err := tuneRatios(len(c.ms), func(k int) error {
			add(c.ms[k] * c.slow(calls, k, calls/len(c.ms)))
			calls++
			return nil
		})
		must(t, err)
		if got := fastest(ratios); got != c.want || ratios[0] != 1 {
			t.Errorf("%s: candidate %d, want %d; ratios %v", c.name, got, c.want, ratios)
		}
		if want := len(c.ms) * (1 + tuneRounds); calls != want {
			t.Errorf("%s: %d runs, want %d", c.name, calls, want)
		}
	}
	failed := errors.New("failed")
	if _, err := tuneRatios(2, func(k int) error { return map[int]error{1: failed}[k] }); !errors.Is(err, failed) {
		t.Errorf("a run that fails: %v", err)
	}
}

// TestTuneDefault: blocks that are faster for numbers of few bits but slower for full significands
// are not taken; those that are faster for both are.
func TestTuneDefault(t *testing.T) {
	b := smallBase(t)
	add := fakeClock(t)
	for _, c := range []struct {
		name string
		ms   map[int32][2]float64 // by size of blocks, for the first array and the second
		want int
	}{
		{"faster for one", map[int32][2]float64{32: {5, 9}, 64: {3, 9.1}, 16: {5, 8}}, DefaultBlockSize},
		{"faster for both", map[int32][2]float64{32: {5, 9}, 64: {3, 9.1}, 128: {4, 8}}, 128},
		{"slower", map[int32][2]float64{32: {5, 9}}, DefaultBlockSize},
	} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		t.Setenv("HOME", t.TempDir())
		t.Setenv("LocalAppData", t.TempDir())
		runs := 0
		r, drv := &reference{t, b, b.newScratch()}, fakeDriver(t, b)
		drv.Kernel("rnsDot", func(l *fake.Launch, k refBase, s refSums) {
			ms, ok := c.ms[s.Size]
			if !ok {
				ms = [2]float64{20, 20}
			}
			add(ms[runs/(5*(1+tuneRounds))])
			runs++
			r.partial(l, k, s)
		})
		dev, err := cuda.OpenDriver(drv, 0)
		must(t, err)
		restore := mem.Substitute(dev)
		o, err := TuneGemv(b, 3, onCUDA("cuda:0"))
		restore()
		must(t, err)
		if o.BlockSize != c.want || runs != 2*5*(1+tuneRounds) {
			t.Errorf("%s: blocks of %d threads after %d runs, want %d", c.name, o.BlockSize, runs, c.want)
		}
	}
}
