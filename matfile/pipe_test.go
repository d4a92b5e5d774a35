//go:build unix

package matfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/files"
)

// TestPipes reads pipes by their names: each is opened once, as it delivers its bytes only once.
func TestPipes(t *testing.T) {
	want := gallery.Random(halfulp.Float64, 200, 60, 10, 3)
	for _, name := range []string{"a.npy", "a.npz", "a.mtx", "a.csv", "a", "a.npy.gz", "a.pipe"} {
		dir := t.TempDir()
		whole := filepath.Join(dir, "whole-"+name)
		if name == "a.pipe" {
			whole += ".npz"
		}
		if err := Write(whole, want, nil); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		pipe := filepath.Join(dir, name)
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		if _, ok := OpenDoubles(t.Context(), pipe); ok {
			t.Errorf("%s is read in parts", name)
		}
		feed := func() {
			f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := f.Write(content); err != nil {
				t.Error(err)
			}
			f.Close()
		}
		go feed()
		if m, err := Read(pipe, nil); err != nil || !m.Same(want) {
			t.Errorf("%s: %v", name, err)
		}
		go feed()
		if a, err := ReadSparse(pipe, nil); err != nil || a.Values.Len() != 200*60 {
			t.Errorf("%s: %v", name, err)
		}
		go feed()
		if b, err := files.Read(pipe, nil); err != nil || name == "a.npy" && !bytes.Equal(b, content) {
			t.Errorf("%s: %v", name, err)
		}
		// The name of an open descriptor, as a shell passes it for <(command).
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = w.Write(content) // in vain where nobody reads
			w.Close()
		}()
		fd := fmt.Sprint("/dev/fd/", r.Fd())
		if _, err := os.Stat(fd); err == nil {
			if m, err := Read(fd, nil); err != nil || !m.Same(want) {
				t.Errorf("%s as %s: %v", name, fd, err)
			}
		}
		r.Close()
	}
}
