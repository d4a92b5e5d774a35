package rows

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Moments returns exact sums over a host vector, like direct.Moment.Exact.
func Moments(dev *cuda.Device, cfg par.Run, x num.Vec, list ...direct.Moment) ([]*superacc.Acc, Counts, error) {
	p := summing{cfg: cfg.Filled(), host: func() (num.Vec, error) { return x, nil }}
	if !applies(x.N) {
		sums, err := p.onHost(list)
		return sums, p.counts, err
	}
	var sums []*superacc.Acc
	err := dev.Do(p.cfg.Ctx, func(s *cuda.Stream) error {
		v, err := mem.UploadVector(s, x)
		if err != nil {
			return err
		}
		defer v.Arr.Free()
		sums, err = p.run(s, v, list)
		return err
	})
	return sums, p.counts, err
}

// MomentsOnDevice is Moments for a vector in the memory of the device of s.
func MomentsOnDevice(s *cuda.Stream, cfg par.Run, x mem.Vector, list ...direct.Moment) ([]*superacc.Acc, Counts, error) {
	copies := mem.NewHostCopies(s)
	p := summing{cfg: cfg.Filled(), host: func() (num.Vec, error) { return copies.Vector(x) }}
	if !applies(x.N) {
		sums, err := p.onHost(list)
		return sums, p.counts, err
	}
	sums, err := p.run(s, x, list)
	return sums, p.counts, err
}

// A summing is a list of exact sums with access to their operand.
type summing struct {
	cfg    par.Run
	host   func() (num.Vec, error) // the operand, for sums left to the host
	counts Counts
}

func (p *summing) onHost(list []direct.Moment) ([]*superacc.Acc, error) {
	p.counts.Host += int64(len(list))
	x, err := p.host()
	if err != nil {
		return nil, err
	}
	sums := make([]*superacc.Acc, len(list))
	for i, m := range list {
		if sums[i], err = m.Exact(direct.Work{Run: p.cfg}, x); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// run computes the sums on the device, and on the host those that the device does not hold exactly.
func (p *summing) run(s *cuda.Stream, x mem.Vector, list []direct.Moment) ([]*superacc.Acc, error) {
	sums := make([]*superacc.Acc, len(list))
	for i, m := range list {
		a, err := p.exact(s, x, m)
		if err != nil {
			return nil, err
		}
		if a == nil {
			one, err := p.onHost([]direct.Moment{m})
			if err != nil {
				return nil, err
			}
			a = one[0]
		}
		sums[i] = a
	}
	return sums, nil
}

// likelySpread is the first guess, in bits, of the spread of the exponents of addends.
const likelySpread = 32

// exact returns a sum computed on the device, or nil if the device does not hold it exactly.
func (p *summing) exact(s *cuda.Stream, x mem.Vector, m direct.Moment) (*superacc.Acc, error) {
	q := &rowSums{s: s, a: x.Row()}
	switch m {
	case direct.Second:
		right := q.a
		q.x = &right
	case direct.Neighbours:
		tail := x
		tail.Off += x.Inc
		right := tail.Row()
		right.Cols--
		q.a.Cols--
		q.x = &right
	}
	defer q.free()
	if q.a.Cols == 0 || !q.fits() {
		return nil, nil
	}
	for k := q.digitsOfExact(likelySpread); k != 0; {
		h, err := q.sums(k)
		if err != nil {
			return nil, err
		}
		p.counts.Digits = max(p.counts.Digits, k)
		if h.special(0) {
			break
		}
		if h.exact(0) {
			a := new(superacc.Acc)
			if _, ok := h.add(a, 0, unitReal); ok {
				return a, nil
			}
			break
		}
		k = q.digitsOfExact(h.spread(0))
	}
	return nil, nil
}
