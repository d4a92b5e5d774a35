package main

// #include "library.h"
import "C"

import (
	"context"
	"errors"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/matfile"
)

// readFile reads a matrix from a file, in the named format. If format is empty, it reads in
// float64, or in a wider format that holds all numbers of the file.
func readFile(name, format string, opt *halfulp.Options) (*halfulp.Matrix, error) {
	in := halfulp.AtLeast(halfulp.Float64)
	if format != "" {
		f, err := halfulp.ParseFormat(format)
		if err != nil {
			return nil, misuse("argument format: %v", err)
		}
		in = halfulp.Exactly(f)
	}
	if name == files.Stdio {
		return nil, misuse("argument file: %q; the name of a file is needed", name)
	}
	o := orDefaults(opt)
	m, err := matfile.Read(name, &matfile.Options{
		In: in, Threads: o.Threads, MemoryLimit: o.MemoryLimit, Context: o.Context, Progress: o.Progress,
	})
	return m, fileError(err)
}

// writeFile writes a matrix to a file; the ending of the name determines the kind of file.
func writeFile(m *halfulp.Matrix, name string, digits int, opt *halfulp.Options) error {
	if err := checkDigits(digits); err != nil {
		return err
	}
	if name == files.Stdio {
		return misuse("argument file: %q; the name of a file is needed", name)
	}
	if err := matfile.CheckName(name, m.NumberFormat()); err != nil {
		return misuse("%v", err)
	}
	h, err := onHost(m, m.NumberFormat())
	if err != nil {
		return err
	}
	o := orDefaults(opt)
	return fileError(matfile.Write(name, h, &matfile.Options{
		Digits: digits, Threads: o.Threads, Context: o.Context, Progress: o.Progress,
	}))
}

// fileError gives an error of a file the status HALFULP_FILE, unless it is an error of memory or a
// cancellation, which have their own status.
func fileError(err error) error {
	if err == nil || errors.Is(err, halfulp.ErrMemory) || errors.Is(err, context.Canceled) {
		return err
	}
	return failure{C.HALFULP_FILE, err.Error()}
}
