//go:build (!amd64 && !arm64) || purego

package expansion

import "github.com/halfulp/halfulp/internal/isa"

func kernelsOf(isa.Set) *kernels { return &portableKernels }
