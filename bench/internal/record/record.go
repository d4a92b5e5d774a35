// Package record keeps the figures of one run with what is needed to judge and repeat them.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/halfulp/halfulp/bench/internal/machine"
)

// Record is one run of the benchmark.
type Record struct {
	Command   string          `json:"command"`
	Commit    string          `json:"commit"`
	Dirty     bool            `json:"dirty"` // the working tree differed from the commit
	Date      time.Time       `json:"date"`
	Machine   machine.Machine `json:"machine"`
	Go        string          `json:"go"`
	Libraries []Library       `json:"libraries"`
	Figures   []Figure        `json:"figures"`
}

// Library is a library measured.
type Library struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Figure is the time of one method on one problem, or the reason why there is none.
type Figure struct {
	Workload string `json:"workload"`
	Kind     string `json:"kind"`
	N        int    `json:"n"`
	// binary exponents within ±Spread; 0: uniform in (-1, 1)
	Spread  int    `json:"spread,omitempty"`
	Bits    uint   `json:"bits"`
	Method  string `json:"method"`
	Role    string `json:"role"`
	Rounded bool   `json:"correctly_rounded"`
	Threads int    `json:"threads"`

	Skipped string `json:"skipped,omitempty"`

	Unit      string  `json:"unit,omitempty"`
	Median    float64 `json:"median,omitempty"`
	Min       float64 `json:"min,omitempty"`
	Max       float64 `json:"max,omitempty"`
	Repeats   int     `json:"repeats,omitempty"`    // timings taken
	Runs      int     `json:"runs,omitempty"`       // runs in each timing
	Columns   int     `json:"columns,omitempty"`    // columns of the result computed
	ColumnsOf int     `json:"columns_of,omitempty"` // columns of the whole result

	Detail json.RawMessage `json:"detail,omitempty"` // what the method tells about its last run
}

// Partial says that fewer columns than the whole were measured.
func (f Figure) Partial() bool { return f.Columns < f.ColumnsOf }

// Read reads a record file.
func Read(path string) (*Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Record)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Text returns the JSON of a record, an object: one line for each of its members, and for each
// element of a member that is a list of objects.
func Text(r any) ([]byte, error) {
	compact, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	text := []byte("{")
	d := json.NewDecoder(bytes.NewReader(compact))
	_, err = d.Token() // {
	for err == nil && d.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, "\n\t%q: ", key) // names of fields and map keys are plain
		if !bytes.HasPrefix(value, []byte("[{")) {
			text = append(text, value...)
			continue
		}
		var list []json.RawMessage
		err = errors.Join(err, json.Unmarshal(value, &list))
		text = append(text, '[')
		for i, element := range list {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(append(text, "\n\t\t"...), element...)
		}
		text = append(text, "\n\t]"...)
	}
	return append(text, "\n}\n"...), err
}

// Write writes a record file, of a [Record] or of another command's kind, whole or not at all;
// nothing without a path.
func Write(path string, r any) error {
	if path == "" {
		return nil
	}
	text, err := Text(r)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".record-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once renamed, as it should
	if _, err := file.Write(text); err != nil {
		file.Close()
		return err
	}
	if err := file.Chmod(0o644); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
