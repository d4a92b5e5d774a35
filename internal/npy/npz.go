package npy

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
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
func ParseZip(ctx context.Context, file []byte, name string, in halfulp.InputFormat, limit int64, stats *halfulp.InputStats) (*halfulp.Matrix, error) {
	m, err := parseZip(ctx, file, in, limit, stats)
	if err != nil && ctx.Err() == nil {
		return nil, &lines.Error{Name: name, Err: err}
	}
	return m, err
}

func parseZip(ctx context.Context, file []byte, in halfulp.InputFormat, limit int64, stats *halfulp.InputStats) (*halfulp.Matrix, error) {
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
		f := members[n]
		if f == nil {
			return nil, fmt.Errorf("the .npz file has no array %q", n)
		}
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("array %.40q: %w", n, err)
		}
		defer r.Close()
		b, err := lines.ReadAll(ctx, r, limit)
		if err != nil && ctx.Err() == nil {
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
		return a.matrix(in, limit, stats)
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
		return parseMP(f, read, in, limit, stats)
	}
	what := "values"
	if f.Terms() > 1 {
		what = "terms"
	}
	if b, err = read(what); err != nil {
		return nil, err
	}
	a, err := parse(b)
	if err != nil {
		return nil, err
	}
	if own, err := a.own(); err != nil || own != f {
		return nil, fmt.Errorf("the array %q does not hold numbers of format %v, which the .npz file names", what, f)
	}
	return a.matrix(in, limit, stats)
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
func parseMP(f num.Format, read func(string) ([]byte, error), in halfulp.InputFormat, limit int64, stats *halfulp.InputStats) (*halfulp.Matrix, error) {
	var parts [4]*array
	for k, name := range []string{"limbs", "exponents", "signs", "classes"} {
		b, err := read(name)
		if err != nil {
			return nil, err
		}
		h, err := parseHeader(b)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		a, err := h.numbers(name == "limbs")
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		if parts[k] = a; a.rows != parts[0].rows || a.cols != parts[0].cols || a.kind != 'u' && a.kind != 'i' {
			return nil, fmt.Errorf("array %q: not the shape, or not the type, that belong to the other arrays", name)
		}
	}
	limbs := parts[0]
	if limbs.kind != 'u' || limbs.size != 8 {
		return nil, errors.New("array \"limbs\": limbs are integers of 64 bits without sign")
	}
	if limbs.terms != f.Limbs() {
		return nil, fmt.Errorf("the numbers have %d limbs, those of format %v have %d", limbs.terms, f, f.Limbs())
	}
	to := f
	if in.Exact() {
		var err error
		if to, err = num.ParseFormat(in.Format().String()); err != nil {
			return nil, err
		}
	}
	m, z, err := newMatrix(to, limbs.rows, limbs.cols, limit)
	if err != nil {
		return nil, err
	}
	x := num.New(f, 1)
	var lost halfulp.InputStats
	limbs.each(func(at, i, j int) {
		for t := range x.Sig {
			r, _ := limbs.integer(limbs.index(i, j, t))
			x.Sig[t] = uint64(r)
		}
		e, ok1 := parts[1].integer(parts[1].index(i, j, 0))
		sign, ok2 := parts[2].integer(parts[2].index(i, j, 0))
		class, ok3 := parts[3].integer(parts[3].index(i, j, 0))
		switch {
		case !ok1 || !ok2 || !ok3, e != int64(int32(e)), sign != 1 && sign != -1, class < 0 || class > int64(num.NaN), class == int64(num.NaN) && sign < 0:
			err = fmt.Errorf("entry (%d, %d) is no number of format %v", i+1, j+1, f)
			return
		}
		x.Exp[0], x.Cls[0] = int32(e), num.MakeCls(sign < 0, num.Class(class))
		if !x.WellFormed(0) {
			err = fmt.Errorf("entry (%d, %d) is no number of format %v", i+1, j+1, f)
			return
		}
		store(z, at, x.Value(0, nil), &lost)
	})
	if err != nil {
		return nil, err
	}
	if stats != nil {
		*stats = lost
	}
	return m, nil
}
