//go:build !linux

package halfulp

func cpuTime() int64 { return 0 }
