package place

import "github.com/halfulp/halfulp/internal/residue"

// Kept is the data that products keep about a matrix of the host, on the host and on GPUs. A nil
// Kept keeps nothing.
type Kept struct {
	Host   *residue.Prepared
	Places Prepared // nil if the program has no GPUs
}

func (k *Kept) onHost() *residue.Prepared {
	if k == nil {
		return nil
	}
	return k.Host
}

func (k *Kept) there() Prepared {
	if k == nil {
		return nil
	}
	return k.Places
}
