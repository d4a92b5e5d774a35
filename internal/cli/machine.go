package cli

import "runtime/debug"

// release is the version of a release, which scripts/release has the linker set.
var release string

// Version returns the version of a release, or the module's version that the build recorded, or the
// commit.
func Version() string {
	if release != "" {
		return release
	}
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
