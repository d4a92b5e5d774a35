package distributed

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/matfile"
	"github.com/halfulp/halfulp/matfile/gridfiles"
	"github.com/halfulp/halfulp/matrixmarket"
)

// Read reads the matrix in a file, which is to live on a grid. All processes call it, with the same
// name and options, and each reads a part of the file and gives entries to those that have them:
// none has all of the matrix, nor of the file. So it is for .npy files and .npz files that are not
// compressed, as numpy.save and numpy.savez write them, and for arrays of Matrix Market. Other
// files the first process reads alone, which needs memory for them: packed and compressed ones,
// coordinate files of Matrix Market, tables of numbers, arrays of 8-byte integers and long doubles,
// and texts with lines of more than 4 MiB. FILE.npz:L is the matrix L of several in a .npz file.
//
// The numbers have the format and bits that one process reads. opt is as for [matrixmarket.Read],
// with a memory limit on each process's part, and in the first one on what it reads alone.
//
// Each process needs the file under that name. An error in one is the error of all, with the file's
// name and the line or entry where there is one. Files that are not the same everywhere are an
// error: of files of different inodes or times of change each process reads all of its own once
// more, for a checksum.
func Read(name string, on halfulp.Device, opt *matrixmarket.Options) (*halfulp.Matrix, error) {
	g, err := gridOf(on)
	if err != nil {
		return nil, err
	}
	var o matrixmarket.Options
	if opt != nil {
		o = *opt
	}
	return gridfiles.Read(g, name, nil, matfile.ReadOptions{
		In: o.In, Stats: o.Stats, Threads: o.Threads, MemoryLimit: o.MemoryLimit, Context: o.Context, Progress: o.Progress,
	})
}

// Write writes a matrix that lives on a grid to a file, byte for byte as one process does. All
// processes call it, with the same name and options. The name chooses the kind of file: .npy for
// all formats but MP, .npz for all, .mtx, .mm or no extension for Matrix Market. These each process
// writes a part of. Others, .csv and all that ends in .gz, say, the first process writes alone, and
// needs memory for all of the matrix. Of opt Digits, Threads, Context and Progress count.
//
// Parts are written to a file of another name beside the one meant, which all processes have to
// reach, on a file system that they share. It takes its name when all parts are there; after an
// error in one process, which all return, there is none, and what had that name before stays.
func Write(name string, m *halfulp.Matrix, opt *matrixmarket.Options) error {
	g, ok := place.Of(m.View().Arr).(*grid.Grid)
	if !ok {
		return fmt.Errorf("%s: %w: the matrix does not live on a grid of processes, but on %s", name, halfulp.ErrPlace, m.Place())
	}
	var o matrixmarket.Options
	if opt != nil {
		o = *opt
	}
	return gridfiles.Write(g, name, nil, m, matfile.WriteOptions{Digits: o.Digits, Threads: o.Threads, Context: o.Context, Progress: o.Progress})
}

// gridOf returns the grid of that name.
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
