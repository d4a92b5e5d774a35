package files

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
)

// Read returns the content of the file called name, or of stdin for "-", unpacked if gzip packed
// it.
func Read(name string, stdin io.Reader) ([]byte, error) {
	if name != Stdio {
		f, err := os.Open(name)
		if err != nil {
			return nil, Named(Shown(name), err)
		}
		defer f.Close()
		stdin = f
	}
	r := bufio.NewReader(stdin)
	var from io.Reader = r
	if magic, err := r.Peek(2); err == nil && string(magic) == "\x1f\x8b" {
		if from, err = gzip.NewReader(r); err != nil {
			return nil, Named(Shown(name), err)
		}
	}
	text, err := io.ReadAll(from)
	return text, Named(Shown(name), err)
}
