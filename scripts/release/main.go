// Command release writes the archives of a release: for each system and processor the program, the
// README, the licence, and the licences of the modules that the program contains; and SHA256SUMS
// with their checksums. It builds everything twice, the second time from a copy of the tree in
// another folder and without the cache of the first time, and fails unless all bits are equal.
//
//	go run ./scripts/release [-version v0.1.0] [-o dist/release] [-for linux/amd64,...] [-once]
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/halfulp/halfulp/internal/licenses"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// options are the flags of the command.
type options struct {
	version string
	out     string
	targets []string
	once    bool
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	var o options
	flags.StringVar(&o.version, "version", "v0.1.0", "version that the program prints")
	flags.StringVar(&o.out, "o", filepath.Join("dist", "release"), "folder for the archives")
	flags.BoolVar(&o.once, "once", false, "do not build a second time to compare the bits")
	targets := flags.String("for", strings.Join(licenses.Targets, ","), "systems and processors")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q is not wanted", flags.Arg(0))
	}
	if !versionPattern.MatchString(o.version) {
		return fmt.Errorf("version %q: want one such as v0.1.0", o.version)
	}
	o.targets = strings.Split(*targets, ",")
	return write(o, out)
}

// versionPattern matches versions of modules.
var versionPattern = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// write writes the archives of the tree in the working folder, and their checksums.
func write(o options, out io.Writer) error {
	first, err := archives(".", o.version, o.targets, nil)
	if err != nil {
		return err
	}
	if !o.once {
		second, err := again(".", o.version, o.targets)
		if err != nil {
			return fmt.Errorf("the second build: %w", err)
		}
		if err := compare(first, second); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, a := range first {
		if err := os.WriteFile(filepath.Join(o.out, a.name), a.data, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(a.data), a.name)
	}
	if err := os.WriteFile(filepath.Join(o.out, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	_, err = io.WriteString(out, sums.String())
	return err
}

// archive is a file of a release.
type archive struct {
	name string
	data []byte
}

// archives builds the tree in a folder for each target, with env added to the environment.
func archives(tree, version string, targets, env []string) ([]archive, error) {
	var texts []member
	for _, name := range []string{"README.md", "LICENSE", filepath.Join("cmd", "halfulp", "licenses.txt")} {
		text, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			return nil, err
		}
		texts = append(texts, member{filepath.Base(name), text, 0o644})
	}
	var all []archive
	for _, target := range targets {
		goos, goarch, ok := strings.Cut(target, "/")
		if !ok {
			return nil, fmt.Errorf("target %q: want one such as linux/amd64", target)
		}
		program, err := build(tree, version, goos, goarch, env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", target, err)
		}
		name := fmt.Sprintf("halfulp_%s_%s_%s", version, goos, goarch)
		members := append([]member{{"halfulp", program, 0o755}}, texts...)
		packed, ending := tarred, ".tar.gz"
		if goos == "windows" {
			members[0].name += ".exe"
			packed, ending = zipped, ".zip"
		}
		data, err := packed(name, members)
		if err != nil {
			return nil, err
		}
		all = append(all, archive{name + ending, data})
	}
	return all, nil
}

// build returns the program. What differs between folders, machines and checkouts is left out.
func build(tree, version, goos, goarch string, env []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "halfulp-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "halfulp")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid= -X github.com/halfulp/halfulp/internal/cli.release="+version, "-o", file, "./cmd/halfulp")
	cmd.Dir = tree
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0",
		"GOOS="+goos, "GOARCH="+goarch), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	return os.ReadFile(file)
}

// again builds a copy of the tree in another folder, with an empty cache.
func again(tree, version string, targets []string) ([]archive, error) {
	dir, err := os.MkdirTemp("", "halfulp-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, "tree")
	if err := copyTree(copied, tree); err != nil {
		return nil, err
	}
	return archives(copied, version, targets, []string{"GOCACHE=" + filepath.Join(dir, "cache")})
}

// copyTree copies a tree without hidden folders and dist.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, path)
		switch {
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || path == "dist"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// compare returns an error if the archives of two builds differ.
func compare(first, second []archive) error {
	if len(first) != len(second) {
		return fmt.Errorf("the second build has %d archives, the first %d", len(second), len(first))
	}
	for i, a := range first {
		if b := second[i]; a.name != b.name || !bytes.Equal(a.data, b.data) {
			return fmt.Errorf("%s: the second build has other bits", a.name)
		}
	}
	return nil
}

// member is a file in an archive.
type member struct {
	name string
	data []byte
	mode fs.FileMode
}

// built is the time of all files in the archives.
var built = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// tarred packs files into a .tar.gz archive, in a folder.
func tarred(folder string, members []member) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + m.name, Size: int64(len(m.data)), Mode: int64(m.mode),
			ModTime: built, Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// zipped packs files into a .zip archive, in a folder.
func zipped(folder string, members []member) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: folder + "/" + m.name, Method: zip.Deflate, Modified: built}
		h.SetMode(m.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(m.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
