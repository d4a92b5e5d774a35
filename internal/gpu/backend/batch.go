package backend

import (
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/batch"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

// GemmBatch runs on the first GPU.
func (p *gpus) GemmBatch(c place.Config, b *place.Batch) (left []int, st residue.Stats, err error) {
	products, ok := batch.Plan(b)
	if ok {
		err = p.do(c.Ctx, func(s *cuda.Stream) (err error) {
			if b.C[0].Arr.Away != nil {
				left, st, err = products.Device(s, c.Threads, c.Limit, Matrix)
			} else {
				left, st, err = products.Host(s, c.Limit)
			}
			return err
		})
	}
	if !ok || batch.Lacks(err) {
		left, st, err = nil, residue.Stats{}, nil
		for i := range b.C {
			left = append(left, i)
		}
	}
	slices.Sort(left)
	return left, st, err
}
