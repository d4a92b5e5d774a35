package rns

import "math/bits"

// addTo sets z = z + x.
func (b *Base) addTo(z, x *val, w *scratch) {
	u := *z
	b.add(z, &u, x, false, w)
}

// Reduce1 returns the sum of x by recursive summation, from the first entry on
// (003, algorithm 3).
func Reduce1(x *Vector) *Number {
	z := x.arr.b.NewNumber()
	w := z.b.getScratch()
	for i := range x.n {
		v := x.val(i)
		if i == 0 {
			z.v.set(&v)
			continue
		}
		z.b.addTo(&z.v, &v, w)
	}
	z.b.putScratch(w)
	return z
}

// Reduce2 returns the sum of x by pairwise summation with a stack of log₂ n entries (003,
// algorithm 4): entries are pushed, and after entry i, counted from 1, as many pairs on
// top of the stack are added, lower + upper, as i has factors of two. What remains is
// added from the top down, lower + upper.
func Reduce2(x *Vector) *Number {
	b := x.arr.b
	stack := b.NewArray(bits.Len(uint(x.n)) + 1)
	w := b.getScratch()
	top := 0
	join := func() {
		top--
		z, v := stack.val(top-1), stack.val(top)
		b.addTo(&z, &v, w)
		stack.put(top-1, &z)
	}
	for i := range x.n {
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
	b.putScratch(w)
	z := stack.val(0)
	return numberOf(b, &z)
}

// Reduce3 returns the sum of x by the block-parallel hybrid algorithm (003, algorithm 5)
// with o.Blocks blocks of o.BlockSize threads, the blocks on o.Threads goroutines:
//
//  1. thread t of block k adds the entries i and i + BlockSize for
//     i = 2 k BlockSize + t + j (2 BlockSize Blocks), j = 0, 1, …, in this order, to 0;
//  2. the sums of a block are added as a tree: thread t adds the sum of thread t + h for
//     h = P/2, P/4, …, 1, where P is the least power of two ≥ BlockSize;
//  3. the sums of blocks are added recursively.
//
// The result does not depend on the number of goroutines.
func Reduce3(x *Vector, o *Options) *Number {
	p := o.with()
	return reduceBlocks(x.arr.b, x.n, &p, func(i int, _ *block) val { return x.val(i) })
}

// reduceBlocks is Reduce3 for the entries that get returns; it may compute them in
// s.temp with the scratch memory s.w.
func reduceBlocks(b *Base, n int, o *Options, get func(i int, s *block) val) *Number {
	sums := b.NewArray(o.Blocks)
	o.blocks(b, o.Blocks, func(k int, s *block) {
		z := s.reduce(k*2*o.BlockSize, n, 2*o.BlockSize*o.Blocks, get)
		u := sums.val(k)
		u.set(&z)
		sums.put(k, &u)
	})
	return Reduce1(sums.Vector(0, o.Blocks, 1))
}

// block is what a block of threads has in its shared memory: a sum for each thread.
type block struct {
	sums *Array
	temp val
	w    *scratch
}

func newBlock(b *Base, size int) *block {
	return &block{b.NewArray(size), val{x: make([]uint32, b.n)}, b.newScratch()}
}

// reduce runs steps 1 and 2 of Reduce3 from entry first on, and returns the sum, which
// shares the storage of the block.
func (s *block) reduce(first, n, stride int, get func(i int, s *block) val) val {
	b, size := s.sums.b, min(s.sums.Len(), max(n-first, 1)) // the others have nothing to add
	for t := range size {
		z := s.sums.val(t)
		z.setZero()
		s.sums.put(t, &z)
	}
	for lo := first; lo < n; lo += stride {
		for i := lo; i < min(lo+2*s.sums.Len(), n); i++ {
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

// row is reduce for a block of its own, as one block sums a row of a matrix.
func (s *block) row(n int, get func(i int, s *block) val) val {
	return s.reduce(0, n, 2*s.sums.Len(), get)
}
