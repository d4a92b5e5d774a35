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

// ParseZip reads a .npz file: the matrix of [Arrays], in the format that it names, the one of
// several that opt.Member names, as [Member] has them, or else the only array. The rest is as for
// [Parse].
func ParseZip(file []byte, name string, opt Options) (*halfulp.Matrix, error) {
	return opt.named(name, func() (*halfulp.Matrix, error) { return parseZip(file, opt) })
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
	single := opt.Member // an array that is a matrix
	prefix := ""
	switch {
	case single != "" && members[single] == nil:
		if prefix = single + "_"; members[prefix+"format"] == nil {
			return nil, fmt.Errorf("the .npz file has no matrix %.40q: it has %.200s", single, strings.Join(matrices(names), ", "))
		}
		single = ""
	case len(names) == 0:
		return nil, errors.New("the .npz file holds no array")
	case single == "" && members["format"] == nil:
		if single = names[0]; len(names) != 1 {
			all := matrices(names)
			return nil, fmt.Errorf("the .npz file holds %d matrices (%.200s): choose one by its name after a colon, as in FILE.npz:%.40s",
				len(all), strings.Join(all, ", "), all[0])
		}
	}
	if single != "" {
		b, err := read(single)
		if err != nil {
			return nil, err
		}
		a, err := parse(b)
		if err != nil {
			return nil, err
		}
		return a.matrix(opt)
	}
	part := func(n string) ([]byte, error) { return read(prefix + n) }
	b, err := part("format")
	if err != nil {
		return nil, err
	}
	f, err := parseFormat(b)
	if err != nil {
		return nil, err
	}
	if f.Kind == num.MP {
		return parseMP(f, part, opt)
	}
	what := "values"
	if f.Terms() > 1 {
		what = "terms"
	}
	if b, err = part(what); err != nil {
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

// matrices returns the names of the matrices that arrays of these names make.
func matrices(names []string) []string {
	var all []string
	for _, n := range names {
		k := strings.LastIndexByte(n, '_')
		if k > 0 && slices.Contains(names, n[:k]+"_format") {
			if n = n[:k]; slices.Contains(all, n) {
				continue
			}
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
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
	apart := 8 * limbs.index(0, 0, 1) // bytes from a limb of a number to the next
	return m, limbs.each(&opt, func(w *worker, at, i, j int) error {
		x, n := z, at // read in place, or where the format is another one
		if z.Format != f {
			if w.x == nil {
				w.x = num.New(f, 1)
			}
			x, n = w.x, 0
		}
		sig, from := x.Sig[n*l:][:l], 8*limbs.index(i, j, 0)
		if limbs.order == littleEndian { // in line: an interface's methods are not
			for t := range sig {
				sig[t] = binary.LittleEndian.Uint64(limbs.data[from+t*apart:])
			}
		} else {
			for t := range sig {
				sig[t] = limbs.order.Uint64(limbs.data[from+t*apart:])
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
