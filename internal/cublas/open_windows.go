//go:build amd64 || arm64

package cublas

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

const wanted = "cublas64_13.dll, cublas64_12.dll or cublas64_11.dll"

// candidates are the names under which cuBLAS is looked for: beside the program and among the
// system's files, then in CUDA's folder.
func candidates() []string {
	var names []string
	for _, version := range []string{"13", "12", "11"} {
		name := "cublas64_" + version + ".dll"
		names = append(names, name)
		if home := os.Getenv("CUDA_PATH"); home != "" {
			names = append(names, filepath.Join(home, "bin", name), filepath.Join(home, "bin", "x64", name))
		}
	}
	return names
}

func open(name string) (uintptr, error) {
	if !filepath.IsAbs(name) {
		h, err := windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
		return uintptr(h), err
	}
	h, err := windows.LoadLibraryEx(name, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	return uintptr(h), err
}

func find(file uintptr, symbol string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(file), symbol)
}
