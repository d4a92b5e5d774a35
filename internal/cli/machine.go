package cli

import "runtime/debug"

// Version returns the module's version that the build recorded, or the commit.
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
