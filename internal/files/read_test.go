package files

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "a.txt.gz"} {
		path := filepath.Join(dir, name)
		err := Write(path, nil, func(w io.Writer) error {
			_, err := io.WriteString(w, "text")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path, nil); err != nil || string(got) != "text" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read(Stdio, f); err != nil || string(got) != "text" {
			t.Errorf("%s on standard input: %q, %v", name, got, err)
		}
		f.Close()
	}
	if _, err := Read(filepath.Join(dir, "none"), nil); err == nil || !strings.Contains(err.Error(), "none: ") {
		t.Error(err)
	}
	if got, err := Read(Stdio, strings.NewReader("x")); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}
