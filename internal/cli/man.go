package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp/internal/textio"
)

// ManCmd is the command that prints manual pages.
type ManCmd struct {
	Command []string `arg:"" optional:"" help:"Command whose page to print (default: the page of the program)."`
}

// Help returns the description of the command.
func (ManCmd) Help() string {
	return `Prints the manual page of the program or of one command, for man to read.

Examples:

  halfulp man > halfulp.1                    # in a folder man1 of $MANPATH
  halfulp man gemm > halfulp-gemm.1
  halfulp man gen random > halfulp-gen-random.1`
}

// Run prints the pages.
func (c *ManCmd) Run(app *kong.Kong, env *Environment) error {
	node := app.Model.Node
	for _, name := range c.Command {
		above := node
		if node = childOf(node, name); node == nil {
			return Misuse("there is no command %s%s", strings.Join(c.Command, " "), textio.DidYouMean(name, namesOf(above)))
		}
	}
	_, err := fmt.Fprint(env.Stdout, manPage(app.Model, node))
	return err
}

// childOf returns the subcommand of the given name, or nil.
func childOf(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// roff escapes a text. In roff a backslash begins an escape, a minus sign needs one, and a line
// that begins with a full stop or an apostrophe would be a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return lineStart.ReplaceAllString(text, `\&$1`)
}

var lineStart = regexp.MustCompile(`(?m)^([.'])`)

// paragraphs writes the paragraphs of a help text. It leaves paragraphs with indented lines
// unchanged.
func paragraphs(b *strings.Builder, text string) {
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(p, "  ") || strings.Contains(p, "\n  ") {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(p))
		} else {
			fmt.Fprintf(b, ".PP\n%s\n", roff(p))
		}
	}
}

// manPage returns the manual page of the program or of one of its commands. It has no date, so that
// it depends on the program alone.
func manPage(app *kong.Application, n *kong.Node) string {
	var b strings.Builder
	name := strings.ReplaceAll(n.FullPath(), " ", "-")
	short, long, _ := strings.Cut(n.Help, "\n")
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n%s\n.SH DESCRIPTION\n",
		strings.ToUpper(name), app.Name, roff(name), roff(strings.TrimSuffix(short, ".")), roff(n.FullPath()), roff(synopsis(app, n)))
	if n.Detail != "" {
		long = n.Detail
	}
	paragraphs(&b, long)
	if len(n.Positional) > 0 {
		b.WriteString(".SH ARGUMENTS\n")
		for _, p := range n.Positional {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(p.Name), roff(p.Help))
		}
	}
	group := ""
	for _, f := range flagsOf(n) {
		if title := flagTitle(f); title != group || f.Name == "help" {
			group = title
			fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(title))
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flagSyntax(f)), roff(f.Help))
	}
	group = ""
	for _, c := range n.Leaves(true) {
		if c == n {
			continue
		}
		if g := c.ClosestGroup(); g != nil && g.Title != group {
			group = g.Title
			fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(strings.TrimSuffix(group, ":")))
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(commandWords(app, c)), roff(c.Help))
	}
	if n != app.Node {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(app.Name))
	}
	return b.String()
}

// synopsis returns the text after the name on a command line.
func synopsis(app *kong.Application, n *kong.Node) string {
	if n == app.Node {
		return "<command> [flags]"
	}
	words := strings.Count(commandWords(app, n), " ") + 1
	return strings.Join(strings.Fields(n.Summary())[words:], " ")
}

// flagTitle returns the heading of a flag's group.
func flagTitle(f *kong.Flag) string {
	if f.Group == nil {
		return "Flags"
	}
	return strings.TrimSuffix(f.Group.Title, ":")
}

// flagSyntax returns a flag as it is written.
func flagSyntax(f *kong.Flag) string {
	s := "--" + f.Name
	if f.Short != 0 {
		s = fmt.Sprintf("-%c, %s", f.Short, s)
	}
	if !f.IsBool() {
		s += "=" + f.FormatPlaceHolder()
	}
	return s
}
