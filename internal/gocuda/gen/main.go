// Gen writes the CUDA sources that gocuda translates.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/halfulp/halfulp/internal/gocuda"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen ROOT-OF-MODULE FOLDER-OF-KERNELS")
		os.Exit(2)
	}
	for name, generate := range gocuda.Files {
		text, err := generate(os.Args[1])
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[2], name), text, 0o666)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
