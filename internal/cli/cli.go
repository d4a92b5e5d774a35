// Package cli is the common part of the programs of this module: their run from the command line to
// the exit status, signals, progress bars.
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
	"github.com/halfulp/halfulp/internal/textio"
)

// Exit statuses. A run that a signal ended exits with 128 plus the signal's number, as shells
// report it: 129 after a hang-up, 130 after an interrupt, 143 after a termination.
const (
	ExitOK     = 0
	ExitFailed = 1 // unreadable or malformed files, computations that failed
	ExitMisuse = 2 // bad flags or arguments, shapes that do not fit
	ExitSignal = 128
)

// grace is the time that a cancelled run has to end by itself.
const grace = time.Second

// A Program is a command-line program.
type Program struct {
	Name        string // how it is called
	Description string
	Groups      []kong.Group // of flags and commands
	// Unknown, if not nil, returns a replacement for a command that does not exist, and the command
	// to run for more information if that is not the program with --help.
	Unknown func(app *kong.Application, command string) (instead, see string)
	// UnknownFlag, if not nil, returns the flags that correspond to a flag of another program, with
	// values where they follow from the given value.
	UnknownFlag func(name, value string) []string
	// Topics are texts that help prints for words that are not commands.
	Topics map[string]string
	// Grammar returns a new copy of commands and flags: a pointer to a structure that package kong
	// understands, whose commands have methods Run(*Environment) error.
	Grammar func() any
	// Said, if not nil, reports whether another process prints the error that made this one fail,
	// so that this one prints nothing.
	Said func(err error) bool
}

// Environment is the context and the files of a command.
type Environment struct {
	Ctx            context.Context
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run runs the program until a signal cancels it, and returns its exit status. It prints an error
// as one line on stderr that begins "halfulp: ", or with --json as an object with the members error
// and status.
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
			// The run waits for input or output, for example.
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

// tell prints an error in the form of [Program.Run], and returns the status.
func tell(stderr io.Writer, args []string, status int, text string) int {
	switch {
	case status == ExitOK:
	case wantsJSON(args):
		e := json.NewEncoder(stderr)
		e.SetEscapeHTML(false)
		_ = e.Encode(struct { // there is no other place to report an error
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

// wantsJSON reports whether --json is among the arguments, even if the others are invalid.
func wantsJSON(args []string) bool {
	if k := slices.Index(args, "--"); k >= 0 {
		args = args[:k]
	}
	return slices.Contains(args, "--json")
}

// outcome returns the exit status and the text of the error; cause is the reason for a cancelled
// run.
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
		if len(args) == 2 && p.Topics[args[1]] != "" {
			_, err := fmt.Fprintln(out, p.Topics[args[1]])
			return err
		}
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if name := args[0]; p.Unknown != nil && !strings.HasPrefix(name, "-") && childOf(parser.Model.Node, name) == nil {
		instead, see := p.Unknown(parser.Model, name)
		if see == "" {
			see = p.Name + " --help"
		}
		return Misuse("there is no command %s: %s (see %s)", name, instead, see)
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
		return p.commandLineError(args, err)
	}
	if err := isa.CheckEnv(); err != nil {
		return Misuse("%w", err)
	}
	return parsed.Run(env)
}

// checkedOutput is a writer that keeps its first error: package kong continues after an error.
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

// onlyCommand returns a grammar with only the command that args begin with: the others would take
// most of the time of a short run. It returns the whole grammar if args begin with something else,
// or with a command that describes others.
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

// commandLineError adds to an error which command's help to read, and the word that may have been
// meant.
func (p Program) commandLineError(args []string, err error) error {
	var parse *kong.ParseError
	help, meant := p.Name+" --help", ""
	if errors.As(err, &parse) && parse.Context != nil {
		node := parse.Context.Selected()
		if node == nil {
			node = parse.Context.Model.Node
		} else {
			help = node.FullPath() + " --help"
		}
		meant = p.meant(node, args, err)
	}
	return Misuse("%w%s (see %s)", parserError{err}, meant, help)
}

// meant returns ": did you mean ...?" for the word of the command line that an error is about, or
// nothing.
func (p Program) meant(node *kong.Node, args []string, err error) string {
	text := err.Error()
	if found := unknownFlag.FindStringSubmatch(text); found != nil {
		flags := map[string]bool{}
		var names []string
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				flags["--"+f.Name] = true
				names = append(names, "--"+f.Name)
			}
		}
		if p.UnknownFlag != nil {
			var known []string
			for _, other := range p.UnknownFlag(strings.TrimLeft(found[1], "-"), valueOf(args, found[1])) {
				if name, _, _ := strings.Cut(other, " "); flags[name] {
					known = append(known, other)
				}
			}
			if len(known) > 0 {
				return ": did you mean " + strings.Join(known, " or ") + "?"
			}
		}
		return textio.DidYouMean(found[1], names)
	}
	if found := unexpected.FindStringSubmatch(text); found != nil {
		return textio.DidYouMean(found[1], namesOf(node))
	}
	if found := notOne.FindStringSubmatch(text); found != nil {
		return textio.DidYouMean(found[2], strings.Split(strings.ReplaceAll(found[1], `"`, ""), ","))
	}
	return ""
}

// valueOf returns the value after a flag, or nothing.
func valueOf(args []string, flag string) string {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, flag+"="); ok {
			return v
		}
		if a == flag && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			return args[i+1]
		}
	}
	return ""
}

// namesOf returns the names of the commands below another.
func namesOf(n *kong.Node) []string {
	var names []string
	for _, c := range n.Children {
		names = append(names, c.Name)
	}
	return names
}

// parserError is an error of package kong in plainer words.
type parserError struct{ error }

// joinNegative joins a flag of the command line and the negative number after it, which package
// kong took for flags. It returns nil for other errors.
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

// endWithNegative handles the error of package kong that takes a negative number for a flag. It
// moves the first argument that is a negative number, and all arguments after it that are neither
// flags nor values of flags, to the end after "--", in their order. It returns nil for other
// errors.
func endWithNegative(args []string, err error) []string {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil || !negative.MatchString(err.Error()) {
		return nil
	}
	valued := map[string]bool{} // flags whose value is the next argument
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

	unknownFlag = regexp.MustCompile(`^unknown flag (-[^\s,]+)`)
	unexpected  = regexp.MustCompile(`^unexpected argument ([^\s,]+)`)
	notOne      = regexp.MustCompile(`must be one of (".*") but got "(.*)"$`)
	parsersOwn  = regexp.MustCompile(`, did you mean .*$`) // guesses of package kong
)

func (e parserError) Error() string {
	text := notWhole.ReplaceAllString(e.error.Error(), "$1 is not a whole number in range")
	text = valued.ReplaceAllString(text, "$1: $2 is taken for a flag: write $1=$2")
	text = missing.ReplaceAllString(text, "$1: a value is missing")
	return parsersOwn.ReplaceAllString(text, "")
}

func (e parserError) Unwrap() error { return e.error }

// usageError is an error of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Misuse returns an error of the command line. Its exit status is ExitMisuse.
func Misuse(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// oneLine joins the lines of an error's text and removes the prefix of the library, since the
// program adds its own. Rows and columns count from 1.
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
// nil. SIGHUP stays ignored if it is ignored from the start, as under nohup.
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

// removeTemporaries removes temporary files. It waits at most grace for a file system that does not
// answer.
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

// HelpCmd is in the list of commands only: help COMMAND is read as COMMAND --help.
type HelpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to explain (default: a list of all commands)."`
}

// Help returns the description of the command.
func (HelpCmd) Help() string {
	return `Prints the help of a command, like its flag --help.

Examples:

  halfulp help
  halfulp help gen random
  halfulp help limits                        # operations that are missing`
}
