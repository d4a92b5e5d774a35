//go:build !amd64 || purego

package direct

func machineUnit() *laneUnit { return nil }
