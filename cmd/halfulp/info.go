package main

import (
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/textio"
	"golang.org/x/sys/cpu"
)

type infoCmd struct {
	JSON bool `name:"json" help:"Write one JSON object."`
}

func (infoCmd) Help() string {
	return `Level is the set of instructions in use: amx, avx512, avx2 or portable on x86-64, neon or portable on arm64. The environment variable ` + isa.Env + ` lowers it:

  HALFULP_LEVEL=portable halfulp info

The kernels are listed best first; halfulp tune measures them.`
}

// machineInfo is the information that info shows.
type machineInfo struct {
	Version  string       `json:"version"`
	Go       string       `json:"go"`
	System   string       `json:"system"`
	CPU      string       `json:"cpu"`
	Threads  int          `json:"threads"`
	Memory   memoryInfo   `json:"memory"`
	Features []string     `json:"features"`
	Level    string       `json:"level"`
	Levels   []string     `json:"levels"`
	Kernels  []string     `json:"kernels"`
	Devices  []deviceInfo `json:"devices"`
	Formats  []namedText  `json:"formats"`
	Methods  []namedText  `json:"methods"`
}

// memoryInfo is the memory that commands use without --memory, in bytes, and the reason.
type memoryInfo struct {
	Default   int64  `json:"default"`
	Available int64  `json:"available"`
	Source    string `json:"source"` // the limit that determines Available
}

// deviceInfo is a processor or GPU. Where there is no GPU, an entry named cuda:N gives the reason.
type deviceInfo struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Text      string `json:"text"`

	Model             string `json:"model,omitempty"`
	Memory            uint64 `json:"memory,omitempty"` // bytes
	ComputeCapability string `json:"compute_capability,omitempty"`
	Driver            string `json:"driver,omitempty"` // newest CUDA version of the driver
}

type namedText struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (c *infoCmd) Run(env *cli.Environment) error {
	m := machine()
	if c.JSON {
		return writeJSON(env.Stdout, m)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(w, "%s\t%v\n", name, value) }
	row("version", m.Version)
	row("go", m.Go+", "+m.System)
	row("cpu", m.CPU+", "+textio.Count(m.Threads, "thread"))
	row("memory", fmt.Sprintf("%s by default, half of %s: %s", textio.Bytes(float64(m.Memory.Default)), textio.Bytes(float64(m.Memory.Available)), m.Memory.Source))
	row("features", orNone(strings.Join(m.Features, " ")))
	row("level", fmt.Sprintf("%s (available: %s)", m.Level, strings.Join(m.Levels, ", ")))
	row("kernels", strings.Join(m.Kernels, ", "))
	list := func(title string, entries []namedText) {
		for _, e := range entries {
			row(title, e.Name+"\t"+e.Text)
			title = ""
		}
	}
	w.Flush()
	var devices []namedText
	for _, d := range m.Devices {
		devices = append(devices, namedText{d.Name, d.Text})
	}
	list("devices", devices)
	list("formats", m.Formats)
	list("methods", m.Methods)
	return w.Flush()
}

func orNone(s string) string {
	if s == "" {
		return "none used"
	}
	return s
}

func machine() machineInfo {
	m := machineInfo{
		Version:  cli.Version(),
		Go:       runtime.Version(),
		System:   runtime.GOOS + "/" + runtime.GOARCH,
		CPU:      isa.Model(),
		Threads:  runtime.GOMAXPROCS(0),
		Memory:   memoryInfo{halfulp.DefaultMemoryLimit(), memlimit.Available().Bytes, memlimit.Available().Source},
		Features: cpuFeatures(),
		Level:    isa.Level().String(),
		Devices:  append([]deviceInfo{{Name: cpuDevice, Available: true, Text: "available"}}, gpus()...),
		Formats: []namedText{
			{"f32", "IEEE 754 binary32, 24 significant bits"},
			{"f64", "IEEE 754 binary64, 53 significant bits"},
			{"dd", "unevaluated sum of 2 doubles, 106 significant bits"},
			{"td", "unevaluated sum of 3 doubles, 159 significant bits"},
			{"qd", "unevaluated sum of 4 doubles, 212 significant bits"},
			{"mp:P", fmt.Sprintf("P significant bits, %d <= P <= %d, 32-bit exponent", halfulp.MinPrec, halfulp.MaxPrec)},
		},
		Methods: []namedText{
			{"auto", "the fastest of the others, by measured thresholds"},
			{"residue", "products modulo small moduli on the kernels above"},
			{"direct", "multi-limb arithmetic into exact accumulators"},
		},
	}
	for _, r := range rnsMethods {
		m.Methods = append(m.Methods, namedText{r.name, strings.Join(r.commands, ", ") + ", RNS floating point, not correctly rounded: " + r.text})
	}
	const floats = "gemm, float32 arithmetic, not correctly rounded: "
	m.Methods = append(m.Methods,
		namedText{"ozaki:K", floats + "K (K + 1) / 2 products of K slices"},
		namedText{ozakiAuto, floats + "the least K that meets a tolerance"},
		namedText{ozakiLiteral + ":K", floats + "the same with the paper's slices to the letter"},
		namedText{doubleFloat, floats + "numbers of two words"},
		namedText{string(expansion.Method), "dot, gemv, gemm, dd, td or qd arithmetic, not correctly rounded"},
		namedText{string(expansion.SquareBlocks), "gemm, solve-gj, the same and f64 by a paper's blocks of 8 x 8 threads"},
		namedText{string(expansion.LinearBlocks), "solve-gj, the same and f64 by a paper's blocks of 128 threads"})
	for _, l := range isa.Levels() {
		m.Levels = append(m.Levels, l.String())
	}
	if k := modgemm.BestBytes(); k != nil {
		m.Kernels = append(m.Kernels, k.Name)
	}
	for _, k := range modgemm.Kernels() {
		m.Kernels = append(m.Kernels, k.Name)
	}
	return m
}

// gpus lists the NVIDIA GPUs.
func gpus() []deviceInfo {
	found, err := halfulp.GPUs()
	if err != nil {
		return []deviceInfo{{Name: "cuda:N", Text: "not available: " + strings.TrimPrefix(err.Error(), halfulp.ErrDevice.Error()+": ")}}
	}
	var list []deviceInfo
	for _, g := range found {
		list = append(list, deviceInfo{
			Name:      string(g.Device),
			Available: true,
			Text:      fmt.Sprintf("%s, %.1f GiB, %s, driver for %s", g.Model, float64(g.Memory)/(1<<30), g.Architecture, g.Driver),

			Model:             g.Model,
			Memory:            g.Memory,
			ComputeCapability: strings.TrimPrefix(g.Architecture, "compute capability "),
			Driver:            strings.TrimPrefix(g.Driver, "CUDA "),
		})
	}
	return list
}

// cpuFeatures lists the instruction sets of the processor that the kernels look for.
func cpuFeatures() []string {
	var names []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx2", cpu.X86.HasAVX2},
		{"fma", cpu.X86.HasFMA},
		{"bmi2", cpu.X86.HasBMI2},
		{"adx", cpu.X86.HasADX},
		{"avx512f", cpu.X86.HasAVX512F},
		{"avx512bw", cpu.X86.HasAVX512BW},
		{"avx512dq", cpu.X86.HasAVX512DQ},
		{"avx512vl", cpu.X86.HasAVX512VL},
		{"avx512ifma", cpu.X86.HasAVX512IFMA},
		{"avx512vbmi2", cpu.X86.HasAVX512VBMI2},
		{"avx512vnni", cpu.X86.HasAVX512VNNI},
		{"amx-tile", cpu.X86.HasAMXTile},
		{"amx-int8", cpu.X86.HasAMXInt8},
		{"asimd", cpu.ARM64.HasASIMD},
	} {
		if f.has {
			names = append(names, f.name)
		}
	}
	return names
}
