package matfile

import (
	"context"
	"math"
	"os"

	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/matfile/internal/npy"
)

// Doubles is a .npy file of doubles that is read in parts, by any number of goroutines. The file
// takes no memory of the program.
type Doubles struct {
	in    *input
	unmap func()
	at    int64
	n     int
}

// OpenDoubles opens a .npy file to read it in parts. The numbers must be doubles in the byte order
// of this machine, in an array of any shape, and the file a regular one of at least 64 KiB. For all
// other files ok is false; Read reads them. ctx bounds the wait for the clock of the file system,
// by which Check finds changes.
func OpenDoubles(ctx context.Context, name string) (d *Doubles, ok bool) {
	if i, err := os.Stat(name); err != nil || !i.Mode().IsRegular() || KindOf(name) != NPY {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	d = &Doubles{in: &input{name: name, from: f}}
	if !d.find(ctx) {
		d.Close()
		return nil, false
	}
	return d, true
}

// find maps the file and locates the numbers.
func (d *Doubles) find(ctx context.Context) (ok bool) {
	if err := d.in.begin(ctx); err != nil {
		return false
	}
	_, text, unmap, ok := d.in.mapNumPy(options{Options: Options{MemoryLimit: math.MaxInt64}})
	if !ok {
		return false
	}
	d.unmap = unmap
	d.at, d.n, ok = npy.Doubles(text)
	return ok
}

// Len returns the number of numbers.
func (d *Doubles) Len() int { return d.n }

// Read reads len(z) numbers into z, from number i on, in the order of the file. It keeps the bits
// of every NaN.
func (d *Doubles) Read(z []float64, i int) error {
	return files.Named(files.Shown(d.in.name), npy.ReadDoubles(d.in.file, z, d.at+8*int64(i)))
}

// Check returns an error if the file changed since it was opened.
func (d *Doubles) Check() error { return d.in.watch.Check() }

// Close closes the file.
func (d *Doubles) Close() {
	if d.unmap != nil {
		d.unmap()
	}
	_ = d.in.from.(*os.File).Close()
}
