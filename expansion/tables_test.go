package expansion

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTables checks that the generator writes the files of the repository.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a compiler")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	command := exec.CommandContext(t.Context(), goTool, "run", "./_tables", "-go", file("tables.go"), "-cuda", file("expansiontables.cuh"))
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, committed := range []string{"tables.go", filepath.Join("..", "internal", "kernels", "expansion", "expansiontables.cuh")} {
		want, err := os.ReadFile(committed)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file(filepath.Base(committed))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what go generate writes: %v", committed, err)
		}
	}
}
