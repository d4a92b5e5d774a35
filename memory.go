package halfulp

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"
	"sync"
)

// defaultMemory is half of the memory that this process may have where the system tells it (Linux),
// else 4 GiB.
var defaultMemory = sync.OnceValue(func() int64 { return max(availableMemory(os.DirFS("/"))/2, 1) })

// availableMemory returns the least of the machine's memory and the limits of this process, which
// the files of Linux tell: those of its control groups, of its data, and of its address space
// beyond what it has of that already.
func availableMemory(files fs.FS) int64 {
	least := int64(math.MaxInt64)
	smaller := func(format, text string, scale, less int64) {
		var n int64
		if _, err := fmt.Sscanf(text, format, &n); err == nil && n <= math.MaxInt64/scale {
			least = min(least, max(n*scale-less, 0))
		}
	}
	each := func(name string, f func(line string)) {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return
		}
		for line := range bytes.Lines(text) {
			f(strings.Join(strings.Fields(string(line)), " "))
		}
	}
	each("proc/meminfo", func(line string) { smaller("MemTotal: %d kB", line, 1<<10, 0) })
	if least == math.MaxInt64 {
		least = 8 << 30
	}
	var size int64
	each("proc/self/statm", func(line string) { _, _ = fmt.Sscan(line, &size) })
	each("proc/self/limits", func(line string) {
		smaller("Max address space %d", line, 1, size*int64(os.Getpagesize()))
		smaller("Max data size %d", line, 1, 0)
	})
	each("proc/self/cgroup", func(line string) {
		_, of, _ := strings.Cut(line, ":")
		controllers, group, _ := strings.Cut(of, ":")
		root, name := "sys/fs/cgroup", "memory.max"
		switch {
		case strings.Contains(controllers, "memory"): // the first version
			root, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case controllers != "":
			return
		}
		for {
			each(path.Join(root, group, name), func(line string) { smaller("%d", line, 1, 0) })
			if group == "/" || group == "." || group == "" {
				return
			}
			group = path.Dir(group)
		}
	})
	return least
}
