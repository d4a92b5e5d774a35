package place

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names that do not name a backend's place.
const (
	Auto = "auto" // the host or a place, whichever takes less time
	Host = "cpu"
)

// Kinds of places.
const (
	CUDA = "cuda" // NVIDIA GPUs
	MPI  = "mpi"  // a grid of processes
)

// A Name is the parsed name of a device.
type Name struct {
	Kind    string // Auto, Host, or a backend's
	Numbers []int  // numbers of the backend's devices, none for all devices; or the sides of a grid

	text string // as it was read
}

// ParseName reads
//
//	device = "" | "auto" | "cpu" | "cuda:" ( "all" | item { "," item } ) | "mpi:" number "x" number
//	item   = number | number "-" number
//
// where no number of a GPU occurs twice.
func ParseName(text string) (Name, error) {
	switch text {
	case "", Auto:
		return Name{Kind: Auto}, nil
	case Host:
		return Name{Kind: Host}, nil
	}
	kind, list, ok := strings.Cut(text, ":")
	if ok && kind == CUDA {
		if list == "all" {
			return Name{Kind: kind, text: text}, nil
		}
		if numbers, ok := parseNumbers(list); ok {
			return Name{kind, numbers, text}, nil
		}
	}
	if ok && kind == MPI {
		rows, cols, _ := strings.Cut(list, "x")
		p, err := strconv.ParseUint(rows, 10, 16)
		q, err2 := strconv.ParseUint(cols, 10, 16)
		if err == nil && err2 == nil && p > 0 && q > 0 {
			return Name{kind, []int{int(p), int(q)}, text}, nil
		}
	}
	return Name{}, fmt.Errorf("device %q: %w (want auto, cpu, cuda:N, cuda:N,M, cuda:N-M or cuda:all of several GPUs, or mpi:PxQ of processes)", text, ErrDevice)
}

// parseNumbers parses a list of numbers and ranges. It is not ok if a number occurs twice.
func parseNumbers(text string) (list []int, ok bool) {
	for item := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(item, "-")
		if !isRange {
			to = from
		}
		i, err := strconv.ParseUint(from, 10, 16)
		j, errTo := strconv.ParseUint(to, 10, 16)
		if err != nil || errTo != nil || j < i {
			return nil, false
		}
		for ; i <= j; i++ {
			list = append(list, int(i))
		}
	}
	sorted := slices.Sorted(slices.Values(list))
	return list, len(slices.Compact(sorted)) == len(list)
}

// IsPlace reports whether n names a backend's places.
func (n Name) IsPlace() bool { return n.Kind != Auto && n.Kind != Host }

// String is the name as it was read.
func (n Name) String() string {
	if n.text == "" {
		return n.Kind
	}
	return n.text
}

// Open returns the place that n names. The error wraps ErrDevice if it does not exist.
func (n Name) Open() (Place, error) {
	p, err := n.open()
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", n, err)
	}
	return p, nil
}

func (n Name) open() (Place, error) {
	b, err := Find(n.Kind)
	if err != nil {
		return nil, err
	}
	numbers := n.Numbers
	if len(numbers) == 0 {
		all, err := b.Devices()
		if err != nil {
			return nil, err
		}
		for i := range all {
			numbers = append(numbers, i)
		}
	}
	return b.Open(numbers...)
}
