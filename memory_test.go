package halfulp

import (
	"os"
	"testing"
	"testing/fstest"
)

// TestAvailableMemory finds the least limit in what Linux tells.
func TestAvailableMemory(t *testing.T) {
	const meminfo = "MemTotal:       65536000 kB\nMemFree:         1000 kB\n"
	const total = 65536000 << 10
	page := int64(os.Getpagesize())
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing told", nil, 8 << 30},
		{"a machine", map[string]string{"proc/meminfo": meminfo}, total},
		{"no limits", map[string]string{"proc/meminfo": meminfo, "proc/self/limits": "Limit    Soft Limit\nMax data size   unlimited  unlimited  bytes\nMax address space  unlimited  unlimited  bytes\n",
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, total},
		{"address space", map[string]string{"proc/meminfo": meminfo, "proc/self/limits": "Max data size   unlimited  unlimited  bytes\nMax address space  4096000000  unlimited  bytes\n",
			"proc/self/statm": "1000 3 2 1 0 1 0\n"}, 4096000000 - 1000*page},
		{"more than all", map[string]string{"proc/meminfo": meminfo, "proc/self/limits": "Max address space  4096  unlimited  bytes\n", "proc/self/statm": "1000 3 2 1 0 1 0\n"}, 0},
		{"data", map[string]string{"proc/meminfo": meminfo, "proc/self/limits": "Max data size   1000000000  unlimited  bytes\nMax address space  4096000000  unlimited  bytes\n"}, 1e9},
		{"a control group", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "3000000000\n"}, 3e9},
		{"a container", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5000000000\n"}, 5e9},
		{"the first version", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/a\n",
			"sys/fs/cgroup/a/memory.max": "1\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "7000000000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 7e9},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := availableMemory(files); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if n := availableMemory(os.DirFS("/")); n <= 0 {
		t.Errorf("%d bytes here", n)
	}
}
