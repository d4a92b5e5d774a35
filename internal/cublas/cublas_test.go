package cublas

import (
	"errors"
	"strings"
	"testing"
)

// TestNone checks the error of a machine without cuBLAS.
func TestNone(t *testing.T) {
	_, err := create(0, func(func(*library, error) bool) {})
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "not found") {
		t.Error(err)
	}
}

// TestUseless checks that a library without the functions, and one after it, are named.
func TestUseless(t *testing.T) {
	_, err := create(0, func(yield func(*library, error) bool) {
		for _, name := range []string{"one", "two"} {
			l := &library{name: name}
			if !yield(l, l.lookup(func(symbol string) (uintptr, error) {
				if name == "two" && symbol == "cublasCreate_v2" {
					return 1, nil
				}
				return 0, nil
			})) {
				return
			}
		}
	})
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "one has no cublasCreate_v2") || !strings.Contains(err.Error(), "two has no cublasDestroy_v2") {
		t.Error(err)
	}
}

// TestStatus checks the words for a status.
func TestStatus(t *testing.T) {
	for status, want := range map[int]string{
		3:  "cublasSgemm: out of memory (status 3)",
		99: "cublasSgemm: error (status 99)",
	} {
		if got := (&Error{"cublasSgemm", status}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
