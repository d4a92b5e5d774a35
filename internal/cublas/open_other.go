//go:build !((linux || windows) && (amd64 || arm64))

package cublas

const wanted = "cuBLAS for this system"

func load(func(*library, error) bool) {}

func (l *library) do(string, uintptr, ...uintptr) error { panic("cublas: no library was loaded") }
