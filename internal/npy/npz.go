package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/lines"
	"github.com/halfulp/halfulp/internal/num"
)

// ZipMagic begins every .npz file.
const ZipMagic = "PK\x03\x04"

// ParseZip reads a .npz file: one that [WriteZip] wrote, in the format that it names, or the only
// array of another. The rest is as for [Parse].
func ParseZip(file []byte, name string, opt Options) (*halfulp.Matrix, error) {
	m, err := parseZip(file, opt)
	if err != nil {
		return nil, opt.placed(name, err)
	}
	return m, nil
}

// member returns the content of a member of a .npz file: in place if it is not compressed.
func member(file []byte, f *zip.File, opt *Options) ([]byte, error) {
	if f.Method == zip.Store {
		at, err := f.DataOffset()
		if err != nil {
			return nil, err
		}
		if n := f.UncompressedSize64; n <= uint64(len(file)) && uint64(at) <= uint64(len(file))-n {
			b := file[at : at+int64(n)]
			if crc32.ChecksumIEEE(b) != f.CRC32 {
				return nil, zip.ErrChecksum
			}
			return b, nil
		}
		return nil, zip.ErrFormat
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return lines.ReadAll(opt.Context, r, opt.MemoryLimit)
}

func parseZip(file []byte, opt Options) (*halfulp.Matrix, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, errors.New("no .npz file, or a damaged one")
	}
	members := map[string]*zip.File{}
	var names []string
	for _, f := range z.File {
		n := strings.TrimSuffix(f.Name, ".npy")
		if members[n] != nil {
			return nil, fmt.Errorf("the .npz file holds two arrays %.40q", n)
		}
		members[n] = f
		names = append(names, n)
	}
	read := func(n string) ([]byte, error) {
		if members[n] == nil {
			return nil, fmt.Errorf("the .npz file has no array %q", n)
		}
		b, err := member(file, members[n], &opt)
		if err != nil {
			err = fmt.Errorf("array %.40q: %w", n, err)
		}
		return b, err
	}
	if members["format"] == nil {
		if len(names) != 1 {
			slices.Sort(names)
			return nil, fmt.Errorf("the .npz file holds %d arrays (%.200s): only one with a single array can be read", len(names), strings.Join(names, ", "))
		}
		b, err := read(names[0])
		if err != nil {
			return nil, err
		}
		a, err := parse(b)
		if err != nil {
			return nil, err
		}
		return a.matrix(opt)
	}
	b, err := read("format")
	if err != nil {
		return nil, err
	}
	f, err := parseFormat(b)
	if err != nil {
		return nil, err
	}
	if f.Kind == num.MP {
		return parseMP(f, read, opt)
	}
	what := "values"
	if f.Terms() > 1 {
		what = "terms"
	}
	if b, err = read(what); err != nil {
		return nil, err
	}
	h, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	a, err := h.numbers(f.Terms() > 1)
	if err != nil {
		return nil, err
	}
	if a.kind != 'f' || a.terms != max(f.Terms(), 1) || a.size != 4 && f == num.Float32 || a.size != 8 && f != num.Float32 {
		return nil, fmt.Errorf("the array %q does not hold numbers of format %v, which the .npz file names", what, f)
	}
	return a.matrix(opt)
}

// parseFormat reads the array that names a format.
func parseFormat(file []byte) (f num.Format, err error) {
	h, err := parseHeader(file)
	if err != nil {
		return f, err
	}
	bad := fmt.Errorf("the array \"format\" of type %.40s is no name", h.descr)
	descr := strings.Trim(h.descr, `'"`)
	if len(h.dims) != 0 || !strings.HasPrefix(descr, "<U") && !strings.HasPrefix(descr, ">U") || len(h.data)%4 != 0 || len(h.data) > 4*20 {
		return f, bad
	}
	d := dtype{kind: 'u', size: 4}
	if d.order = littleEndian; descr[0] == '>' {
		d.order = bigEndian
	}
	var s []byte
	for k := range len(h.data) / 4 {
		if c := d.order.Uint32(h.data[4*k:]); c < utf8.RuneSelf {
			s = append(s, byte(c))
		} else {
			return f, bad
		}
	}
	return num.ParseFormat(string(bytes.TrimRight(s, "\x00")))
}

// parseMP reads the arrays of MP numbers.
func parseMP(f num.Format, read func(string) ([]byte, error), opt Options) (*halfulp.Matrix, error) {
	var parts [4]*array
	for k, want := range []struct{ name, descr string }{{"limbs", "u8"}, {"exponents", "i4"}, {"signs", "i1"}, {"classes", "u1"}} {
		b, err := read(want.name)
		if err != nil {
			return nil, err
		}
		h, err := parseHeader(b)
		if err == nil {
			parts[k], err = h.numbers(k == 0)
		}
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", want.name, err)
		}
		if a := parts[k]; a.rows != parts[0].rows || a.cols != parts[0].cols || a.kind != want.descr[0] || a.size != int(want.descr[1]-'0') {
			return nil, fmt.Errorf("array %q: not of NumPy's type %s, or not of the shape of the limbs", want.name, want.descr)
		}
	}
	limbs, exponents, signs, classes := parts[0], parts[1], parts[2], parts[3]
	l := f.Limbs()
	if limbs.terms != l {
		return nil, fmt.Errorf("the numbers have %d limbs, those of format %v have %d", limbs.terms, f, l)
	}
	m, z, err := opt.newMatrix(f, limbs)
	if err != nil {
		return nil, err
	}
	return m, limbs.each(&opt, func(w *worker, at, i, j int) error {
		x, n := z, at // read in place, or where the format is another one
		if z.Format != f {
			if w.x == nil {
				w.x = num.New(f, 1)
			}
			x, n = w.x, 0
		}
		if limbs.order == littleEndian && !limbs.fortran {
			data := limbs.data[8*limbs.index(i, j, 0):][:8*l]
			sig := x.Sig[n*l:][:l]
			for t := range sig {
				sig[t] = binary.LittleEndian.Uint64(data[8*t:])
			}
		} else {
			for t := range l {
				x.Sig[n*l+t] = limbs.order.Uint64(limbs.data[8*limbs.index(i, j, t):])
			}
		}
		x.Exp[n] = int32(exponents.order.Uint32(exponents.data[4*exponents.index(i, j, 0):]))
		sign, class := int8(signs.data[signs.index(i, j, 0)]), classes.data[classes.index(i, j, 0)]
		if (sign != 1 && sign != -1) || class > byte(num.NaN) || class == byte(num.NaN) && sign < 0 {
			return errNumber(f, i, j)
		}
		x.Cls[n] = num.MakeCls(sign < 0, num.Class(class))
		if !x.WellFormed(n) {
			return errNumber(f, i, j)
		}
		if x != z {
			w.store(z, at, x.Value(0, nil))
		}
		return nil
	})
}

func errNumber(f num.Format, i, j int) error {
	return fmt.Errorf("entry (%d, %d) is no number of format %v", i+1, j+1, f)
}
