package matrixmarket

import "testing"

// TestManyEmptyRows checks that rows without entries count as memory.
func TestManyEmptyRows(t *testing.T) {
	text := []byte(Banner + " matrix array rational general\n1000000000 0\n")
	if _, err := ParseRats(text, "a.mtx", &Options{MemoryLimit: 1 << 20}); err == nil {
		t.Error("no error for 10^9 rows within 1 MiB")
	}
}
