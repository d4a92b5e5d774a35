package main

import (
	"testing"

	"github.com/halfulp/halfulp/internal/cli/clitest"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"halfulp-reproduce": main})
}

// TestScripts runs the command-line scripts of testdata.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           clitest.Condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":  clitest.Status,
			"nofiles": clitest.NoFiles,
		},
	})
}
