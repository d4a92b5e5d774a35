// Package testlength says how long tests are: short with -short, long with HALFULP_TEST=long in the
// environment, and else what a user waits for who runs go test ./... . It also says where a test
// does not run: a test calls SkipRace, SkipSlow, SkipEmulated or SkipLevel with its reason.
package testlength

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// Env is an environment variable with the words "long", "slow", or both with a comma between them.
// "long" makes tests long, also those that otherwise do not run under the race detector, in an
// emulator, or at a lower level; with -short their lengths remain short. "slow" says that an
// emulator runs the tests.
const Env = "HALFULP_TEST"

// has reports whether Env has a word. It panics if Env has a word that is neither long nor slow.
func has(word string) (found bool) {
	v := os.Getenv(Env)
	if v == "" {
		return false
	}
	for w := range strings.SplitSeq(v, ",") {
		if w != "long" && w != "slow" {
			panic(fmt.Sprintf("%s=%s: want long or slow", Env, v))
		}
		found = found || w == word
	}
	return found
}

// Long reports whether tests take their long form.
func Long() bool { return has("long") && !testing.Short() }

// Slow reports whether the race detector, an emulator or arithmetic of 32 bits makes tests much
// slower.
func Slow() bool { return Race || has("slow") || runtime.GOARCH == "386" }

// SkipRace skips t under the race detector.
func SkipRace(t testing.TB, why string) {
	t.Helper()
	if Race && !has("long") {
		t.Skip("not under the race detector:", why)
	}
}

// SkipSlow skips t where tests are slow.
func SkipSlow(t testing.TB, why string) {
	t.Helper()
	if Slow() && !has("long") {
		t.Skip("not where tests are slow:", why)
	}
}

// SkipEmulated skips t in an emulator, also where tests are long: t cannot run there.
func SkipEmulated(t testing.TB, why string) {
	t.Helper()
	if has("slow") {
		t.Skip("not in an emulator:", why)
	}
}

// SkipLevel skips t where the environment chooses a level of instruction sets: t passes or fails at
// every level alike.
func SkipLevel(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("HALFULP_LEVEL") != "" && !has("long") {
		t.Skip("not at a chosen level:", why)
	}
}

// RaceOnly runs the tests of a package, under the race detector only the listed ones, unless
// -test.run chooses others. TestMain calls it in packages in which threads meet in a few tests and
// the others spend much time in arithmetic.
func RaceOnly(m *testing.M, tests ...func(*testing.T)) (code int) {
	if Race && !has("long") && flag.Lookup("test.run").Value.String() == "" {
		names := make([]string, len(tests))
		for i, f := range tests {
			name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
			names[i] = name[strings.LastIndex(name, ".")+1:]
		}
		if err := flag.Set("test.run", "^("+strings.Join(names, "|")+")$"); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// Trials returns about how many of n random trials to make: all of them in the long form, a quarter
// in the short one and where tests are slow, and else a third.
func Trials(n int) int {
	switch {
	case Slow() || testing.Short():
		return (n + 3) / 4
	case Long():
		return n
	}
	return (n + 2) / 3
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
