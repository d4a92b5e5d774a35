//go:build !linux

package rns

func cpuTime() int64 { return 0 }
