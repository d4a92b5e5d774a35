package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/textio"
	"github.com/halfulp/halfulp/matfile/internal/matrixmarket"
)

// ZipMagic begins every .npz file.
const ZipMagic = "PK\x03\x04"

// ParseZip reads a matrix of a .npz file: the matrix that opt.Member names, as [Member] stores it;
// or the matrix of [Arrays], in the format that the file names; or the only array. The rest is as
// for [Parse].
func ParseZip(file []byte, name string, opt Options) (*halfulp.Matrix, error) {
	return named(&opt, name, func() (*halfulp.Matrix, error) {
		m, _, err := parseZip(file, opt, false)
		return m, err
	})
}

// member returns the content of a member of a .npz file. The result shares memory with file if the
// member is not compressed.
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
	b, err := textio.ReadAll(opt.Context, r, opt.MemoryLimit)
	// Package zip does not check a checksum of 0.
	if err == nil && crc32.ChecksumIEEE(b) != f.CRC32 {
		err = zip.ErrChecksum
	}
	return b, err
}

// parseZip returns a matrix, or the entries of a sparse one if entries asks for them.
func parseZip(file []byte, opt Options, entries bool) (*halfulp.Matrix, *matrixmarket.Sparse, error) {
	x, err := openArchive(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil, err
	}
	prefix, single, err := x.choose(opt.Member)
	if err != nil {
		return nil, nil, err
	}
	read := func(n string) ([]byte, error) {
		f, err := x.find(n)
		if err != nil {
			return nil, err
		}
		b, err := member(file, f, &opt)
		if err != nil {
			err = fmt.Errorf("array %.40q: %w", n, err)
		}
		return b, err
	}
	if single != "" {
		b, err := read(single)
		if err != nil {
			return nil, nil, err
		}
		a, err := parse(b)
		if err != nil {
			return nil, nil, err
		}
		m, err := a.unnamed(opt)
		return m, nil, err
	}
	part := func(n string) ([]byte, error) { return read(prefix + n) }
	b, err := part("format")
	if err != nil {
		return nil, nil, err
	}
	h, err := parseHeader(b)
	if err != nil {
		return nil, nil, err
	}
	if name, ok := parseText(h); ok && sparseFormats[name] != nil {
		has := func(n string) bool { return x.members[prefix+n] != nil }
		s, err := newSparse(name, &opt, has, part)
		if err != nil {
			return nil, nil, err
		}
		if entries {
			a, err := s.coordinate()
			return nil, a, err
		}
		m, err := s.matrix()
		return m, nil, err
	}
	f, err := h.format()
	if err != nil {
		return nil, nil, err
	}
	m, err := parseFormatted(f, part, opt)
	return m, nil, err
}

// parseFormatted reads the arrays of a matrix of a format.
func parseFormatted(f num.Format, part func(name string) ([]byte, error), opt Options) (*halfulp.Matrix, error) {
	if f.Kind == num.MP {
		return parseMP(f, part, opt)
	}
	what := valuesOf(f)
	b, err := part(what)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	a, err := h.values(f, what)
	if err != nil {
		return nil, err
	}
	return a.matrix(opt)
}

// archive is a .npz file.
type archive struct {
	members map[string]*zip.File
	names   []string
}

// openArchive reads the directory of a .npz file.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errors.New("no .npz file, or a damaged one")
	}
	x := &archive{members: map[string]*zip.File{}}
	for _, f := range z.File {
		n := strings.TrimSuffix(f.Name, ".npy")
		if x.members[n] != nil {
			return nil, fmt.Errorf("the .npz file holds two arrays %.40q", n)
		}
		x.members[n] = f
		x.names = append(x.names, n)
	}
	switch has := func(prefix string) bool {
		return slices.ContainsFunc(x.names, func(n string) bool { return strings.HasPrefix(n, prefix) })
	}; {
	case has("xl/"):
		return nil, errors.New("this is an Excel workbook: save the sheet as CSV, or write it by pandas.read_excel('book.xlsx', header=None).to_csv('sheet.csv', header=False, index=False)")
	case x.members["content.xml"] != nil && x.members["mimetype"] != nil:
		return nil, errors.New("this is an OpenDocument file: save the sheet as CSV")
	}
	return x, nil
}

// find returns a member.
func (x *archive) find(name string) (*zip.File, error) {
	if x.members[name] == nil {
		return nil, fmt.Errorf("the .npz file has no array %q", name)
	}
	return x.members[name], nil
}

// choose returns the name single of the array that is the requested matrix, or the prefix of the
// names of its arrays if single is empty.
func (x *archive) choose(asked string) (prefix, single string, err error) {
	switch {
	case asked != "" && x.members[asked] == nil:
		if prefix = asked + "_"; x.members[prefix+"format"] == nil {
			return "", "", fmt.Errorf("the .npz file has no matrix %.40q: it has %.200s", asked, strings.Join(matrices(x.names), ", "))
		}
		return prefix, "", nil
	case len(x.names) == 0:
		return "", "", errors.New("the .npz file holds no array")
	case asked != "" || x.members["format"] != nil:
		return "", asked, nil
	case len(x.names) == 1:
		return "", x.names[0], nil
	}
	all := matrices(x.names)
	return "", "", fmt.Errorf("the .npz file holds %d matrices (%.200s): choose one by its name after a colon, as in FILE.npz:%.40s",
		len(all), strings.Join(all, ", "), all[0])
}

// valuesOf returns the name of the array that holds the numbers of format f. f is not MP.
func valuesOf(f num.Format) string {
	if f.Terms() > 1 {
		return "terms"
	}
	return "values"
}

// values returns the array of numbers of format f, which is not MP. what is its name for errors.
func (h *header) values(f num.Format, what string) (*array, error) {
	a, err := h.numbers(f.Terms() > 1)
	if err != nil {
		return nil, err
	}
	if a.kind != 'f' || a.terms != max(f.Terms(), 1) || a.size != 4 && f == num.Float32 || a.size != 8 && f != num.Float32 {
		return nil, fmt.Errorf("the array %q does not hold numbers of format %v, which the .npz file names", what, f)
	}
	return a, nil
}

// matrices returns the names of the matrices that arrays with these names form.
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

// format reads the name of a format.
func (h *header) format() (num.Format, error) {
	name, ok := parseText(h)
	if !ok || strings.HasPrefix(strings.Trim(h.descr, `'"`), "|") {
		return num.Format{}, fmt.Errorf("the array \"format\" of type %.40s is no name", h.descr)
	}
	return num.ParseFormat(name)
}

// parseMP reads the arrays of MP numbers.
func parseMP(f num.Format, read func(string) ([]byte, error), opt Options) (*halfulp.Matrix, error) {
	x, err := openMP(f, func(name string) (*header, error) {
		b, err := read(name)
		if err != nil {
			return nil, err
		}
		h, err := parseHeader(b)
		if err != nil {
			err = fmt.Errorf("array %q: %w", name, err)
		}
		return h, err
	})
	if err != nil {
		return nil, err
	}
	m, z, err := opt.newMatrix(f, x.limbs)
	if err != nil {
		return nil, err
	}
	return m, x.fill(&opt, z)
}

// arraysOfMP are the arrays of MP numbers of a format.
type arraysOfMP struct {
	f                                num.Format
	limbs, exponents, signs, classes *array
}

// openMP reads the headers of the arrays of MP numbers and checks them.
func openMP(f num.Format, find func(name string) (*header, error)) (*arraysOfMP, error) {
	x := &arraysOfMP{f: f}
	for k, want := range []struct {
		name, descr string
		to          **array
	}{{"limbs", "u8", &x.limbs}, {"exponents", "i4", &x.exponents}, {"signs", "i1", &x.signs}, {"classes", "u1", &x.classes}} {
		h, err := find(want.name)
		if err != nil {
			return nil, err
		}
		a, err := h.numbers(k == 0)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", want.name, err)
		}
		if *want.to = a; a.rows != x.limbs.rows || a.cols != x.limbs.cols || a.kind != want.descr[0] || a.size != int(want.descr[1]-'0') {
			return nil, fmt.Errorf("array %q: not of NumPy's type %s, or not of the shape of the limbs", want.name, want.descr)
		}
	}
	if x.limbs.terms != f.Limbs() {
		return nil, fmt.Errorf("the numbers have %d limbs, those of format %v have %d", x.limbs.terms, f, f.Limbs())
	}
	return x, nil
}

// fill stores the numbers in z, column by column.
func (p *arraysOfMP) fill(opt *Options, z *num.Array) error {
	f, limbs, exponents, signs, classes := p.f, p.limbs, p.exponents, p.signs, p.classes
	l := f.Limbs()
	apart := 8 * limbs.index(0, 0, 1) // bytes from a limb of a number to the next
	return limbs.each(opt, func(w *worker, at, i, j int) error {
		x, n := z, at // read in place, or into w.x if the formats differ
		if z.Format != f {
			if w.x == nil {
				w.x = num.New(f, 1)
			}
			x, n = w.x, 0
		}
		sig, from := x.Sig[n*l:][:l], 8*limbs.index(i, j, 0)
		if limbs.order == littleEndian { // inlined, unlike the methods of an interface
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
			return errNumber(f, limbs.entry(i, j), sign, class, sig, x.Exp[n])
		}
		x.Cls[n] = num.MakeCls(sign < 0, num.Class(class))
		if !x.WellFormed(n) {
			return errNumber(f, limbs.entry(i, j), sign, class, sig, x.Exp[n])
		}
		if x != z {
			w.store(z, at, x.Value(0, nil))
		}
		return nil
	})
}

// errNumber returns an error that says why an entry with these codes is no number of format f.
func errNumber(f num.Format, at [2]int, sign int8, class byte, sig []uint64, exponent int32) error {
	names := []string{"zero", "finite", "infinity", "NaN"}
	var why string
	switch {
	case class > byte(num.NaN):
		why = fmt.Sprintf("class %d is none of 0 zero, 1 finite, 2 infinity, 3 NaN", class)
	case sign != 1 && sign != -1:
		why = fmt.Sprintf("its sign is %d, and every number needs 1 or -1", sign)
		if num.Class(class) == num.Zero {
			why = fmt.Sprintf("its sign is %d: zero needs sign 1, or -1 for -0", sign)
		}
	case num.Class(class) == num.NaN && sign < 0:
		why = "its sign is -1: NaN needs sign 1"
	case num.Class(class) != num.Finite && !num.IsZero(sig):
		why = fmt.Sprintf("of class %d, %s, it needs limbs 0", class, names[class])
	case num.Class(class) != num.Finite && exponent != 0:
		why = fmt.Sprintf("of class %d, %s, it needs exponent 0", class, names[class])
	case sig[len(sig)-1]>>63 == 0:
		why = "of class 1, finite, it needs the highest bit of the last limb set"
	default:
		why = fmt.Sprintf("bits of the first limb below its %d bits of precision are set", f.Bits())
	}
	return fmt.Errorf("entry (%d, %d) is no number of format %v: %s", at[0]+1, at[1]+1, f, why)
}
