package main

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/halfulp/halfulp/internal/cli"
)

//go:generate go run ../../scripts/licenses . licenses.txt

// licenseText has the licences of the modules that the program contains.
//
//go:embed licenses.txt
var licenseText string

// versionCmd is the command that prints the version.
type versionCmd struct {
	Licenses bool `help:"Print the licences of this program, of Go and of the modules that it contains."`
}

// Help returns the description of the command.
func (versionCmd) Help() string {
	return `Prints the version, or the commit that the program was built from. halfulp info says more.

Examples:

  halfulp version
  halfulp version --licenses`
}

// Run prints the version or the licences.
func (c *versionCmd) Run(env *cli.Environment) error {
	if c.Licenses {
		_, err := io.WriteString(env.Stdout, licenseText)
		return err
	}
	_, err := fmt.Fprintln(env.Stdout, "halfulp "+cli.Version())
	return err
}
