package halfulp

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"
)

// defaultMemory is half of the machine's memory where the system tells it
// (Linux), else 4 GiB.
var defaultMemory = sync.OnceValue(func() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 4 << 30
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kib int64
		if strings.HasPrefix(s.Text(), "MemTotal:") {
			if _, err := fmt.Sscanf(s.Text(), "MemTotal: %d kB", &kib); err == nil {
				return kib << 9
			}
		}
	}
	return 4 << 30
})
