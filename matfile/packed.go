package matfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// gzipMagic begins every member of a file packed by gzip.
const gzipMagic = "\x1f\x8b"

// unpacker reads data packed by gzip, one member after the other. Like gzip it accepts zeros after
// the last member, for example the padding of a tape block. Unlike gzip, which only warns, it fails
// on other bytes after the last member, as data may be missing.
type unpacker struct {
	text   []byte
	packed *bytes.Reader // of text
	member *gzip.Reader  // nil before the first
}

func newUnpacker(text []byte) *unpacker {
	return &unpacker{text: text, packed: bytes.NewReader(text)}
}

func (u *unpacker) Read(b []byte) (n int, err error) {
	if u.member == nil {
		if u.member, err = gzip.NewReader(u.packed); err != nil {
			return 0, err
		}
		u.member.Multistream(false)
	}
	for {
		if n, err = u.member.Read(b); n > 0 || !errors.Is(err, io.EOF) {
			if errors.Is(err, io.EOF) {
				err = nil // of the member
			}
			return n, err
		}
		if err := u.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the next member. It returns io.EOF if there is no further member.
func (u *unpacker) next() error {
	rest := u.text[len(u.text)-u.packed.Len():]
	switch {
	case len(bytes.TrimLeft(rest, "\x00")) == 0:
		return io.EOF
	case !bytes.HasPrefix(rest, []byte(gzipMagic)):
		return errors.New("the packed data is followed by bytes that gzip did not pack")
	}
	if err := u.member.Reset(u.packed); err != nil {
		return err
	}
	u.member.Multistream(false)
	return nil
}
