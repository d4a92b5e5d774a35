// Scale writes docs/guide/scale.md and its picture: a model of halfulp on 1 to 1024 GPUs. It
// simulates products, solutions and Cholesky factors on grids of them, with rates measured on one
// GPU and between two, and rates of data sheets where nothing was measured. It runs in the folder
// bench.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(".."); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}
