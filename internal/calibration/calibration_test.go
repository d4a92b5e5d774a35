package calibration

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemembered(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	if got := Read[[]string]("a.json", 1); got != nil {
		t.Errorf("%q before it was written", got)
	}
	for _, want := range []string{"x", "yy"} {
		if err := Write("a.json", 1, []string{want}); err != nil {
			t.Fatal(err)
		}
		if got := Read[[]string]("a.json", 1); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Read[[]string]("a.json", 2); got != nil {
		t.Errorf("%q of another version", got)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path("a.json")), "*")); err != nil || len(left) != 1 {
		t.Errorf("files %q, %v", left, err)
	}
	if err := os.WriteFile(path("a.json"), []byte(`{"version": 1, "found": ["x"`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Read[[]string]("a.json", 1); got != nil {
		t.Errorf("%q of half a file", got)
	}
}
