package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/files"
	"github.com/halfulp/halfulp/reproduce"
)

type reproduceAllCmd struct {
	PaperSize  bool  `name:"paper-size" help:"The papers' sizes on the CPU as well; with --device cuda:N they are the default."`
	SumN       *int  `name:"sum-n" placeholder:"N" help:"--n of mpres-sum."`
	GemvN      *int  `name:"gemv-n" placeholder:"N" help:"--n of mpres-gemv."`
	OzakiN     []int `name:"ozaki-n" placeholder:"N,..." help:"--n of ozaki."`
	OzakiSeeds *int  `name:"ozaki-seeds" placeholder:"N" help:"--seeds of ozaki."`
	QDN        *int  `name:"qd-n" placeholder:"N" help:"--n of qd."`
	Fresh      bool  `help:"Run all experiments, also those that --out has from an earlier call."`
	reproduceFlags
}

func (reproduceAllCmd) Help() string {
	return `Runs the experiments of all papers, mpres-sum, mpres-gemv, ozaki and qd, and writes one report of them into the folder --out: report.html, a single file with its pictures that needs nothing else, for screens, phones and paper; report.md, whose pictures are files beside it; report.csv and report.json; and the files of each experiment. Standard output gets the verdicts, or with --json the whole report.

On the CPU alone, sizes are smaller than the papers', which the report says. --paper-size takes the papers', which on a CPU last for an hour or so; --device cuda:N has them by default.

An experiment's JSON is written when it is done. A call that was interrupted is continued by the same command, which takes the finished experiments from --out if they were made by the same program, on the same machine and with the same flags, and says so. The report is written when all experiments are done.

Examples:

  halfulp reproduce all --out report
  halfulp reproduce all --out report --device cuda:0
  halfulp reproduce all --out report --gemv-n 1000 --ozaki-n 256,1024
  halfulp reproduce all --out report --fresh`
}

// order is a flag for a size, nil if it is not given, and its experiment.
type order struct {
	name, flag string
	value      *int
}

func (c *reproduceAllCmd) orders() []order {
	return []order{{"mpres-sum", "--sum-n", c.SumN}, {"mpres-gemv", "--gemv-n", c.GemvN}, {"qd", "--qd-n", c.QDN}}
}

// experiments are those to run, in order.
func (c *reproduceAllCmd) experiments() ([]reproduce.Experiment, error) {
	gpu := c.Device != cpuDevice
	var list []reproduce.Experiment
	for _, name := range reproduce.Names {
		x := reproduce.Quick(name)
		if gpu || c.PaperSize {
			x = reproduce.Paper(name, gpu)
		}
		for _, n := range c.orders() {
			if n.name != name || n.value == nil {
				continue
			}
			x.N = *n.value
			if err := checkReproduceN(n.flag, x.N); err != nil {
				return nil, err
			}
		}
		if name == "ozaki" {
			if len(c.OzakiN) > 0 {
				x.Sizes = c.OzakiN
			}
			if c.OzakiSeeds != nil {
				x.Seeds = *c.OzakiSeeds
			}
			if err := checkOzaki("--ozaki-", x); err != nil {
				return nil, err
			}
		}
		list = append(list, x)
	}
	return list, nil
}

// command is the command line, but for flags that only concern output.
func (c *reproduceAllCmd) command() string {
	command := "halfulp reproduce all"
	if c.PaperSize {
		command += " --paper-size"
	}
	for _, n := range append(c.orders(), order{"", "--ozaki-seeds", c.OzakiSeeds}) {
		if n.value != nil {
			command += fmt.Sprintf(" %s %d", n.flag, *n.value)
		}
	}
	if len(c.OzakiN) > 0 {
		command += " --ozaki-n " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.OzakiN)), ","), "[]")
	}
	return command + c.flags() + " --out " + *c.Out
}

// runExperiment is a variable for tests.
var runExperiment = func(x reproduce.Experiment, o reproduce.Options) (*reproduce.Report, error) { return x.Run(o) }

func (c *reproduceAllCmd) Run(env *cli.Environment) error {
	list, err := c.experiments()
	if err != nil {
		return err
	}
	if c.Out == nil {
		return cli.Misuse("reproduce all: --out is missing, the folder for the report")
	}
	if err := c.check(); err != nil {
		return err
	}
	clock := c.newClock(env, "reproduce all")
	defer clock.stop()
	machine := c.machine()
	reports := make([]*reproduce.Report, len(list))
	estimates := make([]time.Duration, len(list))
	var total time.Duration
	kept := 0
	for i, x := range list {
		o := c.options(env, &x, machine)
		if !c.Fresh {
			var why string
			if reports[i], why = c.kept(x.Name, &o); why != "" {
				clock.say("%s: %s, so it is run again", x.Name, why)
			}
		}
		if r := reports[i]; r != nil {
			kept++
			clock.say("%s: taken from %s, finished at %s (--fresh runs it again)", x.Name, *c.Out, r.Time)
			continue
		}
		if estimates[i], err = x.Estimate(o); err != nil {
			return err
		}
		total += estimates[i]
	}
	start := time.Now()
	if kept < len(list) {
		clock.say("%d of %d experiments take about %v here", len(list)-kept, len(list), inTime(total))
		// What is there is of another run, and no report of this one.
		if err := c.removeReport(); err != nil {
			return err
		}
	}
	before, after := time.Duration(0), total
	for i, x := range list {
		if reports[i] != nil {
			continue
		}
		after -= estimates[i]
		clock.next(fmt.Sprintf("%s (%d of %d)", x.Name, i+1, len(list)), before, after)
		before += estimates[i]
		o := c.options(env, &x, machine)
		o.Watch = func(m *reproduce.Meter) {
			clock.say("%s (%d of %d), %s: takes about %v here", x.Name, i+1, len(list), x.Size(c.Device != cpuDevice), inTime(m.Estimate()))
			clock.watch(m)
		}
		r, err := runExperiment(x, o)
		if err == nil {
			err = c.writeFolder([]reproduce.File{r.JSONFile()})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
		clock.say("%s took %v and is in %s", x.Name, inTime(time.Duration(r.Seconds*float64(time.Second))), *c.Out)
		reports[i] = r
	}
	if kept < len(list) {
		clock.say("all took %v, estimated were %v", inTime(time.Since(start)), inTime(total))
	}
	clock.stop()
	for _, r := range reports {
		if err := c.writeFolder(r.Files()); err != nil {
			return err
		}
	}
	d := reproduce.NewDocument(c.command(), time.Now(), reports...)
	if err := c.writeFolder(d.Files()); err != nil {
		return err
	}
	if c.JSON {
		return files.Write(files.Stdio, env.Stdout, d.WriteJSON)
	}
	return files.Write(files.Stdio, env.Stdout, func(w io.Writer) error {
		if err := d.WriteSummary(w); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\n%s\n", filepath.Join(*c.Out, "report.html"))
		return err
	})
}

// kept returns the report of an experiment that an earlier call with the same program, machine and
// flags has written into --out, nil if there is none, and why one that is there does not do.
func (c *reproduceAllCmd) kept(name string, o *reproduce.Options) (*reproduce.Report, string) {
	path := filepath.Join(*c.Out, name+".json")
	r, err := readReport(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ""
	case err != nil:
		return nil, err.Error()
	case r.Name != name:
		return nil, fmt.Sprintf("%s is a report of %s", path, r.Name)
	case r.Command != o.Command:
		return nil, fmt.Sprintf("%s has the report of another command, %q", path, r.Command)
	case r.Machine.Version != o.Machine.Version, r.Machine.Program != o.Machine.Program, r.Machine.Go != o.Machine.Go:
		return nil, path + " was written by another version of this program"
	case !reflect.DeepEqual(r.Machine, o.Machine):
		return nil, path + " was written on another machine"
	}
	return r, ""
}

// removeReport removes the report of all experiments from --out.
func (c *reproduceAllCmd) removeReport() error {
	for _, f := range new(reproduce.Document).Files() {
		if err := os.Remove(filepath.Join(*c.Out, f.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
