// Package cli is what the programs of this module share: their run from the command line to the
// exit status, signals, progress bars.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp/internal/counted"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
)

// Exit statuses. A run that a signal ended exits with 128 and the signal's
// number, as shells report it: 129 after a hang-up, 130 after an interrupt, 143 after a
// termination.
const (
	ExitOK     = 0
	ExitFailed = 1 // unreadable or malformed files, computations that failed
	ExitMisuse = 2 // bad flags or arguments, shapes that do not fit
	ExitSignal = 128
)

// grace is how long a cancelled run has to come to an end by itself.
const grace = time.Second

// A Program is a program of the command line.
type Program struct {
	Name        string // how it is called
	Description string
	Groups      []kong.Group // of flags and commands
	// Unknown, if not nil, says what to use in place of a command that does not exist.
	Unknown func(app *kong.Application, command string) string
	// Grammar returns commands and flags anew: a pointer to a structure that package kong
	// understands, whose commands have methods Run(*Environment) error.
	Grammar func() any
	// Said, if not nil, reports whether another process tells of what made this one fail, so that
	// this one prints nothing.
	Said func(err error) bool
}

// Environment is what a command works in.
type Environment struct {
	Ctx            context.Context
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run runs the program until a signal cancels it, and returns its exit status. Every error is one
// line on stderr that begins "halfulp: ", or with --json an object with the members error and
// status.
func (p Program) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := WithSignals(context.Background(), nil)
	defer stop()
	return p.RunContext(ctx, args, stdin, stdout, stderr)
}

// RunContext is Run until ctx ends.
func (p Program) RunContext(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if stdout == io.Writer(os.Stdout) && stdoutClosed() {
		stdout = closedOutput{}
	}
	done := make(chan error, 1)
	go func() { done <- p.runCommand(args, &Environment{ctx, stdin, stdout, stderr}) }()
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
	status, text := outcome(err, context.Cause(ctx))
	if status != ExitOK && status < ExitSignal && p.Said != nil && p.Said(errors.Join(err, context.Cause(ctx))) {
		return status
	}
	return tell(stderr, args, status, text)
}

// tell tells of an error as [Program.Run] does, and returns the status.
func tell(stderr io.Writer, args []string, status int, text string) int {
	switch {
	case status == ExitOK:
	case wantsJSON(args):
		e := json.NewEncoder(stderr)
		e.SetEscapeHTML(false)
		_ = e.Encode(struct { // there is no other place to tell of an error here
			Error  string `json:"error"`
			Status int    `json:"status"`
		}{text, status})
	default:
		fmt.Fprintf(stderr, "halfulp: %s\n", text)
	}
	return status
}

// closedOutput is a standard output that was closed before the program began.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: fs.ErrClosed}
}

// wantsJSON reports whether --json is among the arguments, however wrong the others are.
func wantsJSON(args []string) bool {
	if k := slices.Index(args, "--"); k >= 0 {
		args = args[:k]
	}
	return slices.Contains(args, "--json")
}

// outcome returns the exit status and what went wrong; cause is why the run was cancelled, if it
// was.
func outcome(err, cause error) (status int, text string) {
	var caught signalError
	var misuse usageError
	switch {
	case err == nil:
		return ExitOK, ""
	case errors.As(cause, &caught):
		return ExitSignal + int(caught.Signal), caught.Error()
	case errors.As(err, &misuse) || errors.Is(err, place.ErrDevice) || errors.Is(err, product.ErrMethod):
		return ExitMisuse, oneLine(err)
	}
	return ExitFailed, oneLine(err)
}

// runCommand parses the command line and runs the command it names.
func (p Program) runCommand(args []string, env *Environment) (err error) {
	// Kong ends --help and --version through its exit function.
	type exited struct{}
	out := &checkedOutput{Writer: env.Stdout}
	env.Stdout = out
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(exited); !ok {
				panic(r)
			}
			err = nil
		}
		if err == nil {
			err = out.err
		}
		var output *fs.PathError
		if errors.As(err, &output) && output.Path == os.Stdout.Name() {
			err = files.Named("standard output", output)
		}
	}()
	parser, err := kong.New(onlyCommand(p.Grammar(), args),
		kong.Name(p.Name),
		kong.Description(p.Description),
		kong.Writers(out, env.Stderr),
		kong.Exit(func(int) { panic(exited{}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups(p.Groups),
		kong.Vars{"version": "halfulp " + Version()},
	)
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "help" && childOf(parser.Model.Node, "help") != nil {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if name := args[0]; p.Unknown != nil && !strings.HasPrefix(name, "-") && childOf(parser.Model.Node, name) == nil {
		return Misuse("there is no command %s: %s (see %s --help)", name, p.Unknown(parser.Model, name), p.Name)
	}
	parsed, err := parser.Parse(args)
	for joined := args; err != nil; {
		if other := joinNegative(joined, err); other != nil {
			joined = other
		} else if joined = endWithNegative(joined, err); joined == nil {
			break
		}
		parsed, err = parser.Parse(joined)
	}
	if err != nil {
		return p.commandLineError(err)
	}
	if err := isa.CheckEnv(); err != nil {
		return Misuse("%w", err)
	}
	return parsed.Run(env)
}

// checkedOutput is a writer that keeps its first error: package kong goes on after one.
type checkedOutput struct {
	io.Writer
	err error
}

func (w *checkedOutput) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// onlyCommand returns a grammar with no other command than the one that args begin with: most of
// the time of a short run would go into the others. It is the whole grammar where they begin with
// something else, or with a command that tells of others.
func onlyCommand(grammar any, args []string) any {
	if len(args) == 0 || slices.Contains([]string{"completion", "help", "man"}, args[0]) {
		return grammar
	}
	t := reflect.TypeOf(grammar).Elem()
	var kept []reflect.StructField
	found := false
	for i := range t.NumField() {
		f := t.Field(i)
		if _, isCommand := f.Tag.Lookup("cmd"); isCommand {
			name, named := f.Tag.Lookup("name")
			if !named {
				name = strings.ToLower(f.Name)
			}
			if name != args[0] {
				continue
			}
			found = true
		}
		kept = append(kept, f)
	}
	if !found {
		return grammar
	}
	return reflect.New(reflect.StructOf(kept)).Interface()
}

// commandLineError says which command's help to read.
func (p Program) commandLineError(err error) error {
	var parse *kong.ParseError
	help := p.Name + " --help"
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			help = node.FullPath() + " --help"
		}
	}
	return Misuse("%w (see %s)", parserError{err}, help)
}

// parserError is an error of package kong in plainer words.
type parserError struct{ error }

// joinNegative joins a flag of the command line and the negative number after it, which package
// kong took for flags; nil if that is not the error.
func joinNegative(args []string, err error) []string {
	found := negativeValue.FindStringSubmatch(err.Error())
	if found == nil {
		return nil
	}
	for i, a := range args[:len(args)-1] {
		if a == found[1] && args[i+1] == found[2] {
			return slices.Concat(args[:i], []string{a + "=" + args[i+1]}, args[i+2:])
		}
	}
	return nil
}

// endWithNegative moves the first argument that is a negative number, and all arguments after it
// that are neither flags nor values of flags, to the end after "--", in their order: package kong
// took the number for a flag. It returns nil if that is not the error.
func endWithNegative(args []string, err error) []string {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil || !negative.MatchString(err.Error()) {
		return nil
	}
	valued := map[string]bool{} // flags that take the next argument
	for _, f := range parse.Context.Flags() {
		if b, ok := f.Target.Interface().(interface{ IsBool() bool }); f.IsBool() || f.IsCounter() || ok && b.IsBool() {
			continue
		}
		valued["--"+f.Name] = true
		if f.Short != 0 {
			valued["-"+string(f.Short)] = true
		}
	}
	var before, after []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--" && len(after) > 0:
			return slices.Concat(before, []string{"--"}, after, args[i+1:])
		case a == "--":
			return nil
		case valued[a] && i+1 < len(args):
			before = append(before, a, args[i+1])
			i++
		case negativeNumber.MatchString(a) || len(after) > 0 && (a == files.Stdio || !strings.HasPrefix(a, "-")):
			after = append(after, a)
		default:
			before = append(before, a)
		}
	}
	if len(after) == 0 {
		return nil
	}
	return slices.Concat(before, []string{"--"}, after)
}

var (
	negativeNumber = regexp.MustCompile(`^-([0-9.]|inf|Inf|INF)`)
	negativeValue  = regexp.MustCompile(`(--[a-z-]+): expected \w+ value but got "(-[0-9.][^"]*)" \(short flag\)`)

	notWhole = regexp.MustCompile(`expected a valid \d+ bit u?int but got ("[^"]*")`)
	valued   = regexp.MustCompile(`(--[a-z-]+): expected \w+ value but got "(-[^"]*)" \(short flag\); perhaps try .*`)
	missing  = regexp.MustCompile(`(--[a-z-]+): expected \w+ value but got "EOL" \(<EOL>\)`)
	negative = regexp.MustCompile(`^unknown flag -[0-9.iI]`)
)

func (e parserError) Error() string {
	text := notWhole.ReplaceAllString(e.error.Error(), "$1 is not a whole number in range")
	text = valued.ReplaceAllString(text, "$1: $2 is taken for a flag: write $1=$2")
	return missing.ReplaceAllString(text, "$1: a value is missing")
}

func (e parserError) Unwrap() error { return e.error }

// usageError is an error of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Misuse returns an error of the command line, for which the exit status is ExitMisuse.
func Misuse(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// oneLine joins the lines of an error's text and takes the library's prefix
// away, which the program's own stands for. Rows and columns count from 1.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(strings.ReplaceAll(counted.Text(err, 1), "\n", "; ")), " ")
	return strings.TrimPrefix(s, "halfulp: ")
}

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string {
	switch e.Signal {
	case syscall.SIGHUP:
		return "hung up"
	case syscall.SIGINT:
		return "interrupted"
	}
	return "terminated"
}

// WithSignals returns a context that SIGHUP, SIGINT and SIGTERM cancel. A second signal removes
// temporary files within grace, and calls end with the exit status, or ends the process if end is
// nil. SIGHUP stays ignored where it is from the start, as under nohup.
func WithSignals(parent context.Context, end func(status int)) (ctx context.Context, stop func()) {
	if end == nil {
		end = os.Exit
	}
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	over := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			cancel(signalError{s.(syscall.Signal)})
		case <-over:
			return
		}
		select {
		case s := <-signals:
			removeTemporaries()
			end(ExitSignal + int(s.(syscall.Signal)))
		case <-over:
		}
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(over)
		cancel(nil)
	})
}

// removeTemporaries waits for a file system that does not answer, for grace at most.
func removeTemporaries() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		files.RemoveTemporaries()
	}()
	select {
	case <-done:
	case <-time.After(grace):
	}
}

// VersionCmd is the command that prints the version.
type VersionCmd struct{}

// Help returns its description.
func (VersionCmd) Help() string {
	return `Prints the version, or the commit that the program was built from. halfulp info says more.

Example:

  halfulp version`
}

// Run prints it.
func (VersionCmd) Run(env *Environment) error {
	_, err := fmt.Fprintln(env.Stdout, "halfulp "+Version())
	return err
}

// HelpCmd stands in the list of commands: help COMMAND is read as COMMAND --help.
type HelpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to explain (default: all in short)."`
}

// Help returns its description.
func (HelpCmd) Help() string {
	return `Prints the help of a command, as its flag --help does.

Examples:

  halfulp help
  halfulp help gen random`
}
