package place

import "fmt"

// A Team is the set of processes of one job that share a machine. Index is the number of this
// process. The zero Team is a single process.
type Team struct{ Index, Size int }

// Share returns the GPUs of a list that this process uses. The GPUs are divided among the processes
// of the machine; if there are more processes than GPUs, several processes share one GPU.
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

// memory returns how many bytes of GPU d this process may use when gpus GPUs are divided among the
// processes. Processes that share a GPU get equal parts of 9/10 of its memory. The result is at
// most limit, unless limit is 0.
func (t Team) memory(d Device, gpus int, limit int64) int64 {
	n := (t.Size + gpus - 1) / gpus
	if n <= 1 || d.Memory == 0 {
		return limit
	}
	// the driver itself uses some memory for each process
	part := int64(d.Memory / 10 * 9 / uint64(n))
	if limit > 0 {
		part = min(part, limit)
	}
	return part
}

// GPUs opens this process's share of the GPUs that a name lists. It returns how many bytes of each
// GPU the process may use; 0: most of the memory there.
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
