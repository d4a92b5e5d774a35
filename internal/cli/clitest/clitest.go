// Package clitest has commands for the scripts that test programs.
package clitest

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/rogpeppe/go-internal/testscript"
)

// Condition is the condition "long" of scripts.
func Condition(name string) (bool, error) {
	if name != "long" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return testlength.Long(), nil
}

// Status is the script command "status CODE PROGRAM ARGUMENTS": the program must
// exit with that status.
func Status(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("want a status and a program")
	}
	code := "0"
	var exit *exec.ExitError
	err := ts.Exec(args[1], args[2:]...)
	if errors.As(err, &exit) {
		code = strconv.Itoa(exit.ExitCode())
	} else {
		ts.Check(err)
	}
	if code != args[0] {
		ts.Fatalf("exit status %s, want %s", code, args[0])
	}
}

// NoFiles is the script command "nofiles PATTERN...": no file may match.
func NoFiles(ts *testscript.TestScript, _ bool, args []string) {
	for _, pattern := range args {
		found, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(found) > 0 {
			ts.Fatalf("left behind: %v", found)
		}
	}
}
