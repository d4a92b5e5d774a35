//go:build !purego

package isa

import (
	"syscall"
	"unsafe"
)

// Requests of arch_prctl, and the feature of the state of the tiles, in XCR0 and there.
const (
	archGetXCompPerm = 0x1022
	archReqXCompPerm = 0x1023
	tileData         = 18
)

// permitTiles asks the system to let all threads of this process use tiles, which it refuses unless
// it saves them, with bits 17 and 18 of XCR0 set. Without its leave the first instruction that
// touches a tile faults.
func permitTiles() bool {
	if _, _, err := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, archReqXCompPerm, tileData, 0); err != 0 {
		return false
	}
	var permitted uint64
	_, _, err := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, archGetXCompPerm, uintptr(unsafe.Pointer(&permitted)), 0)
	return err == 0 && permitted>>tileData&1 != 0
}
