package memlimit

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestAvailable finds the least limit among the files of Linux.
func TestAvailable(t *testing.T) {
	const (
		meminfo = "MemTotal:       65536000 kB\nMemFree:         1000 kB\n"
		total   = 65536000 << 10
		v2      = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1      = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:3 - cgroup cgroup rw,memory\n" +
			"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
	)
	page := int64(os.Getpagesize())
	type files = map[string]string
	for _, c := range []struct {
		name   string
		files  files
		want   int64
		source string // a part of it
	}{
		{"nothing told", files{}, 8 << 30, "assumed"},
		{"a machine", files{"proc/meminfo": meminfo}, total, "machine"},
		{"broken memory", files{"proc/meminfo": "MemTotal: many kB\nMemTotal:\nMemTotal: 12kB\nMemTotal: -1 kB\n\n"}, 8 << 30, "assumed"},
		{"no limits", files{"proc/meminfo": meminfo,
			"proc/self/limits": "Limit    Soft Limit\nMax data size   unlimited  unlimited  bytes\nMax address space  unlimited  unlimited  bytes\n",
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, total, "machine"},

		{"address space", files{"proc/meminfo": meminfo,
			"proc/self/limits": "Max data size   unlimited  unlimited  bytes\nMax address space  4096000000  unlimited  bytes\n",
			"proc/self/statm":  "1000 3 2 1 0 1 0\n"}, 4096000000 - 1000*page, "ulimit -v"},
		{"more than all", files{"proc/meminfo": meminfo,
			"proc/self/limits": "Max address space  4096  unlimited  bytes\n", "proc/self/statm": "1000 3 2 1 0 1 0\n"}, 0, "ulimit -v"},
		{"data", files{"proc/meminfo": meminfo,
			"proc/self/limits": "Max data size   1000000000  unlimited  bytes\nMax address space  4096000000  unlimited  bytes\n"}, 1e9, "ulimit -d"},
		{"broken limits", files{"proc/meminfo": meminfo,
			"proc/self/limits": "Max data size\nMax address space \nMax data size 12x 3 bytes\n\n", "proc/self/statm": "?\n"}, total, "machine"},

		{"a group", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "4000000000\n"}, 4e9, "(/sys/fs/cgroup/a/b/memory.max)"},
		{"its parent", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a/b/c\n",
			"sys/fs/cgroup/a/b/c/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.max": "3500000000\n", "sys/fs/cgroup/a/memory.max": "3000000000\n"}, 3e9, "cgroup/a/memory.max"},
		{"itself below its parent", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "2000000000\n", "sys/fs/cgroup/a/memory.max": "3000000000\n"}, 2e9, "cgroup/a/b/memory.max"},
		{"a container", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v2, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "5000000000\n"}, 5e9, "(/sys/fs/cgroup/memory.max)"},
		{"a container in the host's tree", files{"proc/meminfo": meminfo, "proc/self/mountinfo": strings.Replace(v2, " / ", " /docker/f00 ", 1),
			"proc/self/cgroup": "0::/docker/f00/job\n", "sys/fs/cgroup/memory.max": "5000000000\n", "sys/fs/cgroup/job/memory.max": "900000000\n"}, 9e8, "cgroup/job/memory.max"},
		{"a container of the host's name alone", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v2,
			"proc/self/cgroup": "0::/docker/f00\n", "sys/fs/cgroup/memory.max": "5000000000\n"}, 5e9, "(/sys/fs/cgroup/memory.max)"},
		{"a name that begins like the root", files{"proc/meminfo": meminfo, "proc/self/mountinfo": strings.Replace(v2, " / ", " /docker/f ", 1),
			"proc/self/cgroup": "0::/docker/f00\n", "sys/fs/cgroup/00/memory.max": "1\n", "sys/fs/cgroup/memory.max": "5000000000\n"}, 5e9, "(/sys/fs/cgroup/memory.max)"},
		{"outside the namespace", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v2,
			"proc/self/cgroup": "0::/../other\n", "sys/fs/cgroup/memory.max": "5000000000\n"}, 5e9, "(/sys/fs/cgroup/memory.max)"},
		{"an unusual place", files{"proc/meminfo": meminfo, "proc/self/mountinfo": strings.Replace(v2, "/sys/fs/cgroup", `/mnt/all\040groups`, 1),
			"proc/self/cgroup": "0::/a\n", "mnt/all groups/a/memory.max": "6000000000\n", "sys/fs/cgroup/a/memory.max": "1\n"}, 6e9, "(/mnt/all groups/a/memory.max)"},
		{"no mounts told", files{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "6000000000\n"}, 6e9, "cgroup/a"},

		{"the first version", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v1, "proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/a\n",
			"sys/fs/cgroup/a/memory.max": "1\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "7000000000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 7e9, "memory/a/memory.limit_in_bytes"},
		{"the first version's parent", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v1, "proc/self/cgroup": "4:hugetlb,memory:/a/b\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "7100000000\n"}, 7.1e9, "memory/a/memory.limit"},
		{"both versions", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v1 + strings.Replace(v2, "/sys/fs/cgroup", "/sys/fs/cgroup/unified", 1),
			"proc/self/cgroup":                             "4:memory:/a\n0::/b\n",
			"sys/fs/cgroup/unified/b/memory.max":           "8000000000\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9000000000\n"}, 8e9, "unified/b"},
		{"memory in a name alone", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v1, "proc/self/cgroup": "4:name=memory:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1\n"}, total, "machine"},
		{"no more than all", files{"proc/meminfo": meminfo, "proc/self/mountinfo": v1, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "18446744073709551615\n"}, total, "machine"},

		{"broken lines", files{"proc/meminfo": meminfo, "proc/self/mountinfo": "\n1 2 3\n- - - -\n1 2 3 4 5 6 - cgroup2\n" + v2,
			"proc/self/cgroup": "\n0:\n::\n0::a\n:::\n0::/a", "sys/fs/cgroup/a/memory.max": "12 bytes\n-5\n\n0x10\n"}, total, "machine"},
		{"a file for a folder", files{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a": "1\n"}, total, "machine"},
	} {
		root := fstest.MapFS{}
		for name, text := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := available(root); got.Bytes != c.want || !strings.Contains(got.Source, c.source) {
			t.Errorf("%s: %+v, want %d by %q", c.name, got, c.want, c.source)
		}
	}
	if l := available(os.DirFS("/")); l.Bytes < 0 || l.Source == "" {
		t.Errorf("%+v here", l)
	}
	if Default() <= 0 {
		t.Errorf("the default is %d", Default())
	}
}
