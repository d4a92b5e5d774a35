// Gen writes the CUDA sources that gocuda translates, and the operations that it counts.
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
	write := func(folder, name string, generate func(root string) ([]byte, error)) {
		text, err := generate(os.Args[1])
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o666)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for name, generate := range gocuda.Files {
		write(os.Args[2], name, generate)
	}
	write(filepath.Join(os.Args[1], "reproduce"), "qdcounts.go", gocuda.Counts)
}
