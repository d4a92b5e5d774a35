// Package testlength says how long tests are: short with -short, long with HALFULP_TEST=long in the
// environment, and else what a user waits for who runs go test ./... .
package testlength

import (
	"fmt"
	"os"
	"testing"
)

// Env is the environment variable that makes tests long.
const Env = "HALFULP_TEST"

// Long reports whether tests take their long form. It panics for another value than long.
func Long() bool {
	switch v := os.Getenv(Env); v {
	case "":
		return false
	case "long":
		return !testing.Short()
	default:
		panic(fmt.Sprintf("%s=%s: want long", Env, v))
	}
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
