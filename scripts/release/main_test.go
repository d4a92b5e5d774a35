package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
)

// TestArchives packs files twice, and looks at what the archives hold.
func TestArchives(t *testing.T) {
	members := []member{{"halfulp", []byte("program"), 0o755}, {"LICENSE", []byte("text"), 0o644}}
	const want = "f/halfulp 755 program\nf/LICENSE 644 text\n"
	for _, c := range []struct {
		name string
		pack func(string, []member) ([]byte, error)
		list func(t *testing.T, data []byte) string
	}{{"tar.gz", tarred, listTar}, {"zip", zipped, listZip}} {
		a, err := c.pack("f", members)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.pack("f", members)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two archives differ, or %v", c.name, err)
		}
		if got := c.list(t, a); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
	a, b := []archive{{"a", []byte("1")}}, []archive{{"a", []byte("2")}}
	if compare(a, a) != nil || compare(a, b) == nil || compare(a, nil) == nil {
		t.Error("compare")
	}
}

func listTar(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return s.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(built) {
			t.Errorf("%+v", h)
		}
		line(t, &s, h.Name, h.FileInfo().Mode(), r)
	}
}

func listZip(t *testing.T, data []byte) string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	for _, f := range r.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		line(t, &s, f.Name, f.Mode(), from)
	}
	return s.String()
}

// line writes name, mode and content of a file.
func line(t *testing.T, to *strings.Builder, name string, mode os.FileMode, from io.Reader) {
	t.Helper()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 100 {
		text = []byte("...")
	}
	fmt.Fprintf(to, "%s %o %s\n", name, mode.Perm(), text)
}

func TestCopyTree(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	for _, name := range []string{"a.go", "sub/b.go", "sub/dist/c.go", ".git/d", ".bin/e", "dist/f"} {
		path := filepath.Join(from, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyTree(to, from); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a.go": true, "sub/b.go": true, "sub/dist/c.go": true, ".git/d": false, ".bin/e": false, "dist/f": false} {
		text, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(name)))
		if want != (err == nil) || want && string(text) != name {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{"-version", "0.1"}, {"-version", "v1.2.3 -X a=b"}, {"more"}, {"-nix"}} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// TestRelease makes the archive for this machine twice from sources, as make release does for all
// machines, and runs the program.
func TestRelease(t *testing.T) {
	if !testlength.Long() {
		t.Skip("builds the program twice")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	t.Chdir("../..")
	dir, target := t.TempDir(), runtime.GOOS+"/"+runtime.GOARCH
	var sums strings.Builder
	if err := run([]string{"-o", dir, "-version", "v1.2.3", "-for", target}, &sums); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	name := "halfulp_v1.2.3_" + strings.ReplaceAll(target, "/", "_")
	data, err := os.ReadFile(filepath.Join(dir, name+".tar.gz"))
	if err != nil || !strings.HasSuffix(sums.String(), "  "+name+".tar.gz\n") {
		t.Fatal(err, sums.String())
	}
	want := name + "/halfulp 755 ...\n" + name + "/README.md 644 ...\n" + name + "/LICENSE 644 ...\n" + name + "/licenses.txt 644 ...\n"
	if got := listTar(t, data); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if text, err := exec.Command("tar", "-C", dir, "-xzf", filepath.Join(dir, name+".tar.gz")).CombinedOutput(); err != nil {
		t.Skip(err, string(text))
	}
	out, err := exec.Command(filepath.Join(dir, name, "halfulp"), "version").Output()
	if err != nil || string(out) != "halfulp v1.2.3\n" {
		t.Errorf("%q, %v", out, err)
	}
}
