//go:build (linux || windows) && (amd64 || arm64)

package cublas

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// do makes a call. Pointers converted to uintptr in its argument list stay valid until it
// returns.
//
//go:uintptrescapes
func (l *library) do(name string, f uintptr, args ...uintptr) error {
	r, _, _ := purego.SyscallN(f, args...)
	if status := int(int32(r)); status != 0 {
		return fmt.Errorf("%s: %w", l.name, &Error{name, status})
	}
	return nil
}

// load opens libraries, the newest release first, and those in the search path before others.
func load(yield func(*library, error) bool) {
	seen := map[uintptr]bool{}
	for _, name := range candidates() {
		file, err := open(name)
		if err != nil || seen[file] {
			continue
		}
		seen[file] = true
		l := &library{name: name}
		if err := l.lookup(func(symbol string) (uintptr, error) { return find(file, symbol) }); !yield(l, err) {
			return
		}
	}
}
