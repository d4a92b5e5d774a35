package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/halfulp/halfulp/internal/cli"
)

// reproducer is the program with the papers' experiments. Their plots would make up a third of this
// program.
const reproducer = "halfulp-reproduce"

type reproduceCmd struct {
	Args []string `arg:"" optional:"" placeholder:"PAPER" help:"The paper and its flags; --help lists them."`
}

func (c *reproduceCmd) Run(env *cli.Environment) error {
	path, err := findReproducer()
	if err != nil {
		return err
	}
	return become(env, path, append([]string{reproducer}, c.Args...))
}

// findReproducer looks beside this program, and then in the search path of commands.
func findReproducer() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), reproducer)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(reproducer)
	if err != nil {
		return "", errors.New("reproduce is a program of its own, " + reproducer + ", which is neither beside halfulp nor in PATH: go -C reproduce install ./cmd/halfulp-reproduce in a clone of the repository installs it")
	}
	return path, nil
}
