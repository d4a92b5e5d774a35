package rns

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu"
)

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
	defer gpu.Substitute(dev)()
	for _, c := range []struct {
		f       func(string, *Base, int) (Options, error)
		routine string
		want    Options // that no measurement gives on purpose, but is a candidate
	}{
		{TuneSum, "sum", Options{Blocks: 128, BlockSize: 512}},
		{TuneGemv, "gemv", Options{BlockSize: 256}},
	} {
		get := func(n int) Options {
			t.Helper()
			o, err := c.f("cuda:0", b, n)
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
		for _, word := range []string{`"version": 1`, dev.Info().Name + ", " + c.routine + ", 8, moduli [3 5 7 11 13 17 19]"} {
			if !strings.Contains(file(), word) {
				t.Errorf("%s: no %q in\n%s", c.routine, word, file())
			}
		}
		before := count
		known := get(5)
		if get(8) != known || count != before {
			t.Errorf("%s: measured again", c.routine)
		}
		if get(9); count == before {
			t.Errorf("%s: another size is not measured", c.routine)
		}
		// What the file says counts, if it can be.
		key := dev.Info().Name + ", " + c.routine + ", 8, moduli [3 5 7 11 13 17 19]"
		for _, f := range []struct {
			text string
			used bool
		}{
			{`{"version": 1, "found": {"` + key + `": {"blocks": B, "block_size": S}}}`, true},
			{`{"version": 0, "found": {"` + key + `": {"blocks": B, "block_size": S}}}`, false},
			{`{"version": 1, "found": {"` + key + `": {"blocks": B, "block_size": 5000}}}`, false},
			{`{"version": 1}`, false},
			{`{"version"`, false},
		} {
			text := strings.NewReplacer("B", strconv.Itoa(c.want.Blocks), "S", strconv.Itoa(c.want.BlockSize)).Replace(f.text)
			must(t, os.WriteFile(name, []byte(text), 0o644))
			before := count
			o := get(7)
			if used := count == before; used != f.used || used && o != c.want {
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
	_, err = TuneSum("cuda:0", b, 3)
	must(t, err)
	for _, device := range []string{"cuda:7", "cpu"} {
		if _, err := TuneGemv(device, b, 3); !errors.Is(err, halfulp.ErrDevice) {
			t.Errorf("%s: %v", device, err)
		}
	}
}
