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

// supervisor names the variable of the environment that holds the parent of a supervised process.
const supervisor = "HALFULP_SUPERVISOR"

// errorFile is the descriptor of a supervised process that is standard error. Descriptor 2 is a
// pipe to its parent, to which the Go runtime and libraries of other languages write.
const errorFile = 3

// Supervised runs the program in a child process if the system may refuse memory: where it has a
// limit for the process (ulimit -v or -d) or for all (vm.overcommit_memory), and where --memory may
// ask for more than there is. A Go program that is refused memory ends with a trace and exit status
// 2, which nothing in its own process can prevent. Here the trace becomes one line, and the status
// [ExitFailed]. Where memory is not refused, and in the child, the run has not ended: it begins,
// with the standard error that is returned.
//
// The child is a process group of its own, so that a terminal's signals come here alone, from where
// all are passed on. A group that is not the terminal's foreground may not read from it: what reads
// from a terminal runs without a supervisor.
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
	runtime.LockOSThread() // whose end the child would take for that of its parent
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
	_ = cmd.Wait() // the state says it
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

// overcommitted reports whether the system refuses memory that it may not have.
func overcommitted() bool {
	b, _ := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return strings.TrimSpace(string(b)) == "2"
}

// limitInWords returns the least limit of this process's memory, nothing if there is none.
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

// refusedMemory is what traces of the Go runtime begin with that was refused memory, for a heap or
// for a thread. Under a limit it also meets a nil pointer in a collection of garbage.
var refusedMemory = regexp.MustCompile(`^(runtime: .*|fatal error: .*|(runtime/|fake)cgo: .*)(out of memory|annot allocate memory|pthread_create failed|failed to (create new OS thread|reserve|allocate))` +
	`|^SIGSEGV: segmentation violation\n(.*\n)*?\ngoroutine 0 .*\nruntime\.`)

// refused reports whether a trace is that of a program that was refused memory.
func refused(trace string) bool {
	return refusedMemory.MatchString(strings.TrimLeft(trace, "\n"))
}
