// Package testlength says how long tests are: short with -short, long with HALFULP_TEST=long in the
// environment, and else what a user waits for who runs go test ./... . HALFULP_TEST=slow says that
// an emulator runs them.
package testlength

import (
	"fmt"
	"iter"
	"os"
	"testing"
)

// Env is the environment variable that makes tests long, or says that they are slow.
const Env = "HALFULP_TEST"

// Long reports whether tests take their long form. It panics for another value than long or slow.
func Long() bool {
	switch v := os.Getenv(Env); v {
	case "", "slow":
		return false
	case "long":
		return !testing.Short()
	default:
		panic(fmt.Sprintf("%s=%s: want long or slow", Env, v))
	}
}

// Slow reports whether the race detector or an emulator makes tests an order of magnitude slower.
func Slow() bool { return Race || os.Getenv(Env) == "slow" }

// Trials returns about how many of n random trials to make: a quarter where tests are slow.
func Trials(n int) int {
	if Slow() {
		return (n + 3) / 4
	}
	return n
}

// Of returns short, usual or long.
func Of[T any](short, usual, long T) T {
	switch {
	case testing.Short():
		return short
	case Long():
		return long
	}
	return usual
}

// Until counts n random trials, and up to 100 n of them until there are enough of all kinds, of
// which n draws may have none: where every hundredth trial is of a kind and n is at least 20, that
// kind is missing less than once in 10^8 runs.
func Until(n int, enough func() bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		for trial := 0; trial < n || trial < 100*n && !enough(); trial++ {
			if !yield(trial) {
				return
			}
		}
	}
}
