package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/halfulp/halfulp/internal/testlength"
)

// TestNotYet checks that the page on limits has every missing operation, and that no command exists
// for one.
func TestNotYet(t *testing.T) {
	testlength.SkipRace(t, "results of commands on one thread")
	page, err := os.ReadFile("../../docs/guide/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "## Not there yet")
	list = strings.ToLower(list)
	for _, m := range notYet {
		if !strings.Contains(list, strings.ToLower(m.what)) || m.what != "complex numbers" && !strings.Contains(list, "`"+m.names[0]+"`") {
			t.Errorf("docs/guide/limits.md does not list %s, %s", m.what, m.names[0])
		}
		for _, name := range m.names {
			if calledOtherwise[name] != "" {
				t.Errorf("%s is in two lists", name)
			}
			if instead, see := unknownCommand(&kong.Application{Node: new(kong.Node)}, name); !strings.HasPrefix(instead, m.what+" are not there yet") || see == "" {
				t.Errorf("%s: %q, %q", name, instead, see)
			}
		}
		var stderr strings.Builder
		if status := run([]string{m.names[0], "A.csv"}, nil, nil, &stderr); status != 2 || !strings.Contains(stderr.String(), m.what+" are not there yet") {
			t.Errorf("%s: status %d, %s", m.names[0], status, &stderr)
		}
	}
}

// TestOtherwise checks for every name of a command in another program that the program knows the
// command that it stands for, and names that command.
func TestOtherwise(t *testing.T) {
	parser, err := kong.New(new(grammar), kong.Vars{"version": ""}, kong.ExplicitGroups(flagGroups))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range parser.Model.Children {
		known[c.Name] = true
	}
	for name, here := range calledOtherwise {
		if known[name] {
			t.Errorf("%s is a command", name)
		}
		if !known[here] {
			t.Errorf("%s stands for %s, which is no command", name, here)
		}
		if instead, _ := unknownCommand(parser.Model, name); instead != "it is called "+here+" here" {
			t.Errorf("%s: %s", name, instead)
		}
	}
	var stderr strings.Builder
	if status := run([]string{"slogdet", "A.csv"}, nil, nil, &stderr); status != 2 || !strings.Contains(stderr.String(), "it is called det here") {
		t.Errorf("slogdet: status %d, %s", status, &stderr)
	}
}

func TestMeantFormat(t *testing.T) {
	for text, want := range map[string]string{
		"mp300": "mp:300", "MP-300": "mp:300", "300": "mp:300", "300bits": "mp:300", "double": "f64", "float64": "f64", "f65": "f64", "f128": "mp:113",
		"long-double": "mp:64", "double-double": "dd", "ddd": "dd", "FLOAT": "f32", "mp:": "", "mp:x": "", "banana": "", "mp1": "",
	} {
		got := meantFormat(text)
		if want == "" && got != "" || !strings.HasPrefix(got, ": did you mean "[:min(len(want), 1)*15]+want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, f := range formatsOtherwise {
		var flag formatFlag
		if err := flag.UnmarshalText([]byte(f)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
