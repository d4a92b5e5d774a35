package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testlength"
)

// deviceCase is a command line with the same output on a GPU and on the CPU.
type deviceCase struct {
	line   string // without --device; files are made by deviceOperands, results go to out/
	stdin  string // the operand on standard input
	status int    // the exit status
	there  bool   // statistics name the GPU
	on     kernels
}

// kernels are the kernels that a case needs on a GPU.
type kernels int

const (
	engine   kernels = iota // of the packages that gputest has the kernels of
	residues                // of package rns, which fake GPUs do not have
	floats                  // of packages expansion and ozaki, likewise, on one GPU only
	oneGPU                  // none, on one GPU only
	none                    // none, for GPUs are refused
)

// deviceCases are command lines of every command that has --device, and of each of its own flags.
// Variants of the first line of each command have the flags that all commands share.
var deviceCases = map[string][]deviceCase{
	"sum": {
		{line: "sum A.mtx", there: true},
		{line: "sum -", stdin: "x.mtx"},
		{line: "sum x.csv --compare --format dd", there: true},
		{line: "sum special.csv"},
		{line: "sum A.mtx --axis 0", there: true},
		{line: "sum special.csv --axis 1 --compare"},
		{line: "sum huge.csv --format f32"},
		{line: "sum A.mtx --method rns-hybrid --moduli 16 --precision 100 --blocks 3 --block-size 7", on: residues},
		{line: "sum A.mtx --method rns-recursive", on: residues},
	},
	"asum": {
		{line: "asum A.mtx --format mp:150", there: true},
		{line: "asum special.csv"},
		{line: "asum A.mtx --axis 1 --format dd", there: true},
		{line: "asum A.mtx --method rns-hybrid --moduli 16 --precision 100 --blocks 3 --block-size 7", on: residues},
	},
	"nrm2": {
		{line: "nrm2 A.mtx --format qd", there: true},
		{line: "nrm2 huge.csv --format f32"},
		{line: "nrm2 A.mtx --axis 0", there: true},
		{line: "nrm2 A.mtx --method rns-hybrid --moduli 16 --precision 100 --blocks 3 --block-size 7", on: residues},
	},
	"dot": {
		{line: "dot x.csv y.mtx", there: true},
		{line: "dot x.csv y.mtx --compare --format mp:300"},
		{line: "dot x.csv b.csv", status: cli.ExitMisuse},
		{line: "dot x.csv y.mtx --method rns-hybrid --moduli 16 --precision 100 --blocks 3 --block-size 7", on: residues},
		{line: "dot x.csv y.mtx --method expansion --format td", on: floats},
	},
	"stats": {
		{line: "stats x.csv", there: true},
		{line: "stats A.mtx --format mp:120"},
		{line: "stats huge.csv --format f32"},
		{line: "stats A.mtx --axis 1", there: true},
	},
	"cumsum": {
		{line: "cumsum x.csv"},
		{line: "cumsum A.mtx --axis 0 --format mp:120"},
		{line: "cumsum A.mtx", status: cli.ExitMisuse},
	},
	"trace": {
		{line: "trace A.mtx", there: true},
		{line: "trace special.csv"},
		{line: "trace tall.mtx", status: cli.ExitMisuse},
	},
	"axpy": {
		{line: "axpy A.mtx A2.mtx --alpha -0.1", there: true},
		{line: "axpy x.csv y.mtx"},
	},
	"add": {
		{line: "add A.mtx A2.mtx --alpha 0.5 --beta -1e300", there: true},
		{line: "add A.mtx special.csv"},
		{line: "add huge.csv huge.csv --format f32"},
	},
	"gemv": {
		{line: "gemv A.mtx x.csv", there: true},
		{line: "gemv A.mtx x.csv y.mtx --trans --alpha -1 --beta 0.1 --compare --format mp:150"},
		{line: "gemv special.csv x.csv"},
		{line: "gemv A.mtx x.csv --method rns-gemv --moduli 16 --precision 100 --block-size 7", on: residues},
		{line: "gemv A.mtx x.csv --method rns-basic", on: residues},
		{line: "gemv A.mtx x.csv --method rns-hybrid --blocks 3", on: residues, status: cli.ExitMisuse},
		{line: "gemv A.mtx x.csv y.mtx --method expansion --format qd --beta 3", on: floats},
	},
	"spmv": {
		{line: "spmv sparse.mtx x.csv", on: none},
		{line: "spmv sparse.mtx x.csv --method rns-csr --moduli 16 --precision 100 --compare", on: residues},
		{line: "spmv sparse.mtx x.csv --method rns-jadv --row-threads 4", on: residues},
		{line: "spmv sparse.mtx x.csv --method rns-ell --format mp:106", on: residues},
	},
	"gemm": {
		{line: "gemm A.mtx B.mtx", there: true},
		{line: "gemm A.mtx A.mtx A2.mtx --transa --transb --alpha 0.1 --beta -2 --format qd", there: true},
		{line: "gemm A.mtx A2.mtx --compare --format f32"},
		{line: "gemm special.csv A.mtx"},
		{line: "gemm huge.csv huge.csv --format f32"},
		{line: "gemm A.mtx B.mtx --method residue --memory 100M"},
		{line: "gemm A.mtx tall.mtx", status: cli.ExitMisuse},
		{line: "gemm F.npz:L F.npz:U"},
		{line: "gemm A.mtx B.mtx --method ozaki:auto --tolerance 1e-9", on: floats},
		{line: "gemm A.mtx B.mtx --method ozaki:3 --block 64", on: floats},
		{line: "gemm A.mtx B.mtx --method double-float", on: floats},
		{line: "gemm A.mtx B.mtx --method expansion --format dd", on: floats},
		{line: "gemm A.mtx B.mtx --method expansion-square", on: floats},
	},
	"symm": {
		{line: "symm S.mtx B.mtx", there: true},
		{line: "symm S.mtx A.mtx A2.mtx --side right --uplo upper --alpha -1 --beta 3 --format dd"},
		{line: "symm special.csv A.mtx"},
	},
	"syrk": {
		{line: "syrk A.mtx", there: true},
		{line: "syrk A2.mtx S.mtx --trans --alpha 0.5 --beta 2 --uplo upper --format mp:150"},
		{line: "syrk special.csv"},
	},
	"syr2k": {
		{line: "syr2k A.mtx A2.mtx", there: true},
		{line: "syr2k A.mtx A2.mtx S.mtx --trans --alpha 0.5 --beta 2 --uplo upper --format td"},
	},
	"trmm": {
		{line: "trmm A.mtx B.mtx", there: true},
		{line: "trmm A.mtx A2.mtx --side right --uplo upper --trans --unit --alpha 0.1 --format mp:150"},
		{line: "trmm special.csv A.mtx"},
	},
	"trsm": {
		{line: "trsm A.mtx B.mtx"},
		{line: "trsm A.mtx A2.mtx --side right --uplo upper --trans --unit --alpha 0.1 --format mp:150"},
		{line: "trsm singular.csv A.mtx"},
	},
	"pow": {
		{line: "pow C.mtx 5"},
		{line: "pow A.mtx 0 --format dd"},
		{line: "pow special.csv 2", status: cli.ExitFailed},
		{line: "pow singular.csv 3 --format mp:200"},
	},
	"expm": {
		{line: "expm C.mtx"},
		{line: "expm special.csv", status: cli.ExitFailed},
		{line: "expm tall.mtx", status: cli.ExitMisuse},
	},
	"solve": {
		{line: "solve A.mtx B.mtx --format mp:106", there: true},
		{line: "solve A.mtx y.mtx --compare"},
		{line: "solve H.mtx b5.csv --format dd"},
		{line: "solve singular.csv B.mtx", status: cli.ExitFailed},
		{line: "solve special.csv B.mtx", status: cli.ExitFailed},
		{line: "solve A.mtx B.mtx --enclose --steps 2 --digits 9"},
		{line: "solve A.mtx B.mtx --all --format exact --x out/x.csv --null out/n.mtx"},
		{line: "solve A.mtx B.mtx --in exact", there: true},
		{line: "solve A.mtx y.mtx --enclose --radius-a radius.csv --radius-b radiusb.csv"},
	},
	"lstsq": {
		{line: "lstsq tall.mtx tallb.mtx"},
		{line: "lstsq tall.mtx tallb.mtx --intercept --p-values --confidence 95%"},
		{line: "lstsq tall.mtx tallb.mtx --solution", there: true},
		{line: "lstsq tall.mtx tallb.mtx --solution --weights weights.csv --format mp:150"},
		{line: "lstsq tall.mtx weights.csv --weights weights.csv --covariance"},
		{line: "lstsq wide.mtx b5.csv --solution --format dd"},
		{line: "lstsq A.mtx B.mtx --solution --format mp:106", there: true},
		{line: "lstsq dependent.csv B.mtx --solution"},
		{line: "lstsq dependent.csv B.mtx --solution --rcond 1e-10"},
		{line: "lstsq special.csv B.mtx --solution", status: cli.ExitFailed},
		{line: "lstsq tall.mtx B.mtx --solution", status: cli.ExitMisuse},
	},
	"polyfit": {
		{line: "polyfit weights.csv tallb.mtx --degree 1", status: cli.ExitMisuse},
		{line: "polyfit nodes.csv weights.csv --degree 2 --intercept --p-values --confidence 95%"},
		{line: "polyfit nodes.csv weights.csv --degree 1 --weights weights.csv --covariance --format dd"},
	},
	"roots": {
		{line: "roots x.csv"},
		{line: "roots nodes.csv --format mp:120"},
		{line: "roots A.mtx", status: cli.ExitMisuse},
	},
	"inv": {
		{line: "inv A.mtx --format mp:106", there: true},
		{line: "inv H.mtx --format qd"},
		{line: "inv singular.csv", status: cli.ExitFailed},
	},
	"det": {
		{line: "det A.mtx --format mp:106"},
		{line: "det A.mtx --log"},
		{line: "det singular.csv"},
		{line: "det huge.csv --format f32"},
	},
	"pinv": {
		{line: "pinv A.mtx --format mp:106", there: true},
		{line: "pinv dependent.csv"},
		{line: "pinv wide.mtx"},
		{line: "pinv H.mtx --rcond 1e-3 --format dd"},
		{line: "pinv special.csv", status: cli.ExitFailed},
	},
	"norm2":     {{line: "norm2 tall.mtx --format mp:106"}, {line: "norm2 special.csv", status: cli.ExitFailed}},
	"rank":      {{line: "rank A.mtx"}, {line: "rank dependent.csv"}, {line: "rank H.mtx --rcond 0.01"}},
	"cond":      {{line: "cond A.mtx --norm inf"}, {line: "cond H.mtx --format dd"}, {line: "cond singular.csv"}, {line: "cond wide.mtx --norm 2"}},
	"rref":      {{line: "rref wide.mtx"}, {line: "rref A.mtx --in exact --format exact"}},
	"charpoly":  {{line: "charpoly A.mtx"}, {line: "charpoly H.mtx --format exact"}},
	"minpoly":   {{line: "minpoly A.mtx"}, {line: "minpoly H.mtx --format exact"}},
	"nullspace": {{line: "nullspace wide.mtx --format dd"}, {line: "nullspace singular.csv"}, {line: "nullspace A.mtx"}, {line: "nullspace wide.mtx --rcond 1e-10"}},
	"chol": {
		{line: "chol S.mtx --format mp:106"},
		{line: "chol P.mtx --format mp:106", there: true},
		{line: "chol H.mtx"},
		{line: "chol indefinite.mtx", status: cli.ExitFailed},
		{line: "chol L.mtx --uplo lower --in f64", status: cli.ExitFailed},
	},
	"lu": {
		{line: "lu A2.mtx"},
		{line: "lu L.mtx --format mp:106", there: true},
		{line: "lu A.mtx --l out/L.mtx --u out/U.npy --p out/P.txt"},
		{line: "lu tall.mtx --out out/F.npz"},
		{line: "lu singular.csv", status: cli.ExitFailed},
	},
	"qr": {
		{line: "qr A.mtx --format mp:106"},
		{line: "qr A.mtx --pivoted --q out/Q.mtx --r out/R.npy --p out/P.txt --json"},
		{line: "qr tall.mtx --out out/F.npz"},
		{line: "qr dependent.csv", status: cli.ExitFailed},
	},
	"ldlt": {
		{line: "ldlt indefinite.mtx --format mp:106"},
		{line: "ldlt H.mtx --l out/L.mtx --d out/D.npy --p out/P.txt"},
		{line: "ldlt symmetric.csv", status: cli.ExitFailed},
		{line: "ldlt A.mtx --uplo upper"},
	},
	"eigh": {
		{line: "eigh indefinite.mtx --format mp:106"},
		{line: "eigh H.mtx --w out/w.txt --v out/V.npy"},
		{line: "eigh A.mtx --uplo upper --values-only --index 2-3 --plot out/s.svg"},
		{line: "eigh S.mtx --range 0,inf"},
		{line: "eigh symmetric.csv"},
		{line: "eigh A.mtx", status: cli.ExitFailed},
		{line: "eigh tall.mtx", status: cli.ExitMisuse},
	},
	"geigh": {
		{line: "geigh indefinite.mtx S.mtx --format mp:106"},
		{line: "geigh A.mtx S.mtx --uplo upper --values-only --index 2-3 --plot out/s.svg"},
		{line: "geigh indefinite.mtx S.mtx --range 0,inf --w out/w.txt --v out/V.npy"},
		{line: "geigh S.mtx indefinite.mtx", status: cli.ExitFailed},
		{line: "geigh S.mtx tall.mtx", status: cli.ExitMisuse},
	},
	"symfunc": {
		{line: "symfunc sqrt S.mtx"},
		{line: "symfunc abs A.mtx --uplo upper"},
		{line: "symfunc log indefinite.mtx", status: cli.ExitFailed},
	},
	"polar": {
		{line: "polar A.mtx --format mp:106"},
		{line: "polar tall.mtx --u out/U.npy --h out/H.txt"},
	},
	"svd": {
		{line: "svd A.mtx --format mp:106"},
		{line: "svd tall.mtx --full --u out/U.npy --s out/s.txt --vt out/Vt.mtx"},
		{line: "svd singular.csv --values-only --plot out/s.svg"},
		{line: "svd A.mtx --largest 2"},
		{line: "svd A.mtx --largest 1000", status: cli.ExitMisuse},
	},
	"verify": {
		{line: "verify gemm A.mtx B.mtx AB.mtx"},
		{line: "verify solve A.mtx AB.mtx B.mtx", status: cli.ExitFailed},
		{line: "verify eigh A.mtx x.mtx A2.mtx --uplo lower", status: cli.ExitFailed},
	},
	"map": {
		{line: "map pow A.mtx 3", on: oneGPU},
		{line: "map exp A.mtx", on: floats},
		{line: "map atan2 A.mtx A2.mtx --format td", on: floats},
		{line: "map fma A.mtx A2.mtx 0.1 --format qd", on: floats},
		{line: "map div A.mtx A2.mtx --method rns-elementwise --moduli 16 --precision 100", on: residues},
		{line: "map add A.mtx A2.mtx --method rns-elementwise --blocks 3 --block-size 2", on: residues, status: cli.ExitMisuse},
	},
	"solve-gj": {
		{line: "solve-gj A.mtx B.mtx", on: floats},
		{line: "solve-gj A.mtx B.mtx --format qd --updates exact --block 32", on: floats},
		{line: "solve-gj A.mtx B.mtx --format td --pivoting zero", on: floats},
		{line: "solve-gj A.mtx B.mtx --format f64 --method expansion-linear", on: floats},
		{line: "solve-gj singular.csv B.mtx", on: floats, status: cli.ExitFailed},
	},
	"cg": {
		{line: "cg spd.mtx b5.csv", on: residues},
		{line: "cg spd.mtx b5.csv b5.csv --preconditioner jacobi --tolerance 1e-20 --max-iterations 40 --blocks 3 --block-size 4 --moduli 16 --precision 100", on: residues},
		{line: "cg spd.mtx b5.csv --method rns-jadv --row-threads 4", on: residues},
		{line: "cg spd.mtx b5.csv --max-iterations 1", on: residues, status: cli.ExitFailed},
	},
}

// measuring are the commands with --device that print times: TestBenchOnDevice tests bench, and the
// tests of package rns the measurements of tune.
var measuring = []string{"bench", "tune"}

// variants are the flags that the commands share, some at a time, for the first case of every
// command, except those that it refuses on the CPU.
var variants = []string{
	"",
	"--json --in mp:200 --threads 1 --quiet",
	"--out out/Z --stats=json --digits hex --memory 100M --check-hardware",
	"--to csv --stats --format mp:170 --method residue",
}

// refusable are the variants' flags that some commands refuse.
var refusable = []string{" --check-hardware", " --method residue", "--to csv ", " --format mp:170"}

// beforeDevices are the shared flags that have their effect before a device has work, and --grid,
// which is for several processes.
var beforeDevices = []string{"columns", "header", "skip", "delimiter", "decimal-comma", "comment", "device", "help", "grid"}

// TestCommandsCovered checks that every command with --device has cases with all its flags, or is
// in measuring.
func TestCommandsCovered(t *testing.T) {
	parser, err := kong.New(new(grammar), kong.Vars{"version": ""}, kong.ExplicitGroups(flagGroups))
	if err != nil {
		t.Fatal(err)
	}
	left := maps.Clone(deviceCases)
	given := func(cases []deviceCase, flag string) bool {
		return slices.ContainsFunc(cases, func(c deviceCase) bool {
			return slices.Contains(strings.Fields(strings.ReplaceAll(c.line, "=", " ")), "--"+flag)
		})
	}
	var shared []deviceCase
	for _, v := range variants {
		shared = append(shared, deviceCase{line: v})
	}
	for _, command := range parser.Model.Leaves(true) {
		name := strings.TrimPrefix(command.Path(), parser.Model.Name+" ")
		name, _, _ = strings.Cut(name, " <")
		var flags []string
		for _, f := range command.Flags {
			flags = append(flags, f.Name)
		}
		if !slices.Contains(flags, "device") || slices.Contains(measuring, name) {
			continue
		}
		cases := left[name]
		delete(left, name)
		if len(cases) == 0 {
			t.Errorf("%s has --device and no case", name)
			continue
		}
		for _, f := range flags {
			if !slices.Contains(beforeDevices, f) && !given(cases, f) && !given(shared, f) {
				t.Errorf("%s: no case has --%s", name, f)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("cases of commands that are not there, or have no --device: %v", slices.Sorted(maps.Keys(left)))
	}
}

// TestCommandsOnDevice runs every command with --device cuda:0 and --device cuda:0,1, on fake GPUs
// whose kernels are written in Go and on the machine's GPUs. Exit status, standard output, messages
// and files are the CPU's, byte for byte, except statistics about how a routine ran.
func TestCommandsOnDevice(t *testing.T) {
	testlength.SkipRace(t, "kernels of fake GPUs are Go of the tests")
	t.Run("reference", func(t *testing.T) {
		devs, _ := gputest.Linked(t, 2)
		defer mem.Substitute(devs...)()
		compareCommands(t, 6, []string{"cuda:0", "cuda:0,1"}, true)
	})
	t.Run("device", func(t *testing.T) {
		gputest.Machine(t)
		compareCommands(t, 40, []string{"cuda:0"}, false)
	})
	t.Run("devices", func(t *testing.T) {
		gputest.Machines(t)
		compareCommands(t, 40, []string{"cuda:0,1"}, false)
	})
}

// compareCommands runs the cases with matrices of order n. Fake GPUs have no kernels of packages
// rns, expansion and ozaki: cases with these must reach the request for such a kernel.
func compareCommands(t *testing.T, n int, devices []string, fake bool) {
	t.Chdir(t.TempDir())
	deviceOperands(t, n)
	for n, name := range slices.Sorted(maps.Keys(deviceCases)) {
		for i, c := range deviceCases[name] {
			with, at := variants, devices
			if fake && !testlength.Long() { // a third of the flags, and devices in turn
				with = []string{variants[0], variants[1+n%(len(variants)-1)]}
				if i > 0 {
					at = devices[i%len(devices):][:1]
				}
			}
			if i > 0 || fake && (c.on == residues || c.on == floats || testing.Short()) {
				with = variants[:1]
			}
			for k, v := range with {
				on := at
				if fake && k > 0 { // which are slow
					on = devices[:1]
				}
				compareCase(t, c, v, on, fake)
			}
		}
	}
}

// missingKernel is the error about a kernel that fake GPUs do not have: all steps before it worked.
var missingKernel = regexp.MustCompile(`cuda:0: kernel (rns|expansion|ozaki)\w+: cuModuleGetFunction: `)

// compareCase runs a case with a variant's flags.
func compareCase(t *testing.T, c deviceCase, variant string, devices []string, fake bool) {
	t.Helper()
	line := c.line + " " + variant
	if c.there && variant == "" {
		line += "--stats=json"
	}
	want := runDeviceCase(t, line, c.stdin, "cpu")
	for _, flag := range refusable {
		if want.status == cli.ExitMisuse && strings.Contains(line, flag) {
			line = strings.ReplaceAll(line, flag, "")
			want = runDeviceCase(t, line, c.stdin, "cpu")
		}
	}
	if variant == "" && want.status != c.status || want.status == cli.ExitMisuse && c.status != cli.ExitMisuse {
		t.Errorf("%s: exit status %d, want %d: %s", line, want.status, c.status, want.said)
	}
	for _, device := range devices {
		got := runDeviceCase(t, line, c.stdin, device)
		if c.on == none || (c.on == floats || c.on == oneGPU) && strings.Contains(device, ",") {
			if got.status != cli.ExitMisuse {
				t.Errorf("%s on %s: exit status %d, want %d: %s", line, device, got.status, cli.ExitMisuse, got.said)
			}
			continue
		}
		if fake && (c.on == residues || c.on == floats) && want.status != cli.ExitMisuse {
			if !missingKernel.MatchString(got.said) {
				t.Errorf("%s on %s: ends before it asks for a kernel: exit status %d, %s", line, device, got.status, got.said)
			}
			continue
		}
		if d := got.differs(want); d != "" {
			t.Errorf("%s on %s: %s", line, device, d)
		}
		if c.there && variant == "" && !strings.Contains(got.said, `"device": "cuda:`) {
			t.Errorf("%s on %s: ran elsewhere: %s", line, device, got.said)
		}
	}
}

// outcome is the result of a command line.
type outcome struct {
	status         int
	stdout, stderr string // without the parts that withoutStatistics removes
	said           string // stderr as it was
	files          map[string]string
}

// runDeviceCase runs a command line on a device.
func runDeviceCase(t *testing.T, line, stdin, device string) outcome {
	t.Helper()
	var in []byte
	if stdin != "" {
		var err error
		if in, err = os.ReadFile(stdin); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	z := outcome{files: map[string]string{}}
	z.status = run(append(strings.Fields(line), "--device", device), bytes.NewReader(in), &stdout, &stderr)
	z.stdout, z.stderr, z.said = withoutStatistics(stdout.String()), withoutStatistics(stderr.String()), stderr.String()
	left, err := os.ReadDir("out")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		text, err := os.ReadFile(filepath.Join("out", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		z.files[f.Name()] = string(text)
	}
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	return z
}

// differs says how an outcome differs from the expected one, or nothing.
func (z outcome) differs(want outcome) string {
	switch {
	case z.status != want.status:
		return fmt.Sprintf("exit status %d, want %d: %s", z.status, want.status, z.stderr)
	case z.stdout != want.stdout:
		return fmt.Sprintf("prints\n%s, want\n%s", z.stdout, want.stdout)
	case z.stderr != want.stderr:
		return fmt.Sprintf("says\n%s, want\n%s", z.stderr, want.stderr)
	case !maps.Equal(z.files, want.files):
		return fmt.Sprintf("writes\n%q, want\n%q", z.files, want.files)
	}
	return ""
}

// ofResults are the statistics about results, which do not depend on the device. The others say how
// and where a routine ran, and how long.
var ofResults = []string{"overflow", "underflow", "condition", "rns", "ozaki", "residual"}

// howRows are the rows of the others in a table of statistics.
var howRows = regexp.MustCompile(`(?m)^(device|method|kernel|threads|moduli|integer matrix products|integer widths|blocks|entries in the exact pass|` +
	`entries of products checked|time: .*|condition number of the scaled matrix|float64 decompositions|bound of \|I - R A\||steps of refinement|bits worked with|` +
	`decompositions modulo primes|columns that solve exactly|zeros and ties proved|p-adic digits|entries not decided)(  .*)?\n`)

// unchecked are warnings about how a routine ran.
var unchecked = regexp.MustCompile(`(?m)^halfulp: warning: --check-hardware: (nothing of this ran as products of matrices by residues, so nothing was compared|` +
	`\d+ of \d+ entr(y|ies) of products come from multi-limb arithmetic, which nothing compares)\n`)

var blanks = regexp.MustCompile(` +`)

// withoutStatistics removes the statistics that depend on the device from a command's output.
func withoutStatistics(text string) string {
	text = unchecked.ReplaceAllString(text, "")
	// warnings come first
	if at := strings.Index(text, "{\n"); at == 0 || at > 0 && text[at-1] == '\n' {
		var object map[string]any
		if json.Unmarshal([]byte(text[at:]), &object) == nil {
			clean, err := json.MarshalIndent(resultsOnly(object, false), "", " ")
			if err == nil {
				return text[:at] + string(clean)
			}
		}
	}
	if short := howRows.ReplaceAllString(text, ""); short != text {
		return blanks.ReplaceAllString(short, " ") // columns were as wide as the rows asked for
	}
	return text
}

// resultsOnly removes times from an object, and all statistics that are not about results.
func resultsOnly(x map[string]any, statistics bool) map[string]any {
	z := map[string]any{}
	for name, v := range x {
		inner, isObject := v.(map[string]any)
		switch {
		case strings.HasSuffix(name, "_ns"):
		case isObject && (name == "stats" || name == "statistics") && inner["device"] == nil:
			// of several results
			all := map[string]any{}
			for k, of := range inner {
				all[k] = resultsOnly(of.(map[string]any), true)
			}
			z[name] = all
		case isObject && name == "stats":
			z[name] = resultsOnly(inner, true)
		case !statistics || slices.Contains(ofResults, name):
			z[name] = v
		}
	}
	return z
}

// deviceOperands writes the files of deviceCases, with matrices of order n, into the current
// directory.
func deviceOperands(t *testing.T, n int) {
	t.Helper()
	entries := func(rows, cols int, entry func(i, j int) any) string {
		var b strings.Builder
		for i := range rows {
			for j := range cols {
				if j > 0 {
					b.WriteByte(',')
				}
				fmt.Fprint(&b, entry(i, j))
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	mixed := func(i, j int) int { return (7*i*i+5*i*j+3*j+1)%23 - 11 }
	var sparse, definite strings.Builder
	fmt.Fprintf(&sparse, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, 2*n)
	for i := range n {
		fmt.Fprintf(&sparse, "%d %d 1.%d\n%d %d -%d\n", i+1, i+1, i+1, i+1, (i+2)%n+1, i+3)
	}
	fmt.Fprintf(&definite, "%%%%MatrixMarket matrix coordinate real symmetric\n5 5 9\n")
	for i := range 5 {
		fmt.Fprintf(&definite, "%d %d %d\n", i+1, i+1, i+4)
		if i > 0 {
			fmt.Fprintf(&definite, "%d %d -1\n", i+1, i)
		}
	}
	for name, text := range map[string]string{
		"sparse.mtx": sparse.String(), "spd.mtx": definite.String(),
		"x.csv":         entries(n, 1, func(i, _ int) any { return fmt.Sprintf("%d.%d", mixed(i, 2), i+1) }),
		"b.csv":         entries(n+1, 1, func(i, _ int) any { return i }),
		"b5.csv":        entries(5, 1, func(i, _ int) any { return 3 - 2*i }),
		"nodes.csv":     entries(n+3, 1, func(i, _ int) any { return fmt.Sprintf("%d.25", i*i-3*i) }),
		"weights.csv":   entries(n+3, 1, func(i, _ int) any { return 0.5 * float64(i) }),
		"radius.csv":    entries(n, n, func(i, j int) any { return "1e-30" }),
		"radiusb.csv":   entries(n, 1, func(i, j int) any { return "1e-20" }),
		"symmetric.csv": entries(n, n, func(i, j int) any { return (i + 1) * (j + 1) }),
		"dependent.csv": entries(n, 3, func(i, j int) any { return []int{mixed(i, 0), i*i + 1, mixed(i, 0) + i*i + 1}[j] }),
		"singular.csv": entries(n, n, func(i, j int) any {
			if i == n-1 {
				return mixed(0, j) - 2*mixed(1, j)
			}
			return mixed(i, j)
		}),
		"special.csv": entries(n, n, func(i, j int) any {
			switch {
			case i == 1 && j == 2:
				return "inf"
			case i == 2 && j == 1:
				return "nan"
			}
			return mixed(i, j)
		}),
		"huge.csv": entries(n, n, func(i, j int) any { return fmt.Sprintf("%d.%de36", 200+mixed(i, j), j) }),
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		fmt.Sprintf("gen random %d %d --format mp:106 --seed 10 --out C.mtx", n/2, n/2),
		"gen hilbert 5 --format mp:106 --out H.mtx",
		fmt.Sprintf("gen random %d %d --format mp:106 --out A.mtx", n, n),
		fmt.Sprintf("gen random %d %d --format mp:106 --spread 20 --seed 2 --out A2.mtx", n, n),
		fmt.Sprintf("gen random %d 2 --format mp:106 --seed 3 --out B.mtx", n),
		fmt.Sprintf("gen random %d 1 --seed 4 --out x.mtx", n),
		fmt.Sprintf("gen random %d 1 --seed 5 --spread 60 --out y.mtx", n),
		fmt.Sprintf("gen random %d %d --seed 6 --out tall.mtx", n+3, n-2),
		fmt.Sprintf("gen random %d 2 --seed 7 --out tallb.mtx", n+3),
		fmt.Sprintf("gen random 5 %d --seed 8 --out wide.mtx", n+2),
		fmt.Sprintf("gen random %d %d --format mp:106 --seed 9 --out L.mtx", max(n, 24), max(n, 24)),
		"syrk A.mtx --format mp:212 --out S.mtx",
		"syrk L.mtx --format mp:212 --out P.mtx",
		"syr2k A.mtx A2.mtx --format mp:106 --out indefinite.mtx",
		"gemm A.mtx B.mtx --out AB.mtx",
		"lu A.mtx --out F.npz",
	} {
		var stderr strings.Builder
		if status := run(strings.Fields(line), nil, &stderr, &stderr); status != cli.ExitOK {
			t.Fatalf("%s: exit status %d, %s", line, status, stderr.String())
		}
	}
}
