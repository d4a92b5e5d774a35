package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/reproduce"
)

// verdicts writes the findings of the records of all experiments.
func verdicts(root, name string) error {
	from := func(name string) string { return "bench/records/h100-" + name + ".json.gz" }
	var reports []*reproduce.Report
	for _, name := range reproduce.Names {
		r, err := readReport(filepath.Join(root, from(name)))
		if err != nil {
			return fmt.Errorf("%s: %w", from(name), err)
		}
		reports = append(reports, r)
	}
	d := reproduce.NewDocument("", time.Time{}, reports...)
	return files.Write(name, nil, func(w io.Writer) error {
		return d.WriteVerdicts(w, func(name string) string {
			return fmt.Sprintf("[%s](../%s)", from(name), from(name))
		})
	})
}

// readReport reads a compressed report.
func readReport(path string) (*reproduce.Report, error) {
	text, err := uncompressed(path)
	if err != nil {
		return nil, err
	}
	return reproduce.ReadJSON(bytes.NewReader(text))
}

// uncompressed returns the content of a file compressed by gzip.
func uncompressed(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return io.ReadAll(z)
}
