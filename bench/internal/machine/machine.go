// Package machine describes the machine that a benchmark runs on.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Machine is what a reader needs to compare figures with their own.
type Machine struct {
	System   string   `json:"system"`
	CPU      string   `json:"cpu"`
	Cores    int      `json:"cores"`    // that this process may use
	Features []string `json:"features"` // instruction sets that decide speed here
	Governor string   `json:"governor"` // of the clock frequency
}

// Describe reads what Linux tells; elsewhere most of it is "unknown".
func Describe() Machine {
	m := Machine{
		System:   runtime.GOOS + "/" + runtime.GOARCH,
		CPU:      "unknown",
		Cores:    runtime.NumCPU(),
		Governor: "unknown",
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.readCPUInfo(string(text))
	}
	if text, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); err == nil {
		m.Governor = strings.TrimSpace(string(text))
	}
	return m
}

// features are the flags worth recording, as /proc/cpuinfo spells them on amd64 and arm64.
var features = []string{
	"avx2", "fma", "bmi2", "adx", "avx512f", "avx512bw", "avx512ifma", "avx512_vnni", "avx_vnni", "amx_int8",
	"asimd", "asimddp", "sve", "i8mm",
}

// readCPUInfo takes the first processor's entry.
func (m *Machine) readCPUInfo(text string) {
	first, _, _ := strings.Cut(text, "\n\n")
	entry := map[string]string{}
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		entry[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	if name := entry["model name"]; name != "" {
		m.CPU = name
		if entry["cpu family"] != "" {
			m.CPU += ", family " + entry["cpu family"] + " model " + entry["model"]
		}
	}
	flags := strings.Fields(entry["flags"] + " " + entry["Features"])
	for _, f := range features {
		if slices.Contains(flags, f) {
			m.Features = append(m.Features, f)
		}
	}
}

// OpenBLAS returns what openblas_get_config says, and warns where OpenBLAS has its oldest kernels,
// as it has for processors newer than itself.
func OpenBLAS(config string) string {
	if slices.Contains(strings.Fields(config), "Prescott") && slices.Contains(Describe().Features, "avx2") {
		warn()
	}
	return config
}

var warn = sync.OnceFunc(func() {
	fmt.Fprintln(os.Stderr, "OpenBLAS does not know this processor and is many times slower than it could be: set OPENBLAS_CORETYPE to SkylakeX where there is AVX-512, else to Haswell")
})
