package halfulp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// AppendText appends the text of s: the name of its format, a blank, and the shortest decimal that
// reads back to s in that format, such as "mp:424 0.1". The error is nil. In JSON the text is a
// string.
func (s Scalar) AppendText(dst []byte) ([]byte, error) {
	return s.Append(append(append(dst, s.NumberFormat().String()...), ' '), 0), nil
}

// MarshalText returns the text of s, as [Scalar.AppendText] writes it. The error is nil.
func (s Scalar) MarshalText() ([]byte, error) { return s.AppendText(nil) }

// UnmarshalText replaces s by the number of a text. If the text names a format, the number is read
// in that format, without loss if [Scalar.AppendText] wrote it. A number alone is rounded once to
// the format of s, which is Float64 for the zero Scalar. Numbers are as in [ParseScalar].
func (s *Scalar) UnmarshalText(text []byte) error {
	f, number := s.NumberFormat(), string(text)
	if name, rest, ok := bytes.Cut(text, []byte(" ")); ok {
		g, err := ParseFormat(string(name))
		if err != nil {
			return err
		}
		f, number = g, string(rest)
	}
	x, err := ParseScalar(f, number)
	if err == nil {
		*s = x
	}
	return err
}

// UnmarshalJSON replaces s by a JSON string, read as by [Scalar.UnmarshalText], or by a JSON
// number, rounded once to the format of s. null leaves s unchanged.
func (s *Scalar) UnmarshalJSON(data []byte) error {
	text, err := jsonText(data)
	if err != nil || text == nil {
		return err
	}
	return s.UnmarshalText(text)
}

// jsonText returns the text of a JSON string or number, nil for null.
func jsonText(data []byte) ([]byte, error) {
	switch {
	case string(data) == "null":
		return nil, nil
	case len(data) > 0 && data[0] == '"':
		var text string
		err := json.Unmarshal(data, &text)
		return []byte(text), err
	case len(data) > 0 && (data[0] == '-' || data[0] >= '0' && data[0] <= '9'):
		return data, nil
	}
	return nil, fmt.Errorf("halfulp: number expected in place of JSON %.20q", data)
}

// vectorJSON and matrixJSON are the JSON forms of vectors and matrices.
type vectorJSON struct {
	Format  string      `json:"format"`
	Entries []entryJSON `json:"entries"`
}

type matrixJSON struct {
	Format  string        `json:"format"`
	Rows    int           `json:"rows"`
	Columns int           `json:"columns"`
	Entries [][]entryJSON `json:"entries"`
}

// entryJSON is the text of a number.
type entryJSON []byte

func (e entryJSON) MarshalText() ([]byte, error) { return e, nil }

func (e *entryJSON) UnmarshalJSON(data []byte) error {
	text, err := jsonText(data)
	*e = bytes.Clone(text)
	return err
}

// decodeJSON stores a JSON object in v. An unknown field is an error; fields lists the known ones
// for messages.
func decodeJSON(data []byte, v any, fields string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("more text follows the JSON value")
		}
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if kind.Field != "" {
			return fmt.Errorf("halfulp: JSON object with %s expected: %s is a JSON %s", fields, kind.Field, kind.Value)
		}
		return fmt.Errorf("halfulp: JSON %s in place of an object with %s", kind.Value, fields)
	}
	if err != nil {
		return fmt.Errorf("halfulp: JSON object with %s expected: %w", fields, err)
	}
	return nil
}

// formatJSON returns the format called name. An empty name stands for the format of a, or for
// Float64 if a is nil.
func formatJSON(name string, a *num.Array) (Format, error) {
	switch {
	case name != "":
		return ParseFormat(name)
	case a != nil:
		return FormatOf(a.Format), nil
	}
	return Float64, nil
}

// fitsJSON returns an error unless n numbers of format f fit the memory that readers keep to: a
// short text may request any number of bits.
func fitsJSON(f Format, n int) error {
	if size, most := num.SizeOf(f.View()), DefaultMemoryLimit(); int64(n) > most/size {
		return fmt.Errorf("%w: %d numbers of format %v take more than %d bytes", ErrMemory, n, f, most)
	}
	return nil
}

// onHost returns an error unless the numbers of a, which form requires, live on the host.
func onHost(form string, a *num.Array) error {
	if a.Away == nil {
		return nil
	}
	return fmt.Errorf("halfulp: %s of entries that live on %s: Host copies them", form, placeName(place.Of(a)))
}

// entriesJSON returns the entries of row i of m.
func entriesJSON(m *Matrix, i int) []entryJSON {
	row := make([]entryJSON, m.Cols())
	for j := range row {
		row[j] = m.AppendText(nil, i, j, 0)
	}
	return row
}

// MarshalJSON returns x as {"format":"dd","entries":["1","0.5"]}, without loss: every entry is the
// shortest decimal that reads back to it. Entries on a device are an error.
func (x Vector) MarshalJSON() ([]byte, error) {
	if err := onHost("JSON", x.vec().Arr); err != nil {
		return nil, err
	}
	return json.Marshal(vectorJSON{x.NumberFormat().String(), entriesJSON(x.Matrix().T(), 0)})
}

// UnmarshalJSON replaces x, including its format and length, by a vector that [Vector.MarshalJSON]
// wrote. Entries may be numbers as well as strings. Without a format entries are rounded to the
// format of x, which is Float64 for the zero Vector. null leaves x unchanged. Unknown fields and an
// object without entries are errors.
func (x *Vector) UnmarshalJSON(data []byte) error {
	var v vectorJSON
	if string(data) == "null" {
		return nil
	}
	if err := decodeJSON(data, &v, "format and entries"); err != nil {
		return err
	}
	if v.Entries == nil {
		return errJSONEntries
	}
	f, err := formatJSON(v.Format, x.vec().Arr)
	if err != nil {
		return err
	}
	if err := fitsJSON(f, len(v.Entries)); err != nil {
		return err
	}
	z := NewVector(f, len(v.Entries))
	for i, e := range v.Entries {
		if _, err := setText(z.vec().Arr, i, e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	*x = *z
	return nil
}

// MarshalJSON returns m as {"format":"dd","rows":1,"columns":2,"entries":[["1","0.5"]]}, row by row
// and without loss: every entry is the shortest decimal that reads back to it. Entries on a device
// are an error.
func (m Matrix) MarshalJSON() ([]byte, error) {
	if err := onHost("JSON", m.mat().Arr); err != nil {
		return nil, err
	}
	v := matrixJSON{Format: m.NumberFormat().String(), Rows: m.Rows(), Columns: m.Cols(), Entries: make([][]entryJSON, m.Rows())}
	for i := range v.Entries {
		v.Entries[i] = entriesJSON(&m, i)
	}
	return json.Marshal(v)
}

var (
	errJSONShape   = errors.New("halfulp: the entries of the JSON matrix do not have its shape")
	errJSONEntries = errors.New("halfulp: the JSON object has no entries")
)

// UnmarshalJSON replaces m, including its format and shape, by a matrix that [Matrix.MarshalJSON]
// wrote. Entries may be numbers as well as strings. Without a format entries are rounded to the
// format of m, which is Float64 for the zero Matrix. null leaves m unchanged. Unknown fields and an
// object without entries are errors.
func (m *Matrix) UnmarshalJSON(data []byte) error {
	var v matrixJSON
	if string(data) == "null" {
		return nil
	}
	if err := decodeJSON(data, &v, "format, rows, columns and entries"); err != nil {
		return err
	}
	if v.Entries == nil {
		return errJSONEntries
	}
	f, err := formatJSON(v.Format, m.mat().Arr)
	if err != nil {
		return err
	}
	if v.Rows < 0 || v.Columns < 0 || len(v.Entries) != v.Rows {
		return errJSONShape
	}
	for _, row := range v.Entries {
		if len(row) != v.Columns {
			return errJSONShape
		}
	}
	if err := errors.Join(fitsEmpty(uint64(v.Rows), uint64(v.Columns)), fitsJSON(f, v.Rows*v.Columns)); err != nil {
		return err
	}
	z := NewMatrix(f, v.Rows, v.Columns)
	for i, row := range v.Entries {
		for j, e := range row {
			if err := z.SetText(i, j, e); err != nil {
				return fmt.Errorf("entry (%d, %d): %w", i, j, err)
			}
		}
	}
	*m = *z
	return nil
}
