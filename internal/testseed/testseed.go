// Package testseed gives tests the seeds of their random inputs. They are fixed, so that a test
// that passes always passes. HALFULP_SEED=N in the environment sets another seed for all tests, and
// HALFULP_SEED=random draws one for each process. A failing test prints the seed it had.
package testseed

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Env is the environment variable that sets the seed of all tests.
const Env = "HALFULP_SEED"

// chosen returns the seed that the environment sets, and whether it sets one.
var chosen = sync.OnceValues(func() (uint64, bool) { return parse(os.Getenv(Env)) })

// parse panics for text that is neither empty, nor "random", nor an integer below 2^64.
func parse(text string) (seed uint64, set bool) {
	switch text {
	case "":
		return 0, false
	case "random":
		seed = rand.Uint64()
		_ = os.Setenv(Env, strconv.FormatUint(seed, 10)) // for processes that the test starts
		return seed, true
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s=%s: want an integer in [0, 2^64), or random", Env, text))
	}
	return seed, true
}

// Of returns the seed of a test's random inputs: the environment's, else a hash of the test's name,
// so that tests do not all draw the same numbers. If the test fails, it prints how to repeat it.
func Of(t testing.TB) uint64 {
	seed, set := chosen()
	if !set {
		h := fnv.New64a()
		_, _ = h.Write([]byte(t.Name()))
		seed = h.Sum64()
	}
	onFailure(t, seed)
	return seed
}

// Vary returns the seed itself. If the environment sets a seed, Vary returns the XOR of both, and a
// failing test prints how to repeat it.
func Vary(t testing.TB, seed uint64) uint64 {
	other, set := chosen()
	if set {
		onFailure(t, other)
	}
	return seed ^ other
}

// Rand returns a generator with the seeds Vary(t, hi) and lo.
func Rand(t testing.TB, hi, lo uint64) *rand.Rand { return rand.New(rand.NewPCG(Vary(t, hi), lo)) }

// prints has the tests that print their seeds if they fail.
var prints sync.Map

// onFailure has a test print its seed, once, if it fails.
func onFailure(t testing.TB, seed uint64) {
	if _, already := prints.LoadOrStore(t, nil); already {
		return
	}
	t.Cleanup(func() {
		prints.Delete(t)
		if t.Failed() {
			test, _, _ := strings.Cut(t.Name(), "/")
			t.Logf("%s=%d go test -run '^%s$' repeats these random inputs; %[1]s=random varies them", Env, seed, test)
		}
	})
}
