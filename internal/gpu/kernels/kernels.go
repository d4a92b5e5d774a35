// Package kernels holds the GPU kernels: CUDA sources, and the PTX generated from them.
//
// Sources include nothing but files of this folder (NVRTC has no system headers), and
// declare kernels extern "C". Files named *_sm90a.cu are compiled for Hopper GPUs alone,
// the others for all from compute capability 8.0 on.
package kernels

import (
	"bytes"
	"embed"
	"slices"
)

//go:generate go run ../../gocuda/gen ../../.. .
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

// Entry returns PTX(name) without the kernels other than entry, so that a driver compiles no other.
// It panics if there is no such kernel.
func Entry(name, entry string) []byte {
	parts := sections(PTX(name))
	found := false
	parts = slices.DeleteFunc(parts, func(p []byte) bool {
		this := bytes.HasPrefix(p, []byte(kernelBegins+entry+"("))
		found = found || this
		return bytes.HasPrefix(p, []byte(kernelBegins)) && !this
	})
	if !found {
		panic("kernels: no " + entry + " in " + name + ".ptx")
	}
	return bytes.Join(parts, nil)
}

// What kernels and functions begin with.
const (
	kernelBegins   = "\n.visible .entry "
	functionBegins = "\n.func "
)

// sections cuts PTX before each kernel and each function.
func sections(text []byte) (parts [][]byte) {
	for begin := 0; begin < len(text); {
		end := len(text)
		for _, s := range []string{kernelBegins, functionBegins} {
			if i := bytes.Index(text[begin+1:end], []byte(s)); i >= 0 {
				end = begin + 1 + i
			}
		}
		parts = append(parts, text[begin:end])
		begin = end
	}
	return parts
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
