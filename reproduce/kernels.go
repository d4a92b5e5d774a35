package reproduce

import (
	"fmt"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rns"
)

// tableKernels has the resources of the kernels on the GPU.
const tableKernels = "kernels"

// The quantities of a kernel.
const (
	registers    = "registers"
	localMemory  = "local memory"
	sharedMemory = "shared memory"
	occupancy    = "occupancy"
)

// kernels records the resources of the kernels of those names for a base.
func (e *experiment) kernels(r *Report, b *rns.Base, p int, names ...string) error {
	all, err := b.Kernels(halfulp.Device(e.Device))
	if err != nil {
		return err
	}
	for _, k := range all {
		if !slices.Contains(names, k.Name) {
			continue
		}
		for _, q := range []struct {
			name, unit string
			here       float64
		}{
			{registers, "a thread", float64(k.Registers)},
			{localMemory, "bytes a thread", float64(k.LocalBytes)},
			{sharedMemory, "bytes a block", float64(k.SharedBytes)},
			{occupancy, "%", 100 * k.Occupancy},
		} {
			r.add(Record{
				Table: tableKernels, Method: k.Name, Device: e.gpu.title, Bits: p, Moduli: b.Len(),
				Quantity: q.name, Unit: q.unit, Here: &q.here, BlockSize: k.Threads,
			})
		}
	}
	return nil
}

// kernelText is the table of the kernels, nil without a GPU.
func (r *Report) kernelText(bits []int) []textTable {
	if r.GPU == "" {
		return nil
	}
	t := textTable{
		title: "Kernels on " + r.GPU + ": registers a thread / local memory, spilled registers and arrays, in bytes a thread / " +
			"shared memory in bytes a block / occupancy in %",
		header: []string{"kernel", "threads a block"},
	}
	for _, p := range bits {
		t.header = append(t.header, fmt.Sprintf("%d bits", p))
	}
	at := map[string]int{}
	for _, k := range r.find(tableKernels) {
		i, ok := at[k.Method]
		if !ok {
			i = len(t.rows)
			at[k.Method] = i
			t.rows = append(t.rows, append([]string{k.Method, ""}, make([]string, len(bits))...))
		}
		row := t.rows[i]
		if size := count(k.BlockSize); row[1] == "" {
			row[1] = size
		} else if row[1] != size {
			row[1] = "by bits"
		}
		cell := &row[2+slices.Index(bits, k.Bits)]
		if *cell != "" {
			*cell += " / "
		}
		if k.Here == nil {
			*cell += short(k.Paper)
		} else {
			*cell += fmt.Sprintf("%.0f", *k.Here)
		}
	}
	return []textTable{t}
}
