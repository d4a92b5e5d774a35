package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/reproduce"
)

// fakeRuns stand in place of experiments: each runs once, in small, and its report serves from then
// on. They note which experiments are asked for, and return the error of before.
type fakeRuns struct {
	names  []string
	before func(name string) error
}

// smallReports are the reports as JSON.
var smallReports = map[string][]byte{}

func (f *fakeRuns) run(x reproduce.Experiment, o reproduce.Options) (*reproduce.Report, error) {
	f.names = append(f.names, x.Name)
	if f.before != nil {
		if err := f.before(x.Name); err != nil {
			return nil, err
		}
	}
	if smallReports[x.Name] == nil {
		defer reproduce.Brief()()
		r, err := x.Run(reproduce.Options{Threads: 2})
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := r.WriteJSON(&b); err != nil {
			return nil, err
		}
		smallReports[x.Name] = b.Bytes()
	}
	r, err := reproduce.ReadJSON(bytes.NewReader(smallReports[x.Name]))
	if err != nil {
		return nil, err
	}
	r.Command, r.Machine = o.Command, o.Machine
	return r, nil
}

// runAll runs the command in small.
func (f *fakeRuns) runAll(ctx context.Context, t *testing.T, out string, change func(*reproduceAllCmd)) (stdout, stderr string, err error) {
	t.Helper()
	defer func(old func(reproduce.Experiment, reproduce.Options) (*reproduce.Report, error)) {
		runExperiment = old
	}(runExperiment)
	runExperiment = f.run
	n := []int{300, 12, 24, 2}
	c := &reproduceAllCmd{SumN: &n[0], GemvN: &n[1], QDN: &n[2], OzakiSeeds: &n[3], OzakiN: []int{16, 32}, reproduceFlags: reproduceFlags{Out: &out, Device: "cpu"}}
	if change != nil {
		change(c)
	}
	var o, e bytes.Buffer
	err = c.Run(&cli.Environment{Ctx: ctx, Stdin: strings.NewReader(""), Stdout: &o, Stderr: &e})
	return o.String(), e.String(), err
}

// listed are the names of the files in a folder.
func listed(t *testing.T, folder string) []string {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

// TestResume interrupts the command before each experiment: there is no report until the same
// command has continued, and no experiment runs twice.
func TestResume(t *testing.T) {
	if testing.Short() {
		t.Skip("the experiments take seconds")
	}
	reports := []string{"report.csv", "report.html", "report.json", "report.md"}
	for stage, name := range reproduce.Names {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			ctx, cancel := context.WithCancel(t.Context())
			first := &fakeRuns{before: func(at string) error {
				if at == name {
					cancel()
				}
				return ctx.Err()
			}}
			stdout, _, err := first.runAll(ctx, t, out, nil)
			if !errors.Is(err, context.Canceled) || stdout != "" {
				t.Fatalf("error %v, output %q", err, stdout)
			}
			files := listed(t, out)
			var want []string
			for _, done := range reproduce.Names[:stage] {
				want = append(want, done+".json")
			}
			slices.Sort(want)
			if !slices.Equal(files, want) {
				t.Errorf("files %v, want %v", files, want)
			}
			second := &fakeRuns{}
			stdout, stderr, err := second.runAll(t.Context(), t, out, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(second.names, reproduce.Names[stage:]) {
				t.Errorf("experiments %v after %v", second.names, want)
			}
			for _, done := range reproduce.Names[:stage] {
				if !strings.Contains(stderr, "halfulp: "+done+": taken from "+out+", finished at ") {
					t.Errorf("does not say that %s is taken:\n%s", done, stderr)
				}
			}
			files = listed(t, out)
			for _, f := range append(reports, "qd-matrices.svg", "ozaki.png", "mpres-sum.csv", "mpres-gemv.svg") {
				if !slices.Contains(files, f) {
					t.Errorf("no %s in %v", f, files)
				}
			}
			for _, f := range files {
				if strings.HasPrefix(f, ".") || strings.HasSuffix(f, ".tmp") {
					t.Errorf("%s is left", f)
				}
			}
			if !strings.HasSuffix(stdout, "\n"+filepath.Join(out, "report.html")+"\n") {
				t.Errorf("output %q", stdout)
			}
		})
	}
}

// TestKept: reports that are damaged, or of another command, machine or version, are not taken.
func TestKept(t *testing.T) {
	out := t.TempDir()
	c := &reproduceAllCmd{reproduceFlags: reproduceFlags{Out: &out, Device: "cpu"}}
	x := reproduce.Experiment{Name: "ozaki", Sizes: []int{16}, Seeds: 1, Phi: []float64{1}}
	o := c.options(&cli.Environment{Ctx: t.Context()}, &x, c.machine())
	if r, why := c.kept(x.Name, &o); r != nil || why != "" {
		t.Errorf("an empty folder has the report %v, %q", r, why)
	}
	r, err := x.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.writeFolder([]reproduce.File{r.JSONFile()}); err != nil {
		t.Fatal(err)
	}
	if back, why := c.kept(x.Name, &o); back == nil || why != "" || !reflect.DeepEqual(back.Records, r.Records) {
		t.Errorf("the report is not taken: %v, %q", back, why)
	}
	path := filepath.Join(out, "ozaki.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, by string) string {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("no %q in the report", old)
		}
		return string(bytes.Replace(good, []byte(old), []byte(by), 1))
	}
	for _, k := range []struct{ what, content, says string }{
		{"cut", string(good[:len(good)/2]), "is no report ("},
		{"empty", "", "is no report ("},
		{"longer", string(good) + "{}", "is no report ("},
		{"command", replace(`"command": "halfulp reproduce ozaki`, `"command": "halfulp reproduce magic`), `has the report of another command, "halfulp reproduce magic`},
		{"version", replace(`"version": "`, `"version": "x`), "written by another version of this program"},
		{"program", replace(`"program": "`, `"program": "0`), "written by another version of this program"},
		{"machine", replace(`"cpu": "`, `"cpu": "x`), "written on another machine"},
		{"threads", replace(`"threads": `, `"threads": 9`), "written on another machine"},
		{"name", replace(`"name": "ozaki"`, `"name": "magic"`), "is no report ("},
	} {
		if err := os.WriteFile(path, []byte(k.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if r, why := c.kept(x.Name, &o); r != nil || !strings.Contains(why, k.says) {
			t.Errorf("%s: taken or not for another reason: %v, %q", k.what, r != nil, why)
		}
	}
}

// TestChanged: with other flags the experiments that they concern run again, with --fresh all, and
// an older report does not stand beside new parts.
func TestChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("the experiments take seconds")
	}
	out := t.TempDir()
	n := 14
	for _, c := range []struct {
		change func(*reproduceAllCmd)
		runs   string
	}{
		{nil, "mpres-sum mpres-gemv ozaki qd"},
		{nil, ""},
		{func(c *reproduceAllCmd) { c.GemvN = &n }, "mpres-gemv"},
		{func(c *reproduceAllCmd) { c.GemvN, c.Fresh = &n, true }, "mpres-sum mpres-gemv ozaki qd"},
	} {
		f := &fakeRuns{before: func(string) error {
			if files := listed(t, out); slices.ContainsFunc(files, func(name string) bool { return strings.HasPrefix(name, "report.") }) {
				t.Errorf("the old report stands beside new parts: %v", files)
			}
			return nil
		}}
		_, stderr, err := f.runAll(t.Context(), t, out, c.change)
		if err != nil || strings.Join(f.names, " ") != c.runs {
			t.Errorf("runs %v, want %s; %v; says\n%s", f.names, c.runs, err, stderr)
		}
	}
}

// TestFailing: the error of an experiment says which.
func TestFailing(t *testing.T) {
	out := t.TempDir()
	failing := errors.New("no memory")
	_, _, err := (&fakeRuns{before: func(string) error { return failing }}).runAll(t.Context(), t, out, nil)
	if !errors.Is(err, failing) || err.Error() != "mpres-sum: no memory" {
		t.Errorf("error %v", err)
	}
	if files := listed(t, out); len(files) != 0 {
		t.Errorf("files %v", files)
	}
}

func TestSizesOfAll(t *testing.T) {
	for _, c := range []struct {
		change func(*reproduceAllCmd)
		want   string
	}{
		{func(c *reproduceAllCmd) { c.PaperSize = true }, "n = 1000000; n = 1000; n = [128 256 512 1024 2048 4096], 10 seeds, phi = [0.1 1 2]; n = 2400"},
		{func(c *reproduceAllCmd) { c.Device = "cuda:0" }, "n = 1000000; n = 1000; n = [128 256 512 1024 2048 4096], 10 seeds, phi = [0.1 1 2]; n = 600, and 2400 on the GPU"},
		{func(c *reproduceAllCmd) { n := 7; c.Device, c.QDN, c.OzakiN = "cuda:0", &n, []int{5} }, "n = 1000000; n = 1000; n = [5], 10 seeds, phi = [0.1 1 2]; n = 7"},
	} {
		cmd := &reproduceAllCmd{reproduceFlags: reproduceFlags{Device: "cpu"}}
		c.change(cmd)
		list, err := cmd.experiments()
		if err != nil {
			t.Fatal(err)
		}
		var sizes []string
		for _, x := range list {
			sizes = append(sizes, x.Size(cmd.Device != "cpu"))
		}
		if got := strings.Join(sizes, "; "); got != c.want {
			t.Errorf("sizes %s, want %s", got, c.want)
		}
	}
	// What all runs by default is smaller than what each paper has.
	list, err := (&reproduceAllCmd{reproduceFlags: reproduceFlags{Device: "cpu"}}).experiments()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		if reflect.DeepEqual(x, reproduce.Paper(x.Name, false)) {
			t.Errorf("%s has the paper's size", x.Name)
		}
		// The flags of an experiment ask for its sizes.
		if x.Flags() == "" {
			t.Errorf("%s has no flags", x.Name)
		}
	}
}

func TestInTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 123456 * time.Microsecond: "100ms", 12345 * time.Millisecond: "12s", 125 * time.Second: "2m10s", 3000 * time.Second: "50m0s",
	} {
		if got := fmt.Sprint(inTime(d)); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// TestReport writes the report once more from the experiments' files.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("the experiments take seconds")
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, _, err := new(fakeRuns).runAll(t.Context(), t, out, nil); err != nil {
		t.Fatal(err)
	}
	before := map[string][]byte{}
	for _, name := range listed(t, out) {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = text
		if filepath.Ext(name) != ".json" || name == "report.json" {
			if err := os.Remove(filepath.Join(out, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := (&reproduceReportCmd{Dir: out}).Run(nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range before {
		got, err := os.ReadFile(filepath.Join(out, name))
		// The report has its own command and time.
		if err != nil || !bytes.Equal(got, want) && !strings.HasPrefix(name, "report.") {
			t.Errorf("%s: not what it was (%v)", name, err)
		}
	}
	if err := os.Remove(filepath.Join(out, "qd.json")); err != nil {
		t.Fatal(err)
	}
	if err := (&reproduceReportCmd{Dir: out}).Run(nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "qd.json") {
		t.Error(err)
	}
}
