// Command licenses writes the licences of the modules that a program contains on any system that it
// is released for.
//
//	go run ./scripts/licenses PACKAGE FILE
package main

import (
	"fmt"
	"os"

	"github.com/halfulp/halfulp/internal/licenses"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a package and a file, not %q", args)
	}
	text, err := licenses.Text(".", args[0], licenses.Targets)
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], text, 0o644)
}
