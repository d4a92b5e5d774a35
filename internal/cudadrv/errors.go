package cudadrv

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a CUresult.
type Code int32

// The codes that callers distinguish.
const (
	Success           Code = 0
	InvalidValue      Code = 1
	OutOfMemory       Code = 2
	NotInitialized    Code = 3
	NoDevice          Code = 100
	InvalidDevice     Code = 101
	InvalidContext    Code = 201
	InvalidPTX        Code = 218
	UnsupportedPTX    Code = 222
	NoBinaryForGPU    Code = 209
	NotFound          Code = 500
	IllegalAddress    Code = 700
	LaunchResources   Code = 701
	LaunchTimeout     Code = 702
	ContextDestroyed  Code = 709
	PeerEnabled       Code = 704
	LaunchFailed      Code = 719
	NotSupported      Code = 801
	SystemDriverWrong Code = 803
	Unknown           Code = 999
)

// Sticky reports whether c makes its context unusable: every later call in that context fails as
// well, and the contents of its memory are lost.
func (c Code) Sticky() bool {
	switch {
	case c == 214, // ECC error
		c == 220, // NVLink error
		c == 46,  // device unavailable
		c == 4,   // driver shutting down
		c == ContextDestroyed, c == IllegalAddress, c == LaunchTimeout, c == Unknown:
		return true
	// assertion, illegal instruction, ..., launch failed
	case 710 <= c && c <= 719 && c != 712 && c != 713:
		return true
	}
	return false
}

// Error is the failure of a call of the driver.
type Error struct {
	Call string // the driver's function
	Code Code
	Name string // of the code in cuda.h
	Text string // the driver's description
	Log  string // of the PTX compiler, if it ran
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%s, %d)", e.Call, e.Text, e.Name, e.Code)
	if log := strings.TrimSpace(e.Log); log != "" {
		s += ":\n" + log
	}
	return s
}

// CodeOf returns the driver's code in err, or Success if err contains none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Success
}

// ErrNoDriver is wrapped by the error of Open where no NVIDIA driver is installed.
var ErrNoDriver = errors.New("no NVIDIA driver")
