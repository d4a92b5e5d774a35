package main

import "testing"

func TestCommandLine(t *testing.T) {
	got := commandLine([]string{"--only", "gemm-100$|it's", "--bits", "53,106", ""})
	const want = `go run ./cmd/peers --only 'gemm-100$|it'\''s' --bits 53,106 ''`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
