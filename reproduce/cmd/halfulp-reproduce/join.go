package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/reproduce"
)

type reproduceReportCmd struct {
	Dir string `arg:"" name:"DIR" help:"Folder with the JSON files of the experiments."`
}

func (reproduceReportCmd) Help() string {
	return `Writes the report of all experiments, as "all" does, from their JSON files in DIR, mpres-sum.json, mpres-gemv.json, ozaki.json and qd.json, without running anything. They may come from several machines and versions of this program: each page says from which.

Example:

  halfulp reproduce mpres-gemv --device cuda:0 --out report
  halfulp reproduce report report`
}

func (c *reproduceReportCmd) Run(*cli.Environment) error {
	var reports []*reproduce.Report
	for _, name := range reproduce.Names {
		r, err := readReport(filepath.Join(c.Dir, name+".json"))
		if err != nil {
			return err
		}
		if r.Name != name {
			return fmt.Errorf("%s is a report of %s", filepath.Join(c.Dir, name+".json"), r.Name)
		}
		reports = append(reports, r)
	}
	f := reproduceFlags{Out: &c.Dir}
	for _, r := range reports {
		if err := f.writeFolder(r.Files()); err != nil {
			return err
		}
	}
	return f.writeFolder(reproduce.NewDocument("halfulp reproduce report "+c.Dir, time.Now(), reports...).Files())
}

func readReport(path string) (*reproduce.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := reproduce.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s is no report (%w)", path, err)
	}
	return r, nil
}
