// Gen writes the CUDA sources that gocuda translates.
package main

import (
	"fmt"
	"os"

	"github.com/halfulp/halfulp/internal/gocuda"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen ROOT-OF-MODULE OUTPUT.cuh")
		os.Exit(2)
	}
	text, err := gocuda.Expansion(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], text, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
