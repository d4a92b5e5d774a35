package memlimit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ErrExceeded is wrapped by errors about work that needs more memory than it may use.
var ErrExceeded = errors.New("not enough memory")

// A Limit is an amount of memory and its origin.
type Limit struct {
	Bytes int64
	// Source names what sets the limit, such as "the machine's memory".
	Source string
}

// unknown is used if the system reports no limit.
var unknown = Limit{Bytes: 8 << 30, Source: "assumed, as the system names none"}

// Available returns the smallest of the machine's memory and the limits that the system sets for
// this process. It queries the system once. Systems other than Linux report no limit.
var Available = sync.OnceValue(func() Limit { return available(os.DirFS("/")) })

// Default returns half of [Available] in bytes, the default limit of routines.
func Default() int64 { return max(Available().Bytes/2, 1) }

// available reads the limits from the files of Linux: the machine's memory, the limits of the
// control groups, of data and of the address space. It subtracts the address space in use.
func available(files fs.FS) Limit {
	least := Limit{Bytes: math.MaxInt64}
	limit := func(number string, scale, used int64, source string) {
		n, err := strconv.ParseInt(number, 10, 64)
		if err == nil && n >= 0 && n <= math.MaxInt64/scale && max(n*scale-used, 0) < least.Bytes {
			least = Limit{max(n*scale-used, 0), source}
		}
	}
	each(files, "proc/meminfo", func(line string) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			limit(f[1], 1<<10, 0, "the machine's memory")
		}
	})
	if least.Bytes == math.MaxInt64 {
		least = unknown
	}
	var pages int64
	each(files, "proc/self/statm", func(line string) { _, _ = fmt.Sscan(line, &pages) })
	each(files, "proc/self/limits", func(line string) {
		first := func(of string) string {
			if f := strings.Fields(of); len(f) > 0 {
				return f[0]
			}
			return ""
		}
		if of, ok := strings.CutPrefix(line, "Max address space"); ok {
			limit(first(of), 1, pages*int64(os.Getpagesize()), "what the limit of the address space (ulimit -v) leaves")
		}
		if of, ok := strings.CutPrefix(line, "Max data size"); ok {
			limit(first(of), 1, 0, "the limit of data (ulimit -d)")
		}
	})
	for _, g := range groups(files) {
		each(files, path.Join(g.folder, g.file), func(line string) {
			limit(strings.TrimSpace(line), 1, 0, "the limit of the control group ("+path.Join("/", g.folder, g.file)+")")
		})
	}
	return least
}

// each calls f for the lines of a file, if there is one.
func each(files fs.FS, name string, f func(line string)) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return
	}
	for line := range bytes.Lines(text) {
		f(string(line))
	}
}

// A group is the folder of a control group, relative to the root, and the name of the file of its
// limit of memory.
type group struct{ folder, file string }

// groups returns the control groups of memory that this process belongs to, each followed by its
// ancestors. A container may see only a part of the tree, or see it at another path. mountinfo
// lists the part and where it is mounted. If mountinfo has no tree, the usual paths are used.
func groups(files fs.FS) (list []group) {
	type mount struct{ root, point string }
	var first, second []mount
	each(files, "proc/self/mountinfo", func(line string) {
		f := strings.Fields(line)
		separator := slices.Index(f, "-")
		if separator < 6 || len(f) < separator+4 {
			return
		}
		m := mount{unescape(f[3]), unescape(f[4])}
		switch options := strings.Split(f[separator+3], ","); {
		case f[separator+1] == "cgroup2":
			second = append(second, m)
		case f[separator+1] == "cgroup" && slices.Contains(options, "memory"):
			first = append(first, m)
		}
	})
	if len(first) == 0 {
		first = []mount{{"/", "/sys/fs/cgroup/memory"}}
	}
	if len(second) == 0 {
		second = []mount{{"/", "/sys/fs/cgroup"}}
	}
	each(files, "proc/self/cgroup", func(line string) {
		part := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(part) != 3 || !strings.HasPrefix(part[2], "/") {
			return
		}
		mounts, file := second, "memory.max"
		if part[1] != "" {
			if !slices.Contains(strings.Split(part[1], ","), "memory") {
				return
			}
			mounts, file = first, "memory.limit_in_bytes"
		}
		for _, m := range mounts {
			// A group outside the mounted part has no folder, but the root of the part may be its
			// ancestor under another name.
			below, ok := strings.CutPrefix(path.Clean(part[2])+"/", strings.TrimSuffix(m.root, "/")+"/")
			if !ok {
				below = part[2]
			}
			below = path.Join("/", below)
			for ; ; below = path.Dir(below) {
				list = append(list, group{strings.TrimPrefix(path.Join("/", m.point, below), "/"), file})
				if below == "/" {
					break
				}
			}
		}
	})
	return list
}

// unescape returns a name in mountinfo, where three octal digits after a backslash are a byte.
func unescape(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' && i+3 < len(name) {
			if c, err := strconv.ParseUint(name[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
