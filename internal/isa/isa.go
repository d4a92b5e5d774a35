// Package isa determines which instruction sets the fast kernels may use: the sets
// of the machine, lowered by the environment or by a test. Every package with more
// than one implementation of a function uses it, so that one setting governs all
// packages and a test can run under each level in turn.
package isa

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Env is the environment variable that lowers the level of a whole process,
// to one of the names of Set.String.
const Env = "HALFULP_LEVEL"

// A Set is a set of instructions, called a level. For one architecture a higher level includes the
// lower ones, and Portable is below all.
type Set int32

const (
	// Portable is Go without assembly.
	Portable Set = iota
	// NEON is the set of every arm64 processor: vectors of 128 bits.
	NEON
	// AVX2 is x86-64 with AVX2 and FMA.
	AVX2
	// AVX512 is AVX2 with AVX-512 F, BW, DQ and VL: Skylake-SP, Zen 4 and later.
	// Narrower extensions (VNNI, IFMA) are features, see HasVNNI and HasIFMA.
	AVX512
	// AMX is AVX512 with its VNNI and the tiles of AMX-INT8, which the system lets this process
	// use: Sapphire Rapids and later, Linux 5.16 and later.
	AMX
)

var names = [...]string{Portable: "portable", NEON: "neon", AVX2: "avx2", AVX512: "avx512", AMX: "amx"}

func (l Set) String() string {
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("isa.Set(%d)", int32(l))
	}
	return names[l]
}

// Parse returns the level of the given name.
func Parse(name string) (Set, error) {
	for l, n := range names {
		if n == name {
			return Set(l), nil
		}
	}
	return Portable, fmt.Errorf("unknown level %q: want one of %s", name, strings.Join(names[:], ", "))
}

// setting is the level that the environment requests, read once in a process.
var setting = sync.OnceValues(func() (Set, error) {
	return fromEnv(os.Getenv(Env), levels)
})

// fromEnv returns the level that the environment requests. available lists the levels, best first.
func fromEnv(value string, available []Set) (Set, error) {
	best := available[0]
	if value == "" {
		return best, nil
	}
	l, err := Parse(value)
	if err != nil {
		return best, fmt.Errorf("environment variable %s: %w", Env, err)
	}
	if !slices.Contains(available, l) {
		return best, fmt.Errorf("environment variable %s: level %q is not available here, the best is %q", Env, l, best)
	}
	return l, nil
}

// forced is 1 + the level of the innermost Force, 0 without one.
var forced atomic.Int32

// Level returns the level in force: the level of Force, else the level that the
// environment variable names, else the best level of the machine. A name that
// the machine does not support is ignored; CheckEnv reports it.
func Level() Set {
	if f := forced.Load(); f != 0 {
		return Set(f - 1)
	}
	l, _ := setting()
	return l
}

// CheckEnv returns an error if the environment requests a level that is unknown
// or that this machine does not support.
func CheckEnv() error {
	_, err := setting()
	return err
}

// Best is the highest level that this machine and this build offer.
func Best() Set { return levels[0] }

// Levels lists the levels available here, best first.
func Levels() []Set { return slices.Clone(levels) }

// Force puts level in force until the returned function is called. It is for
// tests: it acts on the whole process, so tests that call it do not run in
// parallel. It panics if the level is not available.
func Force(level Set) (restore func()) {
	if !slices.Contains(levels, level) {
		panic(fmt.Sprintf("isa: level %q is not available here, the best is %q", level, Best()))
	}
	old := forced.Swap(1 + int32(level))
	return func() { forced.Store(old) }
}

// HasVNNI reports whether the 16-bit dot product VPDPWSSD and the 8-bit
// VPDPBUSD may be used: the machine has them and the level in force is AVX512 or above.
func HasVNNI() bool { return vnni && Level() >= AVX512 }

// HasIFMA reports whether the products of 52-bit integers (IFMA) and the shifts of pairs of words
// (VBMI2) may be used: the machine has them and the level in force is AVX512 or above.
func HasIFMA() bool { return ifma && Level() >= AVX512 }
