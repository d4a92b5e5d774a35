// Table renders a record of the peers program as Markdown or as aligned text.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/halfulp/halfulp/bench/internal/record"
	"github.com/halfulp/halfulp/bench/internal/table"
)

type options struct {
	Text   bool   `help:"Aligned text instead of Markdown."`
	Record string `arg:"" type:"existingfile" help:"Record file."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	parser := kong.Must(&o, kong.Name("table"), kong.Description("Renders a record of benchmark figures."),
		kong.Writers(stdout, stderr))
	if _, err := parser.Parse(args); err != nil {
		fmt.Fprintf(stderr, "table: %v\n", err)
		return 2
	}
	r, err := record.Read(o.Record)
	if err == nil {
		write := table.WriteMarkdown
		if o.Text {
			write = table.WriteText
		}
		err = write(stdout, r)
	}
	if err != nil {
		fmt.Fprintf(stderr, "table: %v\n", err)
		return 1
	}
	return 0
}
