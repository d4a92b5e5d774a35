//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/halfulp/halfulp/internal/cli"
)

// become replaces the process by another program, which receives its signals and sets its exit
// status.
func become(_ *cli.Environment, path string, args []string) error {
	return &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, args, os.Environ())}
}
