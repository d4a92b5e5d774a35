package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCMake builds the examples by their CMakeLists.txt and runs them. The library, which
// pkg-config describes, is in another folder than the one where it was built.
func TestCMake(t *testing.T) {
	for _, tool := range []string{"cmake", "pkg-config"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	prefix, build := filepath.Join(t.TempDir(), "a folder"), t.TempDir()
	if err := os.CopyFS(prefix, os.DirFS(folder(t))); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-S", "../examples", "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix}, {"--build", build}} {
		if out, err := exec.Command("cmake", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for name, want := range map[string]string{"hilbert": "-12\n1716\n", "solve": "-7.9999999499642058\n"} {
		program := filepath.Join(build, name)
		if _, err := os.Stat(program); err != nil {
			continue // MPFR or Eigen is missing
		}
		if out, err := exec.Command(program).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
