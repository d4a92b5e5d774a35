package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// TestEntryAssembles assembles what a driver gets, each kernel for itself, by the ptxas that
// HALFULP_PTXAS names.
func TestEntryAssembles(t *testing.T) {
	ptxas := os.Getenv("HALFULP_PTXAS")
	if ptxas == "" {
		t.Skip("HALFULP_PTXAS names no ptxas")
	}
	dir := t.TempDir()
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for _, name := range Files() {
		target := "-arch=sm_80"
		if strings.HasSuffix(name, "_sm90a") {
			target = "-arch=sm_90a"
		}
		for _, s := range find(name) {
			if s.kind != "entry" {
				continue
			}
			file := filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+"-"+s.name+".ptx")
			if err := os.WriteFile(file, Entry(name, s.name), 0o600); err != nil {
				t.Fatal(err)
			}
			free <- struct{}{}
			group.Go(func() {
				defer func() { <-free }()
				if out, err := exec.Command(ptxas, "-O0", target, "-o", os.DevNull, file).CombinedOutput(); err != nil {
					t.Errorf("%s of %s.ptx: %v\n%s", s.name, name, err, out)
				}
			})
		}
	}
	group.Wait()
}
