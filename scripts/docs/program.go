package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// commandLine is a line of the program's list of commands: the name, of one or two words, and
// perhaps what it is for.
var commandLine = regexp.MustCompile(`^  ([a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)?)(?:  +(.*))?$`)

// programReference writes the help of every command of the program.
func programReference(root string, files map[string][]byte) error {
	dir, err := os.MkdirTemp("", "halfulp-docs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for module, program := range map[string]string{root: "./cmd/halfulp", filepath.Join(root, "reproduce"): "./cmd/halfulp-reproduce"} {
		build := exec.Command("go", "build", "-o", dir+string(os.PathSeparator), program)
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", program, err, out)
		}
	}
	help := func(program string, words ...string) (string, error) {
		c := exec.Command(filepath.Join(dir, program), append(words, "--help")...)
		c.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s %v --help: %w: %s", program, words, err, out)
		}
		return strings.TrimRight(string(out), "\n"), nil
	}
	var list, sections bytes.Buffer
	commands := 0
	for _, program := range []string{"halfulp", "halfulp-reproduce"} {
		all, err := help(program)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sections, "\n## %s\n\n```text\n%s\n```\n", program, all)
		for _, name := range commandNames(all) {
			text, err := help(program, strings.Fields(name)...)
			if err != nil {
				return err
			}
			commands++
			title := program + " " + name
			fmt.Fprintf(&list, "- [`%s`](#%s)\n", title, strings.ReplaceAll(title, " ", "-"))
			fmt.Fprintf(&sections, "\n## %s\n\n```text\n%s\n```\n", title, text)
		}
	}
	if commands < 30 {
		return fmt.Errorf("the help of the program lists %d commands", commands)
	}
	files["program.md"] = fmt.Appendf(nil, "# The program's commands\n\n%s\n\n%s%s", generatedNote, list.Bytes(), sections.Bytes())
	return nil
}

const generatedNote = "Written by `go run ./scripts/docs -reference`."

// commandNames are the names of the list of commands that ends a help.
func commandNames(help string) (names []string) {
	inList := false
	for _, line := range strings.Split(help, "\n") {
		switch {
		case line == "Flags:":
			inList = true // commands come after flags
		case inList:
			if m := commandLine.FindStringSubmatch(line); m != nil {
				names = append(names, m[1])
			}
		}
	}
	return names
}
