package table

import (
	"fmt"
	"strings"
)

// Arg is an argument of a function.
type Arg struct {
	Name   string
	Kind   string
	Result bool // it is a result: one of Out, else one of In
}

// Parsed returns the arguments of f in their order. It panics for what is no kind.
func (f Function) Parsed() []Arg {
	var args []Arg
	result := false
	for word := range strings.FieldsSeq(f.Args) {
		if word == ">" {
			result = true
			continue
		}
		name, kind, ok := strings.Cut(word, ":")
		if !ok {
			kind = name
		}
		a := Arg{name, kind, result}
		if _, ok := a.kinds()[kind]; !ok {
			panic(fmt.Sprintf("%s: argument %s: there is no kind %q", f.Name, name, kind))
		}
		args = append(args, a)
	}
	return args
}

func (a Arg) kinds() map[string]Kind {
	if a.Result {
		return Out
	}
	return In
}

// Of returns the kind of a.
func (a Arg) Of() Kind { return a.kinds()[a.Kind] }

// HasFormat reports whether a number has a format that can stand for one not given.
func (a Arg) HasFormat() bool {
	if a.Result {
		return false
	}
	switch a.Kind {
	case "matrix", "vector", "inout-matrix", "inout-vector", "view", "scalar":
		return true
	}
	return false
}
