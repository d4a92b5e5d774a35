package rns

import (
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
)

// The kernels of internal/kernels/rns/algorithm1.cuh in Go.

type (
	refPaper struct {
		Digits, Sign, Exp, Lo, Up, Buf cuda.Pointer
		Len                            int64
		DigitStep, IntStep, EvalStep   int32
		N                              int32
	}
	refBasic struct {
		A, X, Y, T, U, S refPaper
		Count, RS, CS    int64
		Fresh, Pad       int32
	}
)

// publishedKernels are the kernels by name, given the reference of a base.
func publishedKernels(of func(c refBase) *reference, ofModuli func(n int32) *reference) map[string]any {
	m := map[string]any{
		"rnsToPaper": func(l *fake.Launch, x refOperand, z refPaper, rows int64) { ofModuli(z.N).toPaper(l, x, z, rows) },
		"rnsFromPaper": func(l *fake.Launch, x refPaper, z refOperand, rows int64) {
			ofModuli(x.N).fromPaper(l, x, z, rows)
		},
		"rnsVecScalESI": func(l *fake.Launch, c refBase, z, x, s refPaper, none int32) {
			of(c).vecScal(l, z, x, s, none != 0, (*reference).esi)
		},
		"rnsVecScalDigits": func(l *fake.Launch, c refBase, z, x, s refPaper, none int32) {
			of(c).digitBlock(l)
			of(c).vecScal(l, z, x, s, none != 0, (*reference).digits1)
		},
	}
	for side, left := range map[string]bool{"Right": false, "Left": true} {
		m["rnsMat"+side+"ScalESI"] = func(l *fake.Launch, c refBase, z, a, d refPaper, rows, cols int64) {
			of(c).matScal(l, z, a, d, rows, cols, left, (*reference).esi)
		}
		m["rnsMat"+side+"ScalDigits"] = func(l *fake.Launch, c refBase, z, a, d refPaper, rows, cols int64) {
			of(c).digitBlock(l)
			of(c).matScal(l, z, a, d, rows, cols, left, (*reference).digits1)
		}
	}
	for k, most := range map[string]int{"1": 32, "2": 128, "3": 256} {
		m["rnsRound"+k] = func(l *fake.Launch, c refBase, z refPaper) {
			of(c).fits(most)
			of(c).roundAll(l, z)
		}
		m["rnsRowSum"+k] = func(l *fake.Launch, c refBase, a, y refPaper, count, rs, cs int64, half int32) {
			of(c).fits(most)
			of(c).rowSum(l, a, y, count, rs, cs, half)
		}
		m["rnsBasic"+k] = func(l *fake.Launch, c refBase, k refBasic) {
			of(c).fits(most)
			of(c).basic(l, k)
		}
	}
	return m
}

// published names the kernels of the reference itself.
func (r *reference) published(drv *fake.Driver) {
	me := func(refBase) *reference { return r }
	for name, f := range publishedKernels(me, func(int32) *reference { return r }) {
		drv.Kernel(name, f)
	}
}

// fits fails unless a kernel supports so many moduli.
func (r *reference) fits(most int) {
	if least := map[int]int{128: 33, 256: 129}[most]; r.b.n > most || r.b.n < least {
		r.t.Errorf("%d moduli in a kernel for up to %d", r.b.n, most)
	}
}

// digitBlock fails unless a block has n threads for each of its numbers, and as few numbers as give
// at least MinBS = 2048/32 threads.
func (r *reference) digitBlock(l *fake.Launch) {
	if x := int(l.Block.X); x%r.b.n != 0 || x < 64 || x-r.b.n >= 64 {
		r.t.Errorf("blocks of %d threads for %d moduli", x, r.b.n)
	}
}

func (r *reference) paperDigits(l *fake.Launch, a refPaper, i int64) []uint32 {
	return fake.Slice[uint32](l, a.Digits+cuda.Pointer(i*int64(a.DigitStep)), r.b.n)
}

func paperInt(l *fake.Launch, p cuda.Pointer, a refPaper, i int64) *int32 {
	return &fake.Slice[int32](l, p+cuda.Pointer(i*int64(a.IntStep)), 1)[0]
}

func paperFloat(l *fake.Launch, p cuda.Pointer, a refPaper, i int64) *XFloat {
	return &fake.Slice[XFloat](l, p+cuda.Pointer(i*int64(a.EvalStep)), 1)[0]
}

// paperLoad returns number i with a copy of its residues.
func (r *reference) paperLoad(l *fake.Launch, a refPaper, i int64) *val {
	if i < 0 || i >= a.Len {
		r.t.Errorf("number %d of %d", i, a.Len)
	}
	return &val{
		x:  slices.Clone(r.paperDigits(l, a, i)),
		ev: Interval{*paperFloat(l, a.Lo, a, i), *paperFloat(l, a.Up, a, i)}, exp: *paperInt(l, a.Exp, a, i), neg: *paperInt(l, a.Sign, a, i) != 0,
	}
}

// paperHead stores all but the residues.
func (r *reference) paperHead(l *fake.Launch, a refPaper, i int64, v *val) {
	*paperFloat(l, a.Lo, a, i), *paperFloat(l, a.Up, a, i) = v.ev.Lo, v.ev.Up
	*paperInt(l, a.Exp, a, i), *paperInt(l, a.Sign, a, i) = v.exp, 0
	if v.neg {
		*paperInt(l, a.Sign, a, i) = 1
	}
}

func (r *reference) paperStore(l *fake.Launch, a refPaper, i int64, v *val) {
	copy(r.paperDigits(l, a, i), v.x)
	r.paperHead(l, a, i, v)
}

func (r *reference) toPaper(l *fake.Launch, x refOperand, z refPaper, rows int64) {
	for k := range z.Len {
		r.paperStore(l, z, k, r.load(l, x.A, x.at(k%rows, k/rows)))
	}
}

func (r *reference) fromPaper(l *fake.Launch, x refPaper, z refOperand, rows int64) {
	for k := range x.Len {
		r.store(l, r.paperLoad(l, x, k), z.A, z.at(k%rows, k/rows))
	}
}

// An entrywise part of a product: number k of z from i of x and j of y, or 0 for none.
type part func(r *reference, l *fake.Launch, z refPaper, k int64, x refPaper, i int64, y refPaper, j int64, none bool)

func (r *reference) esi(l *fake.Launch, z refPaper, k int64, x refPaper, i int64, y refPaper, j int64, none bool) {
	v := &val{}
	if !none {
		r.b.esi(v, r.paperLoad(l, x, i), r.paperLoad(l, y, j))
	}
	r.paperHead(l, z, k, v)
}

func (r *reference) digits1(l *fake.Launch, z refPaper, k int64, x refPaper, i int64, y refPaper, j int64, none bool) {
	to := r.paperDigits(l, z, k)
	if none {
		clear(to)
		return
	}
	r.b.mulMod(to, r.paperDigits(l, x, i), r.paperDigits(l, y, j))
}

func (r *reference) vecScal(l *fake.Launch, z, x, s refPaper, none bool, f part) {
	if l.Grid.X == 0 || l.Grid.Y > 1 {
		r.t.Errorf("grid %v of a vector", l.Grid)
	}
	for k := range z.Len {
		f(r, l, z, k, x, k, s, 0, none)
	}
}

func (r *reference) matScal(l *fake.Launch, z, a, d refPaper, rows, cols int64, left bool, f part) {
	if l.Grid.X != l.Grid.Y {
		r.t.Errorf("grid %v of a matrix", l.Grid)
	}
	for k := range z.Len {
		j := k / rows
		if left {
			j = k % rows
		}
		f(r, l, z, k, a, k, d, j, false)
	}
	if z.Len != rows*cols || a.Len != z.Len {
		r.t.Errorf("%d numbers of %d x %d", z.Len, rows, cols)
	}
}

func (r *reference) roundAll(l *fake.Launch, z refPaper) {
	for k := range z.Len {
		v := r.paperLoad(l, z, k)
		r.b.rounded(v, r.w)
		r.paperStore(l, z, k, v)
	}
}

// rowSum adds in the order of the threads of blocks.
func (r *reference) rowSum(l *fake.Launch, a, y refPaper, count, rs, cs int64, half int32) {
	size := int64(l.Block.X)
	if int64(l.Grid.X) != y.Len || int(l.Shared) < int(size)*(40+(r.b.n+1)/2*8) || int64(half) >= size || size > 1 && int64(half)*2 < size {
		r.t.Errorf("grid %v, block %v, %d bytes, half %d for %d rows", l.Grid, l.Block, l.Shared, half, y.Len)
	}
	for i := range y.Len {
		var sums []*val
		for t := range size {
			z := r.zero()
			for e := t; e < count; e += size {
				r.b.addTo(z, r.paperLoad(l, a, i*rs+e*cs), r.w)
			}
			sums = append(sums, z)
		}
		for h := int64(half); h > 0; h /= 2 {
			for t := int64(0); t < h && t+h < size; t++ {
				r.b.addTo(sums[t], sums[t+h], r.w)
			}
		}
		r.b.addTo(sums[0], r.paperLoad(l, y, i), r.w)
		r.paperStore(l, y, i, sums[0])
	}
}

func (r *reference) basic(l *fake.Launch, k refBasic) {
	if int64(l.Grid.X)*int64(l.Block.X) < k.Y.Len {
		r.t.Errorf("%v blocks of %v threads for %d rows", l.Grid, l.Block, k.Y.Len)
	}
	for i := range k.Y.Len {
		u := r.zero()
		if k.Fresh == 0 && k.S.Digits == 0 {
			u = r.paperLoad(l, k.Y, i)
		}
		for e := range k.Count {
			r.b.addTo(u, r.times(r.paperLoad(l, k.A, i*k.RS+e*k.CS), r.paperLoad(l, k.X, e)), r.w)
		}
		if k.S.Digits != 0 {
			t := r.times(u, r.paperLoad(l, k.S, 0))
			u = r.paperLoad(l, k.Y, i)
			r.b.addTo(u, t, r.w)
		}
		r.paperStore(l, k.Y, i, u)
	}
}
