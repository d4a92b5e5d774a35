package halfulp

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

var (
	_ interface {
		encoding.BinaryMarshaler
		encoding.BinaryAppender
		encoding.TextMarshaler
		encoding.TextAppender
	} = Scalar{}
	_ interface {
		encoding.BinaryUnmarshaler
		encoding.TextUnmarshaler
		json.Unmarshaler
	} = (*Scalar)(nil)
	_ interface {
		encoding.BinaryMarshaler
		encoding.BinaryAppender
		encoding.BinaryUnmarshaler
		json.Marshaler
		json.Unmarshaler
	} = (*Matrix)(nil)
	_ interface {
		encoding.BinaryMarshaler
		encoding.BinaryAppender
		encoding.BinaryUnmarshaler
		json.Marshaler
		json.Unmarshaler
	} = (*Vector)(nil)
)

// mixture returns a transposed matrix of difficult numbers with gaps in its storage.
func mixture(r *rand.Rand, f Format, rows, cols int) *Matrix {
	m := NewMatrixLD(f, cols, rows, cols+3).T()
	for i := range rows {
		for j := range cols {
			m.Set(i, j, drawOperand(r, f))
		}
	}
	return m
}

// TestMarshal writes and reads scalars, vectors and matrices in all formats and forms.
func TestMarshal(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 5))
	for _, f := range scalarFormats {
		for _, shape := range [][2]int{{7, 5}, {1, 1}, {0, 0}, {0, 3}, {3, 0}, {1, 4}, {4, 1}} {
			m := mixture(r, f, shape[0], shape[1])
			type all struct {
				M *Matrix
				X *Vector
				S Scalar
			}
			in := all{m, NewVector(f, 3), drawOperand(r, f)}
			if shape[0] > 0 {
				in.X = m.Row(shape[0] - 1)
			}
			var byGob bytes.Buffer
			text, err := json.Marshal(in)
			if err := errors.Join(err, gob.NewEncoder(&byGob).Encode(in)); err != nil {
				t.Fatal(err)
			}
			var a, b all
			if err := errors.Join(json.Unmarshal(text, &a), gob.NewDecoder(&byGob).Decode(&b)); err != nil {
				t.Fatalf("%v: %v", f, err)
			}
			for k, got := range []all{a, b} {
				if !got.M.Same(in.M) || !got.X.Same(in.X) || !got.S.Same(in.S) {
					t.Errorf("seed %d: %v %v, way %d:\n%v%v%v, want\n%v%v%v", seed, f, shape, k, got.M, got.X, got.S, in.M, in.X, in.S)
				}
			}
		}
	}
}

// TestBinaryNaN checks that every NaN of a program's own slice is written as the one NaN of its
// format.
func TestBinaryNaN(t *testing.T) {
	x := NewVectorFloat64(2, 1, []float64{math.Float64frombits(0xfff8dead00000000), 1})
	want := NewVectorFloat64(2, 1, []float64{math.NaN(), 1})
	var z Vector
	b, err := x.MarshalBinary()
	if err := errors.Join(err, z.UnmarshalBinary(b)); err != nil || !z.Same(want) {
		t.Errorf("%v, %v", &z, err)
	}
}

// TestBinaryForm checks the bytes of the form of version 1, as files may keep it.
func TestBinaryForm(t *testing.T) {
	m := NewMatrix(MP(65), 2, 1)
	m.Set(0, 0, Float(-1.5))
	m.SetFloat64(1, 0, math.Inf(1))
	for _, c := range []struct {
		from encoding.BinaryMarshaler
		want string
	}{
		{Float(1), "hulp\x01\x00\x01\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\xf0\x3f"},
		{NewVector(DD, 1), "hulp\x01\x01\x02\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 16)},
		{m, "hulp\x01\x02\x05\x00" + "\x41\x00\x00\x00\x00\x00\x00\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00" +
			"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\xc0" + strings.Repeat("\x00", 16) + "\x01\x00\x00\x00" + "\x00\x00\x00\x00" + "\x03\x04"},
	} {
		if b, err := c.from.MarshalBinary(); err != nil || string(b) != c.want {
			t.Errorf("%v is %q, %v, want %q", c.from, b, err, c.want)
		}
	}
}

func TestBinaryErrors(t *testing.T) {
	good, err := NewMatrix(MP(65), 1, 2).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	wide, err := DD.Add(Float(1), Float(0x1p-60)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := NewMatrix(DD, 0, 2).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	empty[16+8+5] = 1   // 2^40 columns and 2
	wide[16+8+7] = 0x3f // the second term about 1, so that the sum has other terms
	var m Matrix
	var s Scalar
	for _, c := range []struct {
		err  error
		want string
	}{
		{m.UnmarshalBinary(nil), "not the binary form"},
		{m.UnmarshalBinary(good[:20]), "not the binary form"},
		{m.UnmarshalBinary(good[:len(good)-1]), "bytes follow"},
		{m.UnmarshalBinary(append(bytes.Clone(good), 0)), "bytes follow"},
		{m.UnmarshalBinary(change(0, 'H')), "not the binary form"},
		{m.UnmarshalBinary(change(4, 2)), "version 2"},
		{m.UnmarshalBinary(change(5, 1)), "a vector, not of a matrix"},
		{m.UnmarshalBinary(change(5, 3)), "not the binary form"},
		{m.UnmarshalBinary(change(6, 6)), "not the binary form"},
		{m.UnmarshalBinary(change(6, 0)), "not the binary form"},
		{m.UnmarshalBinary(change(7, 1)), "not the binary form"},
		{m.UnmarshalBinary(change(8, 1)), "not the binary form"},
		{m.UnmarshalBinary(change(31, 0x80)), "bytes follow"}, // 2^63 columns
		{m.UnmarshalBinary(change(30, 0x20)), "bytes follow"},
		// a zero with a significand, no class, no leading bit, a zero with an exponent
		{m.UnmarshalBinary(empty), "0 x 1099511627778"},
		{m.UnmarshalBinary(change(32, 1)), "none of format"},
		{m.UnmarshalBinary(change(len(good)-1, 7)), "none of format"},
		{m.UnmarshalBinary(change(len(good)-1, 2)), "none of format"},
		{m.UnmarshalBinary(change(len(good)-2-1, 0x80)), "none of format"},
		{s.UnmarshalBinary(wide), "none of format dd"},
		{json.Unmarshal([]byte(`"xx 1"`), &s), "unknown format"},
		{json.Unmarshal([]byte(`"dd one"`), &s), "one"},
		{json.Unmarshal([]byte(`true`), &s), "number expected"},
		{json.Unmarshal([]byte(`{"rows":1,"columns":2,"entries":[["1"]]}`), &m), "shape"},
		{json.Unmarshal([]byte(`{"rows":2,"columns":1,"entries":[["1"]]}`), &m), "shape"},
		{json.Unmarshal([]byte(`{"rows":0,"columns":-1,"entries":[]}`), &m), "shape"},
		{json.Unmarshal([]byte(`{"rows":0,"columns":2147483648,"entries":[]}`), &m), "2147483648"},
		{json.Unmarshal([]byte(`{"rows":1,"columns":1,"entries":[["1x"]]}`), &m), "entry (0, 0)"},
		{json.Unmarshal([]byte(`{"rows":1,"columns":1,"entries":[[null]]}`), &m), "entry (0, 0)"},
		{json.Unmarshal([]byte(`{"format":"mp:1048577","rows":0,"columns":0,"entries":[]}`), &m), "precision"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if m.m.Arr != nil || s != (Scalar{}) {
		t.Error("errors changed their receivers")
	}
}

// TestJSONNumbers reads JSON of other programs, with numbers instead of strings and without
// formats.
func TestJSONNumbers(t *testing.T) {
	v := struct {
		S Scalar
		D Scalar
		M *Matrix
		X Vector
	}{D: Scalar{num.ScalarOf(num.New(DD.View(), 1))}}
	err := json.Unmarshal([]byte(`{"S": 0.1, "D": 0.1, "M": {"rows":1,"columns":2,"entries":[[1e3,"0x1p-1"]]}, "X": {"format":"f32","entries":[0.1]}}`), &v)
	tenth, _ := ParseScalar(DD, "0.1")
	if err != nil || !v.S.Same(Float(0.1)) || !v.D.Same(tenth) || v.M.String() != "1000 0.5" || !v.X.At(0).Same(Float(0.1).Convert(Float32)) {
		t.Errorf("%+v, %v", v, err)
	}
	if err := json.Unmarshal([]byte(`{"S": null, "M": null}`), &v); err != nil || !v.S.Same(Float(0.1)) || v.M != nil {
		t.Errorf("%v, %v", v.S, err)
	}
}

// FuzzUnmarshalBinary checks that data which can be read is written back as the same bytes.
func FuzzUnmarshalBinary(f *testing.F) {
	r := testseed.Rand(f, 1, 1)
	for _, g := range scalarFormats {
		for _, x := range []encoding.BinaryMarshaler{mixture(r, g, 2, 2), mixture(r, g, 3, 1).Col(0), drawOperand(r, g)} {
			b, err := x.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Matrix
		var x Vector
		var s Scalar
		var back []byte
		switch {
		case m.UnmarshalBinary(b) == nil:
			back, _ = m.MarshalBinary()
		case x.UnmarshalBinary(b) == nil:
			back, _ = x.MarshalBinary()
		case s.UnmarshalBinary(b) == nil:
			back, _ = s.MarshalBinary()
		default:
			return
		}
		if !bytes.Equal(b, back) {
			t.Errorf("%q came back as %q", b, back)
		}
	})
}

// FuzzUnmarshalJSON checks that a matrix which can be read is the same after writing and reading
// it.
func FuzzUnmarshalJSON(f *testing.F) {
	f.Add([]byte(`{"format":"dd","rows":1,"columns":2,"entries":[["1","0.5"]]}`))
	f.Add([]byte(`{"rows":1,"columns":2,"entries":[[1,-5e-400]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m, back Matrix
		if m.UnmarshalJSON(text) != nil || m.m.Arr == nil { // null
			return
		}
		b, err := m.MarshalJSON()
		if err := errors.Join(err, back.UnmarshalJSON(b)); err != nil || !back.Same(&m) {
			t.Errorf("%s is read as\n%v and comes back as\n%v, %v", text, &m, &back, err)
		}
	})
}

// TestMeasure encodes and decodes measures, including those without a JSON number.
func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		x    float64
		text string
	}{
		{0.1, "0.1"}, {-3, "-3"}, {0, "0"}, {1e300, "1e+300"}, {math.Inf(1), `"inf"`}, {math.Inf(-1), `"-inf"`}, {math.NaN(), `"nan"`},
	} {
		text, err := json.Marshal(Measure(c.x))
		if err != nil || string(text) != c.text {
			t.Errorf("%g: %s, %v, want %s", c.x, text, err, c.text)
		}
		var m Measure
		if err := json.Unmarshal(text, &m); err != nil || float64(m) != c.x && !(m != m && c.x != c.x) {
			t.Errorf("%s: %g, %v", text, m, err)
		}
	}
	m := Measure(2)
	if err := json.Unmarshal([]byte("null"), &m); err != nil || m != 2 {
		t.Errorf("null: %g, %v", m, err)
	}
	for _, bad := range []string{`"x"`, `[]`, `true`} {
		if json.Unmarshal([]byte(bad), &m) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestJSONValues marshals values and formats: a value and a pointer to it have the same text.
func TestJSONValues(t *testing.T) {
	type record struct {
		Format  Format
		Other   *Format
		Formats map[Format]int
		S       Scalar
		X       Vector
		M       Matrix
		Ms      map[string]Matrix
	}
	other := QD
	m := NewMatrixFloat64(2, 2, 2, []float64{1, 0.25, -3, 0})
	in := record{
		MP(300), &other, map[Format]int{Float64: 1, DD: 2}, DD.Quo(Float(1), Float(3)), *m.Row(0), *m.Convert(MP(90)), map[string]Matrix{"a": *m},
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"Format":"mp:300","Other":"qd","Formats":{"dd":2,"f64":1}`, `"X":{"format":"f64","entries":["1","-3"]}`, `"M":{"format":"mp:90","rows":2`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s does not contain %s", text, part)
		}
	}
	var out record
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(&out)
	if err != nil || string(back) != string(text) || out.Format != MP(300) || *out.Other != QD || out.Formats[Float64] != 1 || !out.M.Same(&in.M) {
		t.Errorf("%s is read and written as %s, %v", text, back, err)
	}
	for _, pair := range [][2]any{{*m, m}, {*m.Col(1), m.Col(1)}, {in.S, &in.S}, {in.Format, &in.Format}} {
		value, err1 := json.Marshal(pair[0])
		pointer, err2 := json.Marshal(pair[1])
		if string(value) != string(pointer) || err1 != nil || err2 != nil {
			t.Errorf("%T: %s, %v; pointer: %s, %v", pair[0], value, err1, pointer, err2)
		}
		var file bytes.Buffer
		if err := gob.NewEncoder(&file).Encode(pair[0]); err != nil {
			t.Errorf("gob of a %T: %v", pair[0], err)
		}
	}
}

// TestJSONMisfits reads JSON values that do not fit the type.
func TestJSONMisfits(t *testing.T) {
	for _, text := range []string{
		`{"foo":1}`, `{}`, `[]`, `[[1,2]]`, `true`, `"1 2"`, `{"format":"dd"}`, `{"entries":[["1"]],"rows":1,"columns":1,"foo":0}`, `{"entries":["1"],"foo":0}`,
		`{"format":"f63","entries":[]}`, `{"entries":null}`, `{"entries":{}}`,
	} {
		for _, z := range []any{new(Matrix), new(Vector), new(Scalar), new(Format)} {
			err := json.Unmarshal([]byte(text), z)
			if err == nil {
				t.Errorf("%T takes %s", z, text)
			} else if strings.Contains(err.Error(), "vectorJSON") || strings.Contains(err.Error(), "matrixJSON") {
				t.Errorf("%T, %s: %v", z, text, err)
			}
		}
	}
	for _, z := range []json.Unmarshaler{new(Matrix), new(Vector)} {
		if z.UnmarshalJSON([]byte(`{"entries":[]} {}`)) == nil {
			t.Errorf("%T takes two objects", z)
		}
	}
}

// TestZeroFormat checks that zero values agree on their format.
func TestZeroFormat(t *testing.T) {
	var f Format
	if f != Float64 || f.String() != "f64" || f.Bits() != 53 || FormatOf(f.View()) != f || f != new(Scalar).NumberFormat() ||
		f != new(Vector).NumberFormat() || f != new(Matrix).NumberFormat() {
		t.Errorf("zero format %v of %d bits", f, f.Bits())
	}
	for _, name := range []string{"f32", "f64", "dd", "td", "qd", "mp:2", "mp:53", "mp:1048576"} {
		var f Format
		if err := f.UnmarshalText([]byte(name)); err != nil || f.String() != name || FormatOf(f.View()) != f {
			t.Errorf("%s is read as %v, %v", name, f, err)
		}
	}
	f = QD
	if err := f.UnmarshalText([]byte("mp:1")); err == nil || f != QD {
		t.Errorf("mp:1 is read as %v, %v", f, err)
	}
	if !NewMatrix(Format{}, 1, 1).Same(NewMatrix(Float64, 1, 1)) {
		t.Error("a matrix of the zero format is none of doubles")
	}
}

// TestMarshalDevice: matrices and vectors on a device have no JSON and no binary form, which is an
// error.
func TestMarshalDevice(t *testing.T) {
	fakeGPUs(t, 1)
	m, err := NewMatrixOn("cuda:0", DD, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	x := m.Col(1)
	for _, v := range []any{m, *m, x, *x, map[string]any{"m": m}} {
		if b, err := json.Marshal(v); err == nil || !strings.Contains(err.Error(), "live on cuda:0: Host copies them") {
			t.Errorf("%T: %s, %v", v, b, err)
		}
	}
	for _, f := range []func() ([]byte, error){m.MarshalBinary, x.MarshalBinary} {
		if b, err := f(); err == nil || len(b) != 0 || !strings.Contains(err.Error(), "live on cuda:0: Host copies them") {
			t.Errorf("%s, %v", b, err)
		}
	}
}
