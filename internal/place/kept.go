package place

import "github.com/halfulp/halfulp/internal/residue"

// Kept is what products keep of a matrix of the host, there and on GPUs; nil is nothing.
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
