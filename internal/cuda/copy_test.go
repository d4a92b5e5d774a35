package cuda

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestCopyBytes checks copies on one and several goroutines, and that nothing is written
// beside them.
func TestCopyBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(7))
	for _, n := range []int{0, 1, 100, shareBytes, 2*shareBytes - 1, 2 * shareBytes, 3*shareBytes + 17, 7*shareBytes + 1, 20*shareBytes + 63} {
		src, dst := make([]byte, n), make([]byte, n+2)
		for i := range src {
			src[i] = byte(rand.Uint32())
		}
		copyBytes(dst[1:n+1], src)
		if !bytes.Equal(dst[1:n+1], src) || dst[0] != 0 || dst[n+1] != 0 {
			t.Errorf("%d bytes are copied wrong", n)
		}
	}
}
