package halfulp

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
)

// Devices that are no number of a GPU.
const (
	cpu  = -1
	auto = -2 // the CPU or a GPU
)

// cudaPrefix leads the names of GPUs.
const cudaPrefix = "cuda:"

// parseDevice returns the numbers of the GPUs that a name stands for, or cpu or auto alone:
//
//	device = "auto" | "cpu" | "cuda:all" | "cuda:" item { "," item }
//	item   = number | number "-" number
func parseDevice(name string) ([]int, error) {
	switch name {
	case "", "auto":
		return []int{auto}, nil
	case "cpu":
		return []int{cpu}, nil
	case cudaPrefix + "all":
		n, err := gpu.Count()
		if err != nil {
			return nil, fmt.Errorf("device %q: %w", name, err)
		}
		return appendRange(nil, 0, n-1), nil
	}
	if text, ok := strings.CutPrefix(name, cudaPrefix); ok {
		if list, ok := parseNumbers(text); ok {
			return list, nil
		}
	}
	return nil, fmt.Errorf("device %q: %w (want auto, cpu, cuda:N, cuda:N,M or cuda:N-M of several GPUs, or cuda:all)", name, ErrDevice)
}

// parseNumbers returns the numbers of a list of numbers and ranges, none of which comes twice.
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
		list = appendRange(list, int(i), int(j))
	}
	sorted := slices.Sorted(slices.Values(list))
	return list, len(slices.Compact(sorted)) == len(list)
}

// appendRange appends i, i+1, ..., j.
func appendRange(list []int, i, j int) []int {
	for ; i <= j; i++ {
		list = append(list, i)
	}
	return list
}

// openDevice returns GPU number n.
func openDevice(n int) (*cuda.Device, error) {
	d, err := gpu.Open(n)
	if err != nil {
		return nil, fmt.Errorf("device \"cuda:%d\": %w", n, err)
	}
	return d, nil
}

// openDevices returns the GPUs of those numbers.
func openDevices(numbers []int) ([]*cuda.Device, error) {
	var list []*cuda.Device
	for _, n := range numbers {
		d, err := openDevice(n)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// openFirst returns the first of the GPUs of those numbers. The others have to be there.
func openFirst(numbers []int) (*cuda.Device, error) {
	if len(numbers) > 1 {
		count, err := gpu.Count()
		if last := slices.Max(numbers); err == nil && last >= count {
			return openDevice(last) // says what is there
		}
	}
	return openDevice(numbers[0])
}

// openOne returns the GPU "cuda:N".
func openOne(name string) (*cuda.Device, error) {
	list, err := parseDevice(name)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0] < 0 {
		return nil, fmt.Errorf("device %q: %w (want cuda:N)", name, ErrDevice)
	}
	return openDevice(list[0])
}

// resident is an operand in a GPU's memory.
type resident interface {
	place() (*cuda.Device, *gpu.Array)
}

// placeOf returns the GPU of operands, none of which is nil. It panics if they are on several,
// or freed.
func placeOf(operands ...resident) *cuda.Device {
	first, _ := operands[0].place()
	for _, x := range operands {
		dev, a := x.place()
		if a.Freed() {
			panic(errFreed)
		}
		if dev != first {
			panic(errDevices)
		}
	}
	return first
}

// deviceError adds ErrMemory to errors about a device's memory.
func deviceError(err error) error {
	if errors.Is(err, cuda.ErrMemory) {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return err
}
