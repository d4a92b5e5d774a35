//go:build (!amd64 && !arm64) || purego

package expansion

import "github.com/halfulp/halfulp/internal/impl"

func kernelsOf(impl.Set) *kernels { return &portableKernels }
