package distributed

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/gridfiles"
)

// Read reads the matrix in a file onto a grid. All processes must call it, with the same name and
// options. Each process reads a part of the file and sends entries to the processes that keep them,
// so no process needs memory for the whole matrix or file. This holds for .npy files and
// uncompressed .npz files, as numpy.save and numpy.savez write them, and for arrays of Matrix
// Market. The first process reads all other files alone, and needs memory for them: packed and
// compressed files, coordinate files of Matrix Market, tables of numbers, arrays of 8-byte integers
// and long doubles, and texts with lines of more than 4 MiB. FILE.npz:L is the matrix L of several
// in a .npz file.
//
// The matrix has the format and bits that one process reads. opt is as for [matfile.Read]; its
// memory limit applies to each process's part, and in the first process also to the files that it
// reads alone.
//
// Each process needs the file under that name. An error in one process is returned by all, with the
// file's name and the line or entry if there is one. Files that differ between processes are an
// error: if their inodes or times of change differ, each process reads its whole file once more for
// a checksum.
func Read(name string, on halfulp.Device, opt *matfile.Options) (*halfulp.Matrix, error) {
	g, err := gridOf(on)
	if err != nil {
		return nil, err
	}
	return gridfiles.Read(g, name, opt)
}

// Write writes a matrix that lives on a grid to a file, with the same bytes as one process would
// write. All processes must call it, with the same name and options. The name selects the kind of
// file: .npy for all formats except MP, .npz for all formats, .mtx, .mm or no extension for Matrix
// Market. Each process writes a part of these files. The first process writes other files alone,
// such as .csv and all names that end in .gz, and needs memory for the whole matrix. opt is as for
// [matfile.Write].
//
// Parts are written to a temporary file beside the named one, on a file system that all processes
// must share. The file gets its name when all parts are there. After an error in one process, which
// all processes return, there is no new file, and an existing file of that name is unchanged.
func Write(name string, m *halfulp.Matrix, opt *matfile.Options) error {
	g, ok := place.Of(m.View().Arr).(*grid.Grid)
	if !ok {
		return fmt.Errorf("%s: %w: the matrix does not live on a grid of processes, but on %s", name, halfulp.ErrMixedDevices, m.Device())
	}
	return gridfiles.Write(g, name, m, opt)
}

// gridOf returns the grid with the given name.
func gridOf(on halfulp.Device) (*grid.Grid, error) {
	p, err := place.Home(string(on))
	if err != nil {
		return nil, err
	}
	g, ok := p.(*grid.Grid)
	if !ok {
		return nil, fmt.Errorf("device %q: %w: a grid of processes is wanted", on, halfulp.ErrDevice)
	}
	return g, nil
}
