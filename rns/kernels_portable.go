//go:build !amd64 || purego

package rns

const assembly = false

func addFast(z, x, y, m []uint32) { addModulo(z, x, y, m[:len(z)]) }
func subFast(z, x, y, m []uint32) { subModulo(z, x, y, m[:len(z)]) }

func mulFast(_, _, _, _ []uint32, _ *kernelConstants) { panic(errAssembly) }

func sumFractionsFast(_ []uint32, _ *kernelConstants) (uint64, int) { panic(errAssembly) }

func dotRowsFast(_ []uint64, _, _ []uint32, _ int) { panic(errAssembly) }

func sumRowsFast(_, _, _ []uint32, _ int, _ []uint32, _ *kernelConstants) { panic(errAssembly) }

const errAssembly = "rns: no assembly in this build"
