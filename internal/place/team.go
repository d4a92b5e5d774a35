package place

import "fmt"

// A Team is the processes of one job that share a machine, of which this is number Index. The zero
// Team is a process alone.
type Team struct{ Index, Size int }

// Share returns which of a list of GPUs this process takes: they are divided among the processes
// of the machine, and where there are more processes, several share one.
func (t Team) Share(list []int) []int {
	if n, size := len(list), max(t.Size, 1); size < n {
		return list[t.Index*n/size : (t.Index+1)*n/size]
	}
	return list[t.Index%len(list):][:1]
}

// count returns 0, 1, ..., n - 1.
func count(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// memory is how many bytes of a GPU this process may take, with a limit unless that is 0, if that
// many GPUs are divided among the processes: as much as every other of those that share it.
func (t Team) memory(d Device, gpus int, limit int64) int64 {
	n := (t.Size + gpus - 1) / gpus
	if n <= 1 || d.Memory == 0 {
		return limit
	}
	// the driver takes some of each process
	part := int64(d.Memory / 10 * 9 / uint64(n))
	if limit > 0 {
		part = min(part, limit)
	}
	return part
}

// GPUs opens the GPUs that this process takes of those that a name lists, and returns how many
// bytes of each it may take; 0: most of what is there.
func (t Team) GPUs(n Name) (Place, int64, error) {
	b, err := Find(n.Kind)
	if err != nil {
		return nil, 0, fmt.Errorf("device %q: %w", n, err)
	}
	list, err := b.Devices()
	if err != nil {
		return nil, 0, fmt.Errorf("device %q: %w", n, err)
	}
	numbers := n.Numbers
	if len(numbers) == 0 {
		numbers = count(len(list))
	}
	mine := t.Share(numbers)
	p, err := b.Open(mine...)
	if err != nil {
		return nil, 0, fmt.Errorf("device %q: %w", n, err)
	}
	return p, t.memory(list[mine[0]], len(numbers), 0), nil
}
