//go:build !linux

package fake

import (
	"bytes"
	"runtime"
	"strconv"
)

// thread returns the number of the calling goroutine, which a locked thread runs alone: the head of
// its stack trace is "goroutine 7".
func thread() int {
	var buffer [64]byte
	words := bytes.Fields(buffer[:runtime.Stack(buffer[:], false)])
	n, err := strconv.Atoi(string(words[1]))
	if err != nil {
		panic(err)
	}
	return n
}
