package rns

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/place"
)

// addTo sets z = z + x.
func (b *Base) addTo(z, x *val, w *scratch) {
	u := *z
	b.add(z, &u, x, false, w)
}

// Reduce1 returns the sum of x by recursive summation, from the first entry on (003, algorithm 3).
// On a device, opt.Variant selects how.
func Reduce1(x *Vector, opt *Options) (*Number, error) {
	r, err := begin("Reduce1", opt, x.arr.b, x.view())
	if err != nil {
		return nil, err
	}
	var z *Number
	if r.at == nil {
		z, err = r.recursive(x, 1)
	} else {
		z, err = r.sum(x, func(q place.RNSQueue, x place.RNSView, n int, z place.RNSView) error {
			return q.Reduce1(r.team(), x, n, z)
		})
	}
	return r.number("sum", z, err)
}

// team returns the threads that carry out additions which depend on each other.
func (r *run) team() place.RNSTeam {
	if r.Variant == OneThread {
		return place.RNSOne
	}
	return place.RNSGroup
}

// sum runs a summation that leaves its result in z on a device.
func (r *run) sum(x *Vector, f func(q place.RNSQueue, x place.RNSView, n int, z place.RNSView) error) (*Number, error) {
	z, err := r.sums(1, []view{x.view()}, func(q place.RNSQueue, v []place.RNSView, z place.RNSView) error {
		return f(q, v[0], x.n, z)
	})
	if err != nil {
		return nil, err
	}
	return z.At(0), nil
}

// recursive is Reduce1 on the CPU; share is its part of the routine's work.
func (r *run) recursive(x *Vector, share float64) (*Number, error) {
	z := x.arr.b.NewNumber()
	w := z.b.getScratch()
	defer z.b.putScratch(w)
	for i := range x.n {
		v := x.val(i)
		switch {
		case i == 0:
			z.v.set(&v)
			continue
		case r.stopped(i):
			return nil, r.ctx.Err()
		case i%interval == 0:
			r.advance(share * interval / float64(x.n))
		}
		z.b.addTo(&z.v, &v, w)
	}
	return z, r.ctx.Err()
}

// Reduce2 returns the sum of x by pairwise summation with a stack of log₂ n entries (003, algorithm
// 4). Entries are pushed. After entry i, counted from 1, as many pairs on top of the stack are
// added, lower + upper, as i has factors of two. The remaining sums are added from the top down,
// lower + upper. On a device, opt.Variant selects how.
func Reduce2(x *Vector, opt *Options) (*Number, error) {
	r, err := begin("Reduce2", opt, x.arr.b, x.view())
	if err != nil {
		return nil, err
	}
	var z *Number
	switch {
	case x.n == 0:
		z = r.b.NewNumber()
	case r.at == nil:
		z, err = r.pairwise(x)
	case r.Variant == AutoVariant || r.Variant == OverAll:
		z, err = r.sum(x, place.RNSQueue.Reduce2Parallel)
	default:
		z, err = r.sum(x, func(q place.RNSQueue, x place.RNSView, n int, z place.RNSView) error {
			return q.Reduce2(r.team(), x, n, z)
		})
	}
	return r.number("sum", z, err)
}

// pairwise is Reduce2 on the CPU.
func (r *run) pairwise(x *Vector) (*Number, error) {
	b := x.arr.b
	stack := b.NewArray(bits.Len(uint(x.n)) + 1)
	w := b.getScratch()
	defer b.putScratch(w)
	top := 0
	join := func() {
		top--
		z, v := stack.val(top-1), stack.val(top)
		b.addTo(&z, &v, w)
		stack.put(top-1, &z)
	}
	for i := range x.n {
		if r.stopped(i) {
			return nil, r.ctx.Err()
		}
		if i%interval == 0 && i > 0 {
			r.advance(interval / float64(x.n))
		}
		z, v := stack.val(top), x.val(i)
		z.set(&v)
		stack.put(top, &z)
		top++
		for range bits.TrailingZeros(uint(i + 1)) {
			join()
		}
	}
	for top > 1 {
		join()
	}
	z := stack.val(0)
	return numberOf(b, &z), nil
}

// Reduce3 returns the sum of x by the block-parallel hybrid algorithm (003, algorithm 5)
// with opt.Blocks blocks of opt.BlockSize threads, the blocks on opt.Threads goroutines:
//
//  1. thread t of block k adds the entries i and i + BlockSize for
//     i = 2 k BlockSize + t + j (2 BlockSize Blocks), j = 0, 1, …, in this order, to 0;
//  2. the sums of a block are added as a tree: thread t adds the sum of thread t + h for
//     h = P/2, P/4, …, 1, where P is the least power of two ≥ BlockSize;
//  3. the sums of blocks are added recursively.
//
// The result does not depend on the number of goroutines. On a device, the blocks run there, and
// the host adds their sums.
func Reduce3(x *Vector, opt *Options) (*Number, error) {
	return reduceBlocks("Reduce3", x, nil, false, opt)
}

// reduceBlocks is Reduce3 of x, of |x| if absolute, or of the products with y if y is not nil.
func reduceBlocks(name string, x, y *Vector, absolute bool, opt *Options) (*Number, error) {
	operands := []view{x.view()}
	if y != nil {
		operands = append(operands, y.view())
	}
	r, err := begin(name, opt, x.arr.b, operands...)
	if err != nil {
		return nil, err
	}
	var sums *Vector
	if r.at == nil {
		sums, err = r.blockSums(x, y, absolute, 1)
	} else {
		sums, err = r.sums(r.Blocks, operands, func(q place.RNSQueue, v []place.RNSView, z place.RNSView) error {
			factors := none
			if y != nil {
				factors = v[1]
			}
			return q.Reduce3(v[0], factors, x.n, r.Blocks, r.BlockSize, absolute, z)
		})
	}
	if err != nil {
		return r.number("sum", nil, err)
	}
	z, err := r.recursive(sums, 0)
	return r.number("sum", z, err)
}

// blockSums returns the sums of the blocks; share is its part of the routine's work.
func (r *run) blockSums(x, y *Vector, absolute bool, share float64) (*Vector, error) {
	if err := r.room(r.Blocks + min(r.Threads, r.Blocks)*r.BlockSize); err != nil {
		return nil, err
	}
	get := func(i int, _ *block) val { return x.val(i) }
	switch {
	case y != nil:
		get = func(i int, s *block) val {
			u, v := x.val(i), y.val(i)
			r.b.mul(&s.temp, &u, &v, s.w)
			return s.temp
		}
	case absolute:
		get = func(i int, _ *block) val {
			v := x.val(i)
			v.neg = false
			return v
		}
	}
	sums := r.b.NewVector(r.Blocks)
	return sums, r.blocks(r.Blocks, share, func(k int, s *block) {
		z := s.reduce(k*2*r.BlockSize, x.n, 2*r.BlockSize*r.Blocks, get)
		u := sums.val(k)
		u.set(&z)
		sums.put(k, &u)
	})
}

// block is the shared memory of a block of threads: a sum for each thread.
type block struct {
	*run
	sums *Array
	temp val // for products
	w    *scratch
}

func newBlock(r *run) *block {
	return &block{r, r.b.NewArray(r.BlockSize), val{x: make([]uint32, r.b.n)}, r.b.newScratch()}
}

// reduce runs steps 1 and 2 of Reduce3 from entry first on for the entries that get returns. The
// sum that it returns shares the storage of the block. It stops early if the run's context is
// cancelled.
func (s *block) reduce(first, n, stride int, get func(i int, s *block) val) val {
	b, size := s.b, min(s.sums.Len(), max(n-first, 1)) // the others have nothing to add
	for t := range size {
		z := s.sums.val(t)
		z.setZero()
		s.sums.put(t, &z)
	}
	added := 0
	for lo := first; lo < n; lo += stride {
		for i := lo; i < min(lo+2*s.sums.Len(), n); i++ {
			if added++; s.stopped(added) {
				return s.sums.val(0)
			}
			t := (i - lo) % s.sums.Len()
			z, v := s.sums.val(t), get(i, s)
			b.addTo(&z, &v, s.w)
			s.sums.put(t, &z)
		}
	}
	for h := 1 << bits.Len(uint(size-1)) / 2; h > 0; h /= 2 {
		for t := 0; t < h && t+h < size; t++ {
			z, v := s.sums.val(t), s.sums.val(t+h)
			b.addTo(&z, &v, s.w)
			s.sums.put(t, &z)
		}
	}
	return s.sums.val(0)
}

// row is reduce with one block for a whole row of a matrix.
func (s *block) row(n int, get func(i int, s *block) val) val {
	return s.reduce(0, n, 2*s.sums.Len(), get)
}
