package cuda

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// header is the metadata of PTX: what it requires and which kernels it holds.
type header struct {
	version    Version          // of PTX
	target     string           // sm_80, sm_90a, ...
	parameters map[string][]int // sizes in bytes, by kernel
}

var (
	ptxVersion   = regexp.MustCompile(`^\.version\s+(\d+)\.(\d+)`)
	ptxTarget    = regexp.MustCompile(`^\.target\s+(\w+)`)
	ptxEntry     = regexp.MustCompile(`^(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$]+)\s*\(?(\))?`)
	ptxParameter = regexp.MustCompile(`^\.param\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d+)\s+[\w$]+(?:\[(\d+)\])?`)
)

// parsePTX reads the header of ptx as NVIDIA's compilers write it, one parameter a line.
func parsePTX(ptx []byte) header {
	h := header{parameters: map[string][]int{}}
	kernel := "" // whose parameter list the line is in
	for text := range bytes.Lines(ptx) {
		line := bytes.TrimSpace(text)
		if len(line) == 0 || !bytes.ContainsRune([]byte(".){"), rune(line[0])) {
			continue
		}
		if m := ptxVersion.FindSubmatch(line); m != nil {
			h.version = Version{number(m[1]), number(m[2])}
		} else if m := ptxTarget.FindSubmatch(line); m != nil {
			h.target = string(m[1])
		} else if m := ptxEntry.FindSubmatch(line); m != nil {
			kernel = string(m[1])
			h.parameters[kernel] = []int{}
			if len(m[2]) > 0 {
				kernel = ""
			}
		} else if m := ptxParameter.FindSubmatch(line); m != nil && kernel != "" {
			size := number(m[1]) / 8
			if m[2] != nil {
				size *= number(m[2])
			}
			h.parameters[kernel] = append(h.parameters[kernel], size)
		} else if line[0] != '.' {
			kernel = ""
		}
	}
	return h
}

func number(digits []byte) int {
	n, _ := strconv.Atoi(string(digits)) // at most a few digits, as matched
	return n
}

// ptxReleases lists versions of PTX with the CUDA version whose driver first supported each (PTX
// ISA, "Release Notes"), the newest first.
var ptxReleases = []struct{ ptx, cuda Version }{
	{Version{9, 0}, Version{13, 0}},
	{Version{8, 8}, Version{12, 9}},
	{Version{8, 7}, Version{12, 8}},
	{Version{8, 6}, Version{12, 7}},
	{Version{8, 5}, Version{12, 5}},
	{Version{8, 4}, Version{12, 4}},
	{Version{8, 3}, Version{12, 3}},
	{Version{8, 2}, Version{12, 2}},
	{Version{8, 1}, Version{12, 1}},
	{Version{8, 0}, Version{12, 0}},
	{Version{7, 8}, Version{11, 8}},
	{Version{7, 0}, Version{11, 0}},
}

// need returns the oldest CUDA version whose driver supports PTX of version v, as far as the table
// goes back.
func need(v Version) Version {
	for _, r := range ptxReleases {
		if !v.less(r.ptx) {
			return r.cuda
		}
	}
	return Version{}
}

// driverFor returns an error if the driver of d is too old for h.
func (h header) driverFor(d *Device) error {
	if n := need(h.version); d.info.Driver.less(n) {
		return tooOld(d, n)
	}
	return nil
}

func tooOld(d *Device, need Version) error {
	return fmt.Errorf("%v: %w: this build needs a driver for CUDA %v or later, this one is for CUDA %v", d, ErrDriver, need, d.info.Driver)
}
