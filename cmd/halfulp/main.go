// Halfulp computes correctly rounded sums, products and statistics of the
// numbers in files, at any precision. See halfulp --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/impl"
)

// Exit statuses. A run that a signal ended exits with 128 and the signal's
// number, as shells report it: 130 after an interrupt, 143 after a termination.
const (
	exitOK     = 0
	exitFailed = 1 // unreadable or malformed files, computations that failed
	exitMisuse = 2 // bad flags or arguments, shapes that do not fit
	exitSignal = 128
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// grace is how long a cancelled run has to come to an end by itself.
const grace = time.Second

// run runs the program and returns its exit status. Every error is one line on
// stderr that begins "halfulp: ".
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- runCommand(ctx, args, stdin, stdout, stderr) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			// It waits for input or output, say.
			files.RemoveTemporaries()
			err = ctx.Err()
		}
	}
	return report(err, context.Cause(ctx), stderr)
}

// report writes what went wrong and returns the exit status; cause is why the run
// was cancelled, if it was.
func report(err, cause error, stderr io.Writer) int {
	var caught signalError
	var misuse usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(cause, &caught):
		fmt.Fprintf(stderr, "halfulp: %v\n", caught)
		return exitSignal + int(caught.Signal)
	}
	fmt.Fprintf(stderr, "halfulp: %s\n", oneLine(err))
	if errors.As(err, &misuse) || errors.Is(err, halfulp.ErrDevice) || errors.Is(err, halfulp.ErrMethod) {
		return exitMisuse
	}
	return exitFailed
}

// runCommand parses the command line and runs the command it names.
func runCommand(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	// Kong ends --help and --version through its exit function.
	type exited struct{}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(exited); !ok {
				panic(r)
			}
			err = nil
		}
	}()
	var c cli
	parser, err := kong.New(&c,
		kong.Name("halfulp"),
		kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { panic(exited{}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups(flagGroups),
		kong.Vars{"version": "halfulp " + version()},
	)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return commandLineError(err)
	}
	if err := impl.CheckEnv(); err != nil {
		return misuse("%w", err)
	}
	env := &environment{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	return parsed.Run(env)
}

// commandLineError says which command's help to read.
func commandLineError(err error) error {
	var parse *kong.ParseError
	help := "halfulp --help"
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			help = node.FullPath() + " --help"
		}
	}
	return misuse("%w (see %s)", err, help)
}

// usageError is an error of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func misuse(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// oneLine joins the lines of an error's text and takes the library's prefix
// away, which the program's own stands for.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " ")
	return strings.TrimPrefix(s, "halfulp: ")
}

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string {
	if e.Signal == syscall.SIGINT {
		return "interrupted"
	}
	return "terminated"
}

// withSignals returns a context that SIGINT and SIGTERM cancel. A second signal
// ends the process at once.
func withSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
