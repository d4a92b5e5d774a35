package files

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// left returns the names in dir.
func left(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestRemoveTemporaries(t *testing.T) {
	dir := t.TempDir()
	err := Write(filepath.Join(dir, "x"), nil, func(io.Writer) error {
		RemoveTemporaries()
		if n := left(t, dir); n != "" {
			t.Errorf("left: %s", n)
		}
		return nil
	})
	if err == nil || left(t, dir) != "" {
		t.Errorf("%v, left: %s", err, left(t, dir))
	}
	temporaries.gone = false
}
