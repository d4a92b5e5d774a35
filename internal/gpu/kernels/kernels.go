// Package kernels holds the GPU kernels: CUDA sources, and the PTX generated from them.
//
// Sources include nothing but files of this folder (NVRTC has no system headers), and
// declare kernels extern "C". Files named *_sm90a.cu are compiled for Hopper GPUs alone,
// the others for all from compute capability 8.0 on.
package kernels

import "embed"

//go:generate _ptx/ptx.py generate

//go:embed *.ptx
var files embed.FS

// PTX returns the generated code of source name.cu. It panics if there is no such file.
func PTX(name string) []byte {
	text, err := files.ReadFile(name + ".ptx")
	if err != nil {
		panic("kernels: no " + name + ".ptx")
	}
	return text
}

// Files names all sources, without their .cu.
func Files() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name()[:len(e.Name())-len(".ptx")])
	}
	return names
}
