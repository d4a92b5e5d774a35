package cli

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halfulp/halfulp/internal/textio"
)

// supervisor is the environment variable with the parent of a supervised process.
const supervisor = "HALFULP_SUPERVISOR"

// errorFile is the descriptor of standard error in a supervised process. Descriptor 2 is a pipe to
// its parent, to which the Go runtime and libraries in other languages write.
const errorFile = 3

// Supervised runs the program in a child process if the system may refuse memory: if it has a limit
// for the process (ulimit -v or -d) or for all (vm.overcommit_memory), or if --memory may request
// more than there is. A Go program whose memory is refused ends with a trace and exit status 2, and
// nothing in its own process can prevent this. Supervised turns the trace into one line, and
// returns the status [ExitFailed]. Where memory is not refused, and in the child, ended is false:
// the run begins, and uses the returned stderr as standard error.
//
// The child is a process group of its own, so that a terminal's signals come only to the parent,
// which passes all of them on. A process group that is not the terminal's foreground must not read
// from it; so a program that reads from a terminal runs without a supervisor.
func Supervised(args []string) (stderr *os.File, status int, ended bool) {
	if os.Getenv(supervisor) == strconv.Itoa(os.Getppid()) {
		os.Unsetenv(supervisor)
		unix.CloseOnExec(errorFile)
		return os.NewFile(errorFile, os.Stderr.Name()), 0, false
	}
	limit := limitInWords()
	asked := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--memory") })
	fromTerminal := slices.Contains(args, "-") || slices.Contains(args, os.Stdin.Name())
	if limit == "" && !asked && !overcommitted() || fromTerminal && isTerminal(os.Stdin) {
		return os.Stderr, 0, false
	}
	r, w, err := os.Pipe()
	if err != nil {
		return os.Stderr, 0, false
	}
	defer r.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env = os.Args, append(os.Environ(), supervisor+"="+strconv.Itoa(os.Getpid()))
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, w, []*os.File{os.Stderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	signals := make(chan os.Signal, 16)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGCONT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	runtime.LockOSThread() // the child would take the thread's end for its parent's
	err = cmd.Start()
	w.Close()
	if err != nil {
		signal.Reset()
		return os.Stderr, 0, false
	}
	go passOn(signals, cmd.Process.Pid)
	trace := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		trace <- b
	}()
	_ = cmd.Wait() // the state has the error
	_ = r.SetReadDeadline(time.Now().Add(time.Second))
	text := <-trace
	state := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if refused(string(text)) && (state.Signaled() || state.ExitStatus() == ExitMisuse) {
		return os.Stderr, tell(os.Stderr, args, ExitFailed, notEnough(limit)), true
	}
	_, _ = os.Stderr.Write(text)
	if state.Signaled() { // end in the same way
		signal.Reset(state.Signal())
		_ = syscall.Kill(os.Getpid(), state.Signal())
		time.Sleep(time.Second)
		return os.Stderr, ExitSignal + int(state.Signal()), true
	}
	return os.Stderr, state.ExitStatus(), true
}

// passOn sends signals to a process, and stops with it.
func passOn(signals <-chan os.Signal, pid int) {
	for s := range signals {
		if s == syscall.SIGTSTP {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			continue
		}
		_ = syscall.Kill(pid, s.(syscall.Signal))
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func notEnough(limit string) string {
	if limit == "" {
		return "not enough memory: the system refused it"
	}
	return "not enough memory: the system limits this process to " + limit
}

// overcommitted reports whether the system refuses memory beyond what it has.
func overcommitted() bool {
	b, _ := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return strings.TrimSpace(string(b)) == "2"
}

// limitInWords returns the least limit of this process's memory, or nothing if it has no limit.
func limitInWords() string {
	words, least := "", uint64(unix.RLIM_INFINITY)
	for _, l := range []struct {
		resource int
		what     string
	}{{unix.RLIMIT_AS, "address space (ulimit -v)"}, {unix.RLIMIT_DATA, "data (ulimit -d)"}} {
		var r unix.Rlimit
		if unix.Getrlimit(l.resource, &r) == nil && r.Cur < least {
			words, least = textio.Bytes(float64(r.Cur))+" of "+l.what, r.Cur
		}
	}
	return words
}

// refusedMemory matches the beginning of traces of a Go runtime whose memory was refused, for a
// heap or for a thread. Under a limit the runtime may also meet a nil pointer in a garbage
// collection.
var refusedMemory = regexp.MustCompile(`^(runtime: .*|fatal error: .*|(runtime/|fake)cgo: .*)(out of memory|annot allocate memory|pthread_create failed|failed to (create new OS thread|reserve|allocate))` +
	`|^SIGSEGV: segmentation violation\n(.*\n)*?\ngoroutine 0 .*\nruntime\.`)

// refused reports whether a trace comes from a program whose memory was refused.
func refused(trace string) bool {
	return refusedMemory.MatchString(strings.TrimLeft(trace, "\n"))
}
