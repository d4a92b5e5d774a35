//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"

	"github.com/halfulp/halfulp/internal/cli"
)

// become runs another program and ends with its exit status.
func become(env *cli.Environment, path string, args []string) error {
	cmd := exec.CommandContext(env.Ctx, path, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	return err
}
