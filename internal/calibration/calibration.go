// Package calibration keeps what was measured on a machine, in files of the folder halfulp of the
// user's cache directory (os.UserCacheDir).
package calibration

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// file is what a file holds.
type file[T any] struct {
	Version int `json:"version"`
	Found   T   `json:"found"`
}

// path returns the path of file name in the user's cache directory, "" if there is no such
// directory.
func path(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "halfulp", name)
}

// Read returns what the file of a name has, the zero T if it cannot be read or is of another
// version.
func Read[T any](name string, version int) T {
	var f file[T]
	data, err := os.ReadFile(path(name))
	if err != nil || json.Unmarshal(data, &f) != nil || f.Version != version {
		return *new(T)
	}
	return f.Found
}

// Write puts a new file in the place of the old one, whole or not at all.
func Write[T any](name string, version int, found T) error {
	to := path(name)
	if to == "" {
		return os.ErrNotExist
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(file[T]{version, found}, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), name+"*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
