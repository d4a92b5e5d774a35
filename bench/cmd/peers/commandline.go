package main

import "strings"

// commandLine returns what a reader types into a shell to repeat a run.
func commandLine(args []string) string {
	words := []string{"go", "run", "./cmd/peers"}
	for _, arg := range args {
		if arg == "" || strings.Trim(arg, plain) != "" {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// plain are the characters that no shell interprets.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+,./:@%"
