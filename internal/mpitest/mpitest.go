// Package mpitest runs a test in several processes under mpiexec.
package mpitest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/mpi"
)

// child is the environment variable that tells a test's process that mpiexec started it.
const child = "HALFULP_MPITEST"

// Mpiexec returns the mpiexec that tests use, HALFULP_MPIEXEC or that of the search path, or skips
// the test. scripts/check.sh sees that there is one in continuous integration.
func Mpiexec(t testing.TB) string {
	name := os.Getenv("HALFULP_MPIEXEC")
	if name == "" {
		name = "mpiexec"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("left out: processes under MPI, there is no mpiexec (pip install mpich has one)")
	}
	return path
}

// InProcess reports whether this is one of the processes that Run started.
func InProcess() bool { return os.Getenv(child) != "" }

// Main is the TestMain of packages whose tests call Run.
func Main(m *testing.M) {
	code := m.Run()
	if InProcess() {
		mpi.Exit(code)
	}
	os.Exit(code)
}

// Run runs the test that calls it again, in n processes: in each of them Run returns true, and the
// test goes on; in the first process it returns false when all have ended, and the test has failed
// if one of them did.
func Run(t *testing.T, n int) bool {
	t.Helper()
	if InProcess() {
		return true
	}
	out, err := Output(t, n, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v=false", "-test.timeout="+(limit-10*time.Second).String())
	if err != nil {
		t.Fatalf("%d processes: %v\n%s", n, err, out)
	}
	return false
}

// limit is what processes that end in seconds do not take on a machine with much other work.
const limit = 5 * time.Minute

// ErrLimit is the error of processes that did not end.
var ErrLimit = errors.New("the processes did not end")

// Output starts a program in n processes and returns what they write.
func Output(t testing.TB, n int, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	//nolint:gosec // the program is the test, or built by it
	c := exec.CommandContext(ctx, Mpiexec(t), append([]string{"-n", strconv.Itoa(n), program}, args...)...)
	testseed.Vary(t, 0) // a random seed is the same in all processes
	c.Env = append(os.Environ(), child+"=1")
	c.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, ErrLimit)
	}
	return out.String(), err
}
