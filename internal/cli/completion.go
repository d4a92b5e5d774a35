package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Scripts for shells contain all commands and flags, so that pressing a key does not start the
// program. The scripts of packages for kong start it.

// CompletionCmd is the command that prints a completion script.
type CompletionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help returns the description of the command.
func (CompletionCmd) Help() string {
	return `Prints a script for a shell that completes commands, flags, values of flags and names of files.

Examples:

  halfulp completion bash > halfulp.bash     # . ./halfulp.bash, or in ~/.local/share/bash-completion/completions/halfulp
  halfulp completion zsh > _halfulp          # in a folder of $fpath
  halfulp completion fish > halfulp.fish     # in ~/.config/fish/completions`
}

// Run prints the script.
func (c *CompletionCmd) Run(app *kong.Kong, env *Environment) error {
	script := bashCompletion
	switch c.Shell {
	case "zsh":
		script = zshCompletion
	case "fish":
		script = fishCompletion
	}
	_, err := fmt.Fprint(env.Stdout, script(app.Model))
	return err
}

// commandWords returns the words that select a command: one word, or two for the commands of gen.
func commandWords(app *kong.Application, n *kong.Node) string {
	return strings.TrimPrefix(n.Path(), app.Name+" ")
}

// flagsOf returns the flags of a command that help shows.
func flagsOf(n *kong.Node) []*kong.Flag {
	var all []*kong.Flag
	for _, group := range n.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

// Values of flags that are not enumerations.
var flagValues = map[string]string{
	"FORMAT": "f32 f64 dd td qd mp:106 mp:212 mp:424", "KIND": "mtx csv tsv txt npy npz flint pari mpmath mathematica",
	"TRIANGLE": "lower upper", "SIDE": "left right",
}

// valuesOf returns the known values of a flag, separated by blanks.
func valuesOf(f *kong.Flag) string {
	if f.Enum != "" {
		return strings.Join(f.EnumSlice(), " ")
	}
	switch f.Name {
	case "device":
		return "auto cpu cuda:0 cuda:all"
	case "method":
		return "auto residue direct"
	case "digits":
		return "shortest hex"
	}
	return flagValues[f.PlaceHolder]
}

// A Lister is a command whose first argument is one of a list of words.
type Lister interface{ Words() []string }

// wordsOf returns the words for a command's first argument, separated by blanks; all reports
// whether they apply to every argument.
func wordsOf(n *kong.Node) (words string, all bool) {
	if len(n.Positional) == 0 {
		return "", false
	}
	first := n.Positional[0]
	if l, ok := n.Target.Addr().Interface().(Lister); ok {
		return strings.Join(l.Words(), " "), first.IsCumulative()
	}
	return strings.Join(first.EnumSlice(), " "), first.IsCumulative()
}

// bashCompletion returns the script for bash.
func bashCompletion(app *kong.Application) string {
	var first []string
	second := map[string][]string{}
	var flags, values strings.Builder
	known := map[string]bool{}
	for _, n := range app.Leaves(true) {
		words := commandWords(app, n)
		one, two, ok := strings.Cut(words, " ")
		if !slices.Contains(first, one) {
			first = append(first, one)
		}
		if ok {
			second[one] = append(second[one], two)
		}
		var names []string
		for _, f := range flagsOf(n) {
			names = append(names, "--"+f.Name)
			if v := valuesOf(f); v != "" && !known[f.Name] {
				known[f.Name] = true
				fmt.Fprintf(&values, "\t--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", f.Name, v)
			}
		}
		fmt.Fprintf(&flags, "\t'%s') words='%s'", words, strings.Join(names, " "))
		switch arguments, all := wordsOf(n); {
		case arguments == "":
		case all:
			fmt.Fprintf(&flags, "; first='%s'", arguments)
		default:
			fmt.Fprintf(&flags, "; ((COMP_CWORD > 2)) || first='%s'", arguments)
		}
		flags.WriteString(" ;;\n")
	}
	var groups strings.Builder
	for _, one := range first {
		if two := second[one]; two != nil {
			fmt.Fprintf(&groups, "\t%s)\n\t\tif ((COMP_CWORD == 2)); then COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return; fi\n\t\tcommand=\"%s ${COMP_WORDS[2]}\"\n\t\t;;\n",
				one, strings.Join(two, " "), one)
		}
	}
	name := "_" + strings.ReplaceAll(app.Name, "-", "_")
	return fmt.Sprintf(`# bash completion for %[1]s
%[2]s() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words= first=
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W '%[3]s --help --version' -- "$cur"))
		return
	fi
	case $command in
	help|man)
		COMPREPLY=($(compgen -W '%[3]s' -- "$cur"))
		return
		;;
%[4]s	esac
	case $prev in
%[5]s	esac
	case $command in
%[6]s	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	elif [[ $first ]]; then
		COMPREPLY=($(compgen -W "$first" -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
complete -o filenames -F %[2]s %[1]s
`, app.Name, name, strings.Join(first, " "), groups.String(), values.String(), flags.String())
}

// zshCompletion returns the script for zsh, which runs the script for bash. It belongs in an fpath,
// or is sourced.
func zshCompletion(app *kong.Application) string {
	return fmt.Sprintf("#compdef %s\nautoload -U +X bashcompinit && bashcompinit\n%s", app.Name, bashCompletion(app))
}

// fishCompletion returns the script for fish.
func fishCompletion(app *kong.Application) string {
	var b strings.Builder
	quoted := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	fmt.Fprintf(&b, "# fish completion for %[1]s\ncomplete -c %[1]s -n __fish_use_subcommand -f\n", app.Name)
	described := map[string]bool{}
	for _, n := range app.Leaves(true) {
		one, two, ok := strings.Cut(commandWords(app, n), " ")
		chosen := fmt.Sprintf("__fish_seen_subcommand_from %s", one)
		if !described[one] {
			described[one] = true
			help := n.Help
			if ok {
				help = n.Parent.Help
			}
			fmt.Fprintf(&b, "complete -c %s -n __fish_use_subcommand -a %s -d %s\n", app.Name, one, quoted(help))
		}
		if ok {
			fmt.Fprintf(&b, "complete -c %s -n %s -a %s -d %s\n", app.Name, quoted(chosen), two, quoted(n.Help))
			chosen += "; and __fish_seen_subcommand_from " + two
		}
		if words, _ := wordsOf(n); words != "" {
			fmt.Fprintf(&b, "complete -c %s -n %s -a %s\n", app.Name, quoted(chosen), quoted(words))
		}
		for _, f := range flagsOf(n) {
			fmt.Fprintf(&b, "complete -c %s -n %s -l %s", app.Name, quoted(chosen), f.Name)
			if f.Short != 0 {
				fmt.Fprintf(&b, " -s %c", f.Short)
			}
			if !f.IsBool() {
				b.WriteString(" -r")
				if v := valuesOf(f); v != "" {
					fmt.Fprintf(&b, " -f -a %s", quoted(v))
				}
			}
			fmt.Fprintf(&b, " -d %s\n", quoted(f.Help))
		}
	}
	return b.String()
}
