package npy

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
)

// file returns a .npy file of version 1 with the given header and data.
func file(header, data string) []byte {
	b := append([]byte(Magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	return append(append(b, header...), data...)
}

func head(descr, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }   \n", descr, order, shape)
}

func options(t *testing.T, in halfulp.InputFormat, limit int64, stats *halfulp.InputStats) Options {
	return Options{In: in, Stats: stats, Threads: 2, MemoryLimit: limit, Context: t.Context()}
}

func TestParse(t *testing.T) {
	data := func(order binary.AppendByteOrder, size int) string {
		var b []byte
		for k := range 6 {
			if size == 4 {
				b = order.AppendUint32(b, math.Float32bits(float32(k)+0.5))
			} else {
				b = order.AppendUint64(b, math.Float64bits(float64(k)+0.5))
			}
		}
		return string(b)
	}
	const rowMajor, columnMajor = "0.5 1.5 2.5 3.5 4.5 5.5", "0.5 2.5 4.5 1.5 3.5 5.5"
	for _, c := range []struct {
		header, data, want string
		rows               int
	}{
		{head("<f8", "False", "(2, 3)"), data(binary.LittleEndian, 8), rowMajor, 2},
		{head("<f8", "True", "(2, 3)"), data(binary.LittleEndian, 8), columnMajor, 2},
		{head(">f8", "False", "(2, 3)"), data(binary.BigEndian, 8), rowMajor, 2},
		{head(">f4", "True", "(2, 3)"), data(binary.BigEndian, 4), columnMajor, 2},
		{head("<f4", "False", "(6,)"), data(binary.LittleEndian, 4), rowMajor, 6},
		{head("<f4", "False", "(6L, 1L)"), data(binary.LittleEndian, 4), rowMajor, 6},
		{`{"shape":(1,6),"descr":"<f8","fortran_order":False}`, data(binary.LittleEndian, 8), rowMajor, 1},
		{head("<f8", "False", "(0, 3)"), "", "", 0},
	} {
		m, err := Parse(file(c.header, c.data), "a.npy", options(t, halfulp.InputFormat{}, 1<<20, nil))
		if err != nil {
			t.Errorf("%s: %v", c.header, err)
			continue
		}
		if got := strings.Join(strings.Fields(m.Text(0)), " "); got != c.want || m.Rows() != c.rows {
			t.Errorf("%s: %s in %d rows", c.header, got, m.Rows())
		}
		if single := strings.Contains(c.header, "f4"); single != (m.NumberFormat() == halfulp.Float32) {
			t.Errorf("%s: format %v", c.header, m.NumberFormat())
		}
	}
	m, err := Parse(file(head("<f8", "False", "(6,)"), data(binary.LittleEndian, 8)), "a", options(t, halfulp.Exactly(halfulp.MP(2)), 1<<20, nil))
	if err != nil || m.At(5, 0).String() != "6" {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := Parse(file(head("<f8", "False", "(6,)"), data(binary.LittleEndian, 8)), "a", options(t, halfulp.Exactly(halfulp.MP(1<<16)), 1<<12, nil)); err == nil {
		t.Error("no limit")
	}
}

// TestStats counts losses by the range of a narrower format.
func TestStats(t *testing.T) {
	var data []byte
	for _, x := range []float64{1e300, -1e39, 1e-300, 3e38, 1e-45, 0, math.Inf(1), math.NaN()} {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	}
	b := file(head("<f8", "False", "(8,)"), string(data))
	for _, c := range []struct {
		in   halfulp.InputFormat
		want halfulp.InputStats
	}{
		{halfulp.InputFormat{}, halfulp.InputStats{}},
		{halfulp.Exactly(halfulp.MP(2)), halfulp.InputStats{}},
		{halfulp.Exactly(halfulp.Float32), halfulp.InputStats{ToInf: halfulp.Losses{Count: 2}, ToZero: halfulp.Losses{Count: 1}}},
	} {
		stats := halfulp.InputStats{ToInf: halfulp.Losses{Count: 7}}
		if _, err := Parse(b, "a", options(t, c.in, 1<<20, &stats)); err != nil || stats != c.want {
			t.Errorf("%+v, %v, want %+v", stats, err, c.want)
		}
	}
}

// TestNumPy reads a file that NumPy 2.4 wrote by
// numpy.save(f, numpy.array([[1, -2.5], [0.1, numpy.inf]], order="F")).
func TestNumPy(t *testing.T) {
	header := "934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f72646572273a20547275652c20277368617065273a2028322c2032292c207d" +
		strings.Repeat("20", 59) + "0a"
	b, err := hex.DecodeString(header + "000000000000f03f" + "9a9999999999b93f" + "00000000000004c0" + "000000000000f07f")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(b, "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
	if err != nil || m.String() != "  1 -2.5\n0.1  inf" {
		t.Fatalf("%v, %v", m, err)
	}
	if got := written(t, m); string(got) != string(b) {
		t.Errorf("written as %q, want %q", got, b)
	}
}

// written returns the .npy file of m.
func written(t *testing.T, m *halfulp.Matrix) []byte {
	t.Helper()
	a, err := File(m, false)
	if err != nil {
		t.Fatal(err)
	}
	return a.bytes()
}

func (a Array) bytes() []byte {
	b := a.Head
	for i := range a.Parts {
		b = a.Append(b, i)
	}
	return b
}

// zipped returns the .npz file of m.
func zipped(t testing.TB, m *halfulp.Matrix) []byte {
	t.Helper()
	all, err := Arrays(m, false)
	if err != nil {
		t.Fatal(err)
	}
	return zipOf(t, all...)
}

func zipOf(t testing.TB, all ...Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteZip(&b, all, func(w io.Writer, a Array) error {
		_, err := w.Write(a.bytes()[len(a.Head):])
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestErrors(t *testing.T) {
	good := head("<f8", "False", "(1,)")
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "no .npy file"},
		{[]byte("\x93NUMPX\x01\x00\x00\x00"), "no .npy file"},
		{[]byte(Magic + "\x09\x00\x00\x00"), "version 9.0"},
		{[]byte(Magic + "\x02\x00\x00\x00"), "damaged"},
		{[]byte(Magic + "\x02\x00\xff\xff\xff\xff"), "ends within"},
		{file(good, "1234567"), "ends early"},
		{file(good, "123456789"), "goes on"},
		{file("{}", ""), "damaged"},
		{file("{'descr'", ""), "damaged"},
		{file("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", ""), "damaged"},
		{file("{'descr': '<f8', 'fortran_order': True, 'shape': (1}", ""), "damaged"},
		{file(head("<c16", "False", "(1,)"), ""), "complex"},
		{file(head("|O", "False", "(1,)"), ""), "Python objects"},
		{file(head("<U3", "False", "(1,)"), ""), "text"},
		{file(head("|S3", "False", "(1,)"), ""), "text"},
		{file(head("<M8[s]", "False", "(1,)"), ""), "dates"},
		{file(head("|V2", "False", "(1,)"), ""), "plain bytes"},
		{file(head("<f3", "False", "(1,)"), ""), "only arrays of integers"},
		{file(head("|f8", "False", "(1,)"), ""), "only arrays of integers"},
		{file(head("=f8", "False", "(1,)"), ""), "only arrays of integers"},
		{file(head("<fx", "False", "(1,)"), ""), "only arrays of integers"},
		{file(head("<", "False", "(1,)"), ""), "only arrays of integers"},
		{file("{'descr': [('a', '<f8'), ('b', '<f8')], 'fortran_order': True, 'shape': (1,)}", ""), "has fields"},
		{file(head("<f8", "False", "()"), "1234567"), "ends early"},
		{file(head("<f8", "False", "(1, 1, 2)"), "1234567812345678"), "not the terms"},
		{file(head("<f8", "False", "(1, 1, 2)"), "1234567812345678"), "has 3 dimensions, 1 x 1 x 2: of a stack of matrices save one, as numpy.save('one.npy', a[0]) does, and its doubles"},
		{file(head("<f4", "False", "(1, 1, 2)"), "12345678"), "3 dimensions"},
		{file(head("<f8", "False", "(5, 4, 7)"), "12345678"), "3 dimensions, 5 x 4 x 7: of a stack of matrices save one, as numpy.save('one.npy', a[0]) does"},
		{file(head("<f8", "False", "(1, 1, 1, 1)"), "12345678"), "4 dimensions, 1 x 1 x 1 x 1: of a stack of matrices save one, as numpy.save('one.npy', a[0, 0]) does"},
		// Long doubles without their first bit; 1, 3 and 2^-3000 in binary128, the last one beside
		// 0; and 1 and -1 as sums of two doubles.
		{file(head("<f12", "False", "(1,)"), "0123456\x378901"), "not the 80-bit numbers"},
		{file(head("<f16", "False", "(2,)"), "0123456\x378901\x00\x00\x00\x00"+"0123456\x808901\x00\x00\x00\x00"), "not the 80-bit numbers"},
		{file(head("<f16", "False", "(1,)"), strings.Repeat("\x00", 14)+"\xff\x3f"), "does not tell"},
		{file(head(">f16", "False", "(1,)"), "\x40\x00\x80"+strings.Repeat("\x00", 13)), "does not tell"},
		{file(head("<f16", "False", "(2,)"), strings.Repeat("\x00", 30)+"\x47\x34"), "does not tell"},
		{file(head("<f16", "False", "(1,)"), strings.Repeat("\x00", 6)+"\xf0\x3f"+strings.Repeat("\x00", 8)), "not the 80-bit numbers"},
		{file(head("<f16", "False", "(1,)"), strings.Repeat("\x00", 6)+"\xf0\xbf"+strings.Repeat("\x00", 8)), "not the 80-bit numbers"},
		{file(head(">f16", "False", "(1,)"), "\x3f\xf0"+strings.Repeat("\x00", 14)), "does not tell"},
		{file(head("<f8", "False", "(1, 1, 1)"), "12345678"), "3 dimensions"},
		{file(head("<f8", "False", "(-1,)"), ""), "damaged"},
		{file(head("<f8", "False", "(99999999999999999999,)"), ""), "damaged"},
		{file(head("<f8", "False", "(1000000000, 1000000000)"), "12345678"), "ends early: a 1000000000 x 1000000000 array takes 6.939 EiB"},
		{file(head("<f8", "False", "(9000000000000000000, 0)"), ""), "too large"},
		{file(head("<f8", "False", "(4611686018427387904, 4)"), ""), "ends early"},
	} {
		if _, err := Parse(c.file, "a.npy", options(t, halfulp.InputFormat{}, 1<<30, nil)); err == nil || !strings.HasPrefix(err.Error(), "a.npy: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.file, err, c.want)
		}
	}
	if _, err := File(halfulp.NewMatrix(halfulp.MP(9), 1, 1), false); err == nil {
		t.Error("MP in a .npy file")
	}
}

// TestStack reads arrays of three dimensions as sums of doubles, with a note if they may be a stack
// of matrices.
func TestStack(t *testing.T) {
	low := halfulp.NewMatrix(halfulp.DD, 2, 3)
	low.Set(1, 2, halfulp.DD.Quo(halfulp.Float(1), halfulp.Float(3)))
	for _, c := range []struct {
		m    *halfulp.Matrix
		note string
	}{
		{halfulp.NewMatrixFloat64(2, 3, 2, []float64{1, 2, 3, 4, 5, -6}).Convert(halfulp.DD), "the array, 2 x 3 x 2, is taken for 2 x 3 numbers of format dd, whose terms after the first are all 0"},
		{halfulp.NewMatrixFloat64(1, 1, 1, []float64{1}).Convert(halfulp.QD), "1 x 1 x 4, is taken for 1 x 1 numbers of format qd"},
		{low, ""},
		{halfulp.NewMatrix(halfulp.DD, 0, 3), ""},
		{halfulp.NewMatrix(halfulp.Float64, 2, 2), ""},
	} {
		for _, named := range []bool{false, true} {
			o, note := options(t, halfulp.InputFormat{}, 1<<20, nil), ""
			o.Note = &note
			read, b := Parse, written(t, c.m)
			if named {
				read, b, c.note = ParseZip, zipped(t, c.m), ""
			}
			m, err := read(b, "a", o)
			if err != nil || !m.Same(c.m) || (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
				t.Errorf("%v, named %t: %v, note %q, want %q", c.m, named, err, note, c.note)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(head("<f8", "False", "(1,)"), "12345678"))
	f.Add(file(head(">f4", "True", "(2, 1)"), "12345678"))
	f.Add(file("{'descr': [('a', '<f8')], 'fortran_order': True, 'shape': (1,)}", ""))
	f.Add([]byte(Magic + "\x02\x00\xff\xff\xff\xff"))
	f.Add(file(head("<f16", "False", "(2,)"), string(x86(1.5, 1, "abcdef"))+string(x86(-7, 3, "abcd\x00\x00"))))
	f.Add(file(head(">f16", "False", "(1,)"), string(quadRatio(1, 10))))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b, "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
		if err != nil {
			return
		}
		if !Holds(m.NumberFormat()) {
			back, err := ParseZip(zipped(t, m), "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
			if err != nil || !back.Same(m) {
				t.Fatalf("%q is read as\n%v and comes back as\n%v, %v", b, m, back, err)
			}
			return
		}
		back, err := Parse(written(t, m), "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
		if err != nil || !back.Same(m) {
			t.Fatalf("%q is read as\n%v and comes back as\n%v, %v", b, m, back, err)
		}
	})
}
