package cli

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version is the module's version that the build recorded, or the commit.
func Version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	v := b.Main.Version
	if v == "" {
		v = "(devel)"
	}
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" && v == "(devel)" {
			v += " " + s.Value
		}
	}
	return v
}

// CPUModel is the processor's name where the system tells it.
func CPUModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
