package rns

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

// SumVariant says how a GPU carries out a summation. It never changes a result.
type SumVariant int

// The variants: by one thread (1S and 2S of 003), by as many threads as there are moduli,
// up to 32 (1P and 2P), and parallel over numbers and moduli at once.
const (
	OneThread SumVariant = iota
	OverModuli
	OverAll
)

const errVariant = "rns: bad SumVariant"

// team returns who carries out a sequential variant.
func (v SumVariant) team() rnsgpu.Team {
	switch v {
	case OneThread:
		return rnsgpu.One
	case OverModuli:
		return rnsgpu.Group
	}
	panic(errVariant)
}

// DeviceReduce1 returns the sum of x as Reduce1 does, by the variant OneThread or OverModuli:
// its additions wait for each other.
func DeviceReduce1(x *DeviceVector, v SumVariant) (*Number, error) {
	team := v.team()
	return x.sum(func(c *rnsgpu.Base, s *cuda.Stream, x rnsgpu.View, n int, z *rnsgpu.Array) error {
		return c.Reduce1(s, team, x, n, z)
	})
}

// DeviceReduce2 returns the sum of x as Reduce2 does.
func DeviceReduce2(x *DeviceVector, v SumVariant) (*Number, error) {
	if x.n == 0 {
		return x.arr.b.NewNumber(), nil
	}
	if v == OverAll {
		return x.sum((*rnsgpu.Base).Reduce2Parallel)
	}
	team := v.team()
	return x.sum(func(c *rnsgpu.Base, s *cuda.Stream, x rnsgpu.View, n int, z *rnsgpu.Array) error {
		return c.Reduce2(s, team, x, n, z)
	})
}

// sum runs a summation that leaves its result in an array of one number.
func (x *DeviceVector) sum(f func(c *rnsgpu.Base, s *cuda.Stream, x rnsgpu.View, n int, z *rnsgpu.Array) error) (*Number, error) {
	sums, err := x.arr.sums(1, func(s *cuda.Stream, c *rnsgpu.Base, z *rnsgpu.Array) error {
		return f(c, s, x.view(), x.n, z)
	})
	if err != nil {
		return nil, err
	}
	return sums.Vector(0, 1, 1).At(0), nil
}

// sums runs f, which leaves n numbers in z, and returns them.
func (d *DeviceArray) sums(n int, f func(s *cuda.Stream, c *rnsgpu.Base, z *rnsgpu.Array) error) (*Array, error) {
	h := d.b.NewArray(n)
	err := d.do(func(s *cuda.Stream, c *rnsgpu.Base) error {
		z, err := c.NewArray(s, n)
		if err != nil {
			return err
		}
		defer z.Free()
		if err := f(s, c, z); err != nil {
			return err
		}
		return h.download(s, c, z)
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// DeviceReduce3 returns the sum of x as Reduce3 does: blocks run on the GPU, their sums are
// added on the host.
func DeviceReduce3(x *DeviceVector, o *Options) (*Number, error) { return x.blocks(nil, false, o) }

// DeviceAsum returns Σ |x_i| as Asum does.
func DeviceAsum(x *DeviceVector, o *Options) (*Number, error) { return x.blocks(nil, true, o) }

// DeviceNrm returns the norm of x as Nrm does. For InfNorm the numbers of x's array travel, as
// the host compares them.
func DeviceNrm(kind Norm, x *DeviceVector, o *Options) (*Number, error) {
	switch kind {
	case OneNorm:
		return DeviceAsum(x, o)
	case InfNorm:
		v, err := x.Vector()
		if err != nil {
			return nil, err
		}
		return largest(v), nil
	}
	panic(errNorm)
}

// DeviceDot returns Σ fl(x_i y_i) as Dot does.
func DeviceDot(x, y *DeviceVector, o *Options) (*Number, error) {
	x.like(y)
	return x.blocks(y, false, o)
}

func (x *DeviceVector) blocks(y *DeviceVector, absolute bool, o *Options) (*Number, error) {
	p := o.with()
	var v rnsgpu.View
	if y != nil {
		v = y.view()
	}
	sums, err := x.arr.sums(p.Blocks, func(s *cuda.Stream, c *rnsgpu.Base, z *rnsgpu.Array) error {
		return c.Reduce3(s, x.view(), v, x.n, p.BlockSize, absolute, z)
	})
	if err != nil {
		return nil, err
	}
	return Reduce1(sums.Vector(0, p.Blocks, 1)), nil
}

// like panics unless vectors have the base, the device and the length of x.
func (x *DeviceVector) like(ys ...*DeviceVector) {
	for _, y := range ys {
		x.arr.with(y.arr)
		if x.n != y.n {
			panic(errShape)
		}
	}
}
