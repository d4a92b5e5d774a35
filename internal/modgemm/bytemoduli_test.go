package modgemm

import (
	"math/big"
	"testing"
)

func TestIsPrime(t *testing.T) {
	for m := 3; m < 1<<15; m += 2 {
		if want := big.NewInt(int64(m)).ProbablyPrime(0); isPrime(m) != want {
			t.Errorf("%d: %t", m, !want)
		}
	}
}
