//go:build !amd64 || purego

package lanes

func machineUnit() *Unit { return nil }
