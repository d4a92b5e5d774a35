package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/files"
)

// matrix reads an operand.
func (j *job) matrix(name string) (*halfulp.Matrix, error) {
	start := time.Now()
	opt := files.ReadOptions{
		In:       halfulp.AtLeast(j.format),
		Threads:  j.how.Threads,
		Context:  j.env.ctx,
		Progress: j.startProgress("reading " + name),
	}
	if j.rounds {
		opt.In = halfulp.OwnOr(j.format)
	}
	if f, ok := j.in.in(); ok {
		opt.In = halfulp.Exactly(f)
	}
	m, err := files.ReadMatrix(name, j.env.stdin, opt)
	j.finish()
	j.reading += time.Since(start)
	if err == nil && j.rounds && m.Format() != j.format {
		m = m.Convert(j.format)
	}
	return m, err
}

// writeFile writes z to the output file or standard output.
func (j *job) writeFile(z *halfulp.Matrix) error {
	opt := files.WriteOptions{Digits: int(j.print.Digits), Threads: j.how.Threads, Context: j.env.ctx}
	if j.print.target() != files.Stdio { // a bar among numbers on a terminal helps nobody
		opt.Progress = j.startProgress("writing " + j.print.Out)
		defer j.finish()
	}
	return files.WriteMatrix(j.print.target(), j.env.stdout, z, opt)
}

// writeText writes text there.
func (j *job) writeText(text string) error {
	return files.Write(j.print.target(), j.env.stdout, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// target is the name of the output file, that of standard output by default.
func (f *printFlags) target() string {
	if f.Out == "" {
		return files.Stdio
	}
	return f.Out
}

// check returns an error if the output file cannot be written, or cannot hold what
// is to be written: a matrix of one of the formats, as far as they are known, or
// text.
func (f *printFlags) check(isMatrix bool, formats ...halfulp.Format) error {
	if isMatrix && !f.JSON {
		return files.CheckWritable(f.target(), formats...)
	}
	if strings.HasSuffix(strings.ToLower(f.target()), ".npy") {
		return misuse("--out: %s: this result is text, which a .npy file does not hold", f.Out)
	}
	return files.CheckWritable(f.target())
}

// checkSize returns an error if a rows x cols matrix of format f takes more memory
// than halfulp.DefaultMemoryLimit.
func checkSize(f halfulp.Format, rows, cols int) error {
	number := math.Ceil(float64(f.Bits())/64) * 8
	switch {
	case f == halfulp.Float32:
		number = 4
	case f.IsMP():
		number += 8 // exponent, sign and class
	}
	need, limit := float64(rows)*float64(cols)*number, float64(halfulp.DefaultMemoryLimit())
	if need > limit {
		return fmt.Errorf("%d x %d numbers of format %v take %.3g GiB, the memory limit is %.3g GiB",
			rows, cols, f, need/(1<<30), limit/(1<<30))
	}
	return nil
}
