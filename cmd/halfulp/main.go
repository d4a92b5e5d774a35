// Halfulp computes correctly rounded sums, products and statistics of the
// numbers in files, at any precision. See halfulp --help.
package main

import (
	"io"
	"os"

	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/mpi"
)

func main() {
	if mpi.Launched() {
		os.Exit(runTogether(program, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	stderr, status, ended := cli.Supervised(os.Args[1:])
	if !ended {
		status = run(os.Args[1:], os.Stdin, os.Stdout, stderr)
	}
	os.Exit(status)
}

// run runs the program and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program.Run(args, stdin, stdout, stderr)
}

// program is the whole program.
var program = cli.Program{
	Name: "halfulp", Description: description, Groups: flagGroups,
	Unknown: unknownCommand, UnknownFlag: unknownFlag, Topics: map[string]string{"limits": limitsHelp()},
	Grammar: func() any { return new(grammar) },
}
