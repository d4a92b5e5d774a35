// Package files writes files that appear under their names when they are complete, or not at all,
// and watches files for changes while they are read. "-" stands for the standard streams.
package files

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Stdio is the name of standard input and standard output.
const Stdio = "-"

// Write calls write with a writer to the file called name, or to stdout for "-",
// and compresses the output if the name ends in .gz. The file appears under its
// name when write has returned without error, and replaces an older one. If write
// returns an error, no file appears.
func Write(name string, stdout io.Writer, write func(w io.Writer) error) error {
	return WriteThen(name, stdout, nil, write)
}

// WriteThen is like Write. After write it calls last, unless last is nil. The file appears only if
// last returns no error.
func WriteThen(name string, stdout io.Writer, last func() error, write func(w io.Writer) error) error {
	if last == nil {
		last = func() error { return nil }
	}
	if name == Stdio {
		const shown = "standard output"
		w := bufio.NewWriterSize(stdout, 1<<16)
		if err := write(w); err != nil {
			return placed(shown, err)
		}
		if err := w.Flush(); err != nil {
			return Named(shown, err)
		}
		return last()
	}
	f, err := NewDraft(name)
	if err != nil {
		return Named(name, err)
	}
	defer f.Discard()
	w := bufio.NewWriterSize(f, 1<<16)
	if IsPacked(name) {
		// Random digits gain nothing from the slower levels.
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return Named(name, err)
		}
		if err := write(z); err != nil {
			return placed(name, err)
		}
		if err := z.Close(); err != nil {
			return Named(name, err)
		}
	} else if err := write(w); err != nil {
		return placed(name, err)
	}
	if err := w.Flush(); err != nil {
		return Named(name, err)
	}
	if err := last(); err != nil {
		return err
	}
	return Named(name, f.Commit())
}

// placed is Named for an error of the operating system, which names the
// temporary file; other errors stay.
func placed(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return Named(name, err)
	}
	return err
}

// CheckWritable reports whether a file called name can be written, before long work begins.
func CheckWritable(name string) error {
	if name == Stdio {
		return nil
	}
	if i, err := os.Stat(name); err == nil && i.Mode()&fs.ModeNamedPipe != 0 {
		return nil // opening it would wait for a reader
	}
	f, err := NewDraft(name)
	if err != nil {
		return Named(name, err)
	}
	f.Discard()
	return nil
}

// A Draft is a file that is being written. It is a temporary file, which Commit renames. If the
// name belongs to a device, a pipe or another file that is not regular, it is that file itself.
type Draft struct {
	*os.File
	Temporary string // its name until Commit, empty if the file is not regular
	target    string
}

// temporaries are the files under way, for RemoveTemporaries.
var temporaries struct {
	sync.Mutex
	names map[string]bool
	gone  bool
}

// RemoveTemporaries removes the files that are being written and lets none begin
// any more: call it before the program ends by a signal.
func RemoveTemporaries() {
	temporaries.Lock()
	defer temporaries.Unlock()
	temporaries.gone = true
	for n := range temporaries.names {
		os.Remove(n)
	}
	clear(temporaries.names)
}

var errGone = errors.New("the program is ending")

// NewDraft begins the file called name. Errors of the operating system contain the path that
// was opened, which may be temporary; [Named] replaces it.
func NewDraft(name string) (*Draft, error) {
	if name == "" {
		return nil, errors.New("the name of the file to write is empty")
	}
	target, err := followLinks(name)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o666)
	old, err := os.Stat(target)
	switch {
	case err == nil && old.IsDir():
		return nil, errors.New("is a directory")
	case err == nil && !old.Mode().IsRegular():
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		return &Draft{File: f}, err
	case err == nil:
		// Replacing the file needs no permission to write it: check the permission.
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		f.Close()
		mode = old.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f, err := createTemporary(target, mode)
	if err == nil && old != nil {
		err = f.Chmod(mode) // whatever the umask
		if err != nil {
			f.Discard()
		}
	}
	return f, err
}

// followLinks returns the name of the file that name stands for if it is a symbolic
// link, whether that file is there or not.
func followLinks(name string) (string, error) {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		if t, err := filepath.EvalSymlinks(name); err == nil {
			return t, nil
		}
		return name, nil // a device or pipe in /proc, say, or an error to come
	}
	const most = 255 // as filepath.EvalSymlinks has it
	for range most {
		i, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", err
		case i.Mode()&fs.ModeSymlink == 0:
			return name, nil
		}
		link, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(name)
			link = dir + link // not cleaned: dir/.. need not be what holds dir
		}
		name = link
	}
	return "", errors.New("too many symbolic links")
}

// createTemporary makes a new file beside target. Its name does not hold the target's, which may be
// as long as a name can be.
func createTemporary(target string, mode fs.FileMode) (*Draft, error) {
	temporaries.Lock()
	defer temporaries.Unlock()
	if temporaries.gone {
		return nil, errGone
	}
	dir, _ := filepath.Split(target)
	for k := 0; ; k++ {
		n := dir + ".halfulp-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(k) + ".tmp"
		f, err := os.OpenFile(n, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && k < 10000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if temporaries.names == nil {
			temporaries.names = map[string]bool{}
		}
		temporaries.names[n] = true
		return &Draft{f, n, target}, nil
	}
}

// Commit closes the file and renames it to its name.
func (f *Draft) Commit() error {
	if err := f.Close(); err != nil || f.Temporary == "" {
		return err
	}
	temporaries.Lock()
	defer temporaries.Unlock()
	if temporaries.gone {
		return errGone
	}
	if err := os.Rename(f.Temporary, f.target); err != nil {
		return err
	}
	delete(temporaries.names, f.Temporary)
	return nil
}

// Discard removes the temporary file unless it was committed.
func (f *Draft) Discard() {
	temporaries.Lock()
	defer temporaries.Unlock()
	f.Close()
	if temporaries.names[f.Temporary] {
		os.Remove(f.Temporary)
		delete(temporaries.names, f.Temporary)
	}
}

// IsPacked reports whether the name of a file has the extension .gz of gzip.
func IsPacked(name string) bool { return strings.EqualFold(filepath.Ext(name), ".gz") }

// Shown returns the name of a file for messages, such as "standard input" for "-".
func Shown(name string) string {
	switch name {
	case Stdio:
		return "standard input"
	case "":
		return "the empty name"
	}
	return name
}

// Named returns err with the name shown in front, in place of the operating system's "open name".
// It returns nil if err is nil.
func Named(shown string, err error) error {
	if err == nil {
		return nil
	}
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%s: %w", shown, err)
}
