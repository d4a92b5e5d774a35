//go:build !linux

package rational_test

func cpuTime() int64 { return 0 }
