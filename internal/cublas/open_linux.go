//go:build amd64 || arm64

package cublas

import (
	"os"
	"path/filepath"

	"github.com/ebitengine/purego"
)

const wanted = "libcublas.so.13, .12 or .11"

// candidates are the names under which cuBLAS is looked for: the loader's search path, then
// where CUDA's installers put it.
func candidates() []string {
	folders := []string{"", "/usr/local/cuda/lib64", "/opt/cuda/lib64"}
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(name); home != "" {
			folders = append(folders, filepath.Join(home, "lib64"))
		}
	}
	if home := os.Getenv("CONDA_PREFIX"); home != "" {
		folders = append(folders, filepath.Join(home, "lib"))
	}
	var names []string
	for _, version := range []string{"13", "12", "11"} {
		for _, folder := range folders {
			names = append(names, filepath.Join(folder, "libcublas.so."+version))
		}
	}
	return names
}

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func find(file uintptr, symbol string) (uintptr, error) { return purego.Dlsym(file, symbol) }
