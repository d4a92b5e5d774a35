// Package kernels holds the GPU kernels: CUDA sources, and the PTX generated from them.
//
// Sources include nothing but files of this folder (NVRTC has no system headers), and
// declare kernels extern "C". Files named *_sm90a.cu are compiled for Hopper GPUs alone,
// the others for all from compute capability 8.0 on.
package kernels

import (
	"bytes"
	"embed"
)

//go:generate go run ../../gocuda/gen ../../.. expansionarith.cuh
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

// Entry returns the part of PTX(name) that has the kernel entry alone, so that a driver compiles no
// other. It panics if there is no such kernel.
func Entry(name, entry string) []byte {
	begin := []byte("\n.visible .entry ")
	parts := bytes.Split(PTX(name), begin) // what all kernels share comes first
	for _, p := range parts[1:] {
		if bytes.HasPrefix(p, []byte(entry+"(")) {
			return bytes.Join([][]byte{parts[0], p}, begin)
		}
	}
	panic("kernels: no " + entry + " in " + name + ".ptx")
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
