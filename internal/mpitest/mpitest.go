// Package mpitest runs a test in several processes under mpiexec.
package mpitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/mpi"
)

// child is the environment variable that tells a test's process that mpiexec started it.
const child = "HALFULP_MPITEST"

// Mpiexec returns the mpiexec that tests use, HALFULP_MPIEXEC or the one in the search path. If
// there is none, it skips the test. scripts/check.sh sees that there is one in continuous
// integration.
func Mpiexec(t testing.TB) string {
	name := os.Getenv("HALFULP_MPIEXEC")
	if name == "" {
		name = "mpiexec"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("left out: processes under MPI, there is no mpiexec (pip install mpich has one)")
	}
	if os.Getenv("HALFULP_MPIEXEC") == "" && !InProcess() {
		if why := joins(path); why != "" {
			t.Skipf("left out: processes under MPI, two do not join under %s (pip install mpich has one under which they do): %s", path, why)
		}
	}
	return path
}

// probe is the environment variable of processes that join and end.
const probe = "HALFULP_MPITEST_PROBE"

// joined is what they write.
const joined = "two processes joined"

func init() {
	if os.Getenv(probe) == "" {
		return
	}
	c, err := mpi.Init()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if c.Size() == 2 && c.Rank() == 0 {
		fmt.Println(joined)
	}
	mpi.Exit(0)
}

// joinsOf is what joins found, once for a program.
var joinsOf struct {
	once sync.Once
	why  string
}

// joins says why two processes do not join under an mpiexec, nothing if they do.
func joins(mpiexec string) string {
	joinsOf.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		program, err := os.Executable()
		if err != nil {
			joinsOf.why = err.Error()
			return
		}
		c := exec.CommandContext(ctx, mpiexec, "-n", "2", program)
		c.Env, c.WaitDelay = append(os.Environ(), probe+"=1"), 5*time.Second
		if out, err := c.CombinedOutput(); !strings.Contains(string(out), joined) {
			joinsOf.why = fmt.Sprintf("%v\n%s", err, out)
		}
	})
	return joinsOf.why
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
