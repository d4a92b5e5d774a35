package exact

import (
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// A Finisher rounds products whose integers another engine computed.
type Finisher struct {
	p    *product
	fail [][2]int32
}

// Integers are the integer products of a block of Rows x Cols entries from entry (I0, J0) on.
// Entry (i, j) of the block is the integer in two's complement of the Words 32-bit words from
// Data[(j Rows + i) Words] on, times 2^(Unit + Left.Exp[i] + Right.Exp[j]), up to an error of at
// most Left.Error Left.Norm[i] + Right.Error Right.Norm[j] + Error times the same.
type Integers struct {
	I0, J0, Rows, Cols, Words int
	Data                      []uint32
	Unit                      int64
	Left, Right               Vectors
	Error                     float64
}

// Vectors are what is known of the vectors of a factor. Products with special ones, which
// hold infinities or NaN, are left to the exact pass.
type Vectors struct {
	Exp     []int64
	Norm    []float64
	Special []bool
	Error   float64
}

// NewFinisher returns a finisher of alpha A B + beta Old, with the arguments of Gemm.
func NewFinisher(cfg Config, alpha num.Real, a, b num.Mat, beta num.Real, old, c num.Mat) *Finisher {
	p := &product{cfg: cfg, a: a, b: b.T(), old: old, c: c, alpha: newScaling(alpha), beta: newScaling(beta)}
	return &Finisher{p: p}
}

// Fail leaves entry (i, j) to the exact pass.
func (f *Finisher) Fail(i, j int) { f.fail = append(f.fail, [2]int32{int32(i), int32(j)}) }

// Round rounds the entries of a block, for alpha finite and not zero, and beta finite.
func (f *Finisher) Round(x Integers) error {
	p := f.p
	workers := make([]*finisher, p.cfg.Threads)
	err := par.For(p.cfg.Ctx, p.cfg.Threads, x.Cols, func(id, j int) {
		w := workers[id]
		if w == nil {
			w = &finisher{p: p, old: p.old, c: p.c, ends: num.New(p.c.Arr.Format, 2), mag: make([]uint64, (x.Words+1)/2)}
			workers[id] = w
		}
		for i := range x.Rows {
			if !p.skip(x.I0+i, x.J0+j) {
				w.roundInteger(&x, i, j)
			}
		}
	})
	for _, w := range workers {
		if w != nil {
			f.fail = append(f.fail, w.failed...)
			p.stats.Overflow += w.overflow
			p.stats.Underflow += w.underflow
		}
	}
	return err
}

// roundInteger finishes entry (i, j) of a block.
func (f *finisher) roundInteger(x *Integers, i, j int) {
	bound := x.Left.Error*x.Left.Norm[i] + x.Right.Error*x.Right.Norm[j] + x.Error
	if x.Left.Special[i] || x.Right.Special[j] || bound >= 1<<60 {
		f.fail(x.I0+i, x.J0+j)
		return
	}
	words := x.Data[(j*x.Rows+i)*x.Words : (j*x.Rows+i+1)*x.Words]
	var sign uint64
	if int32(words[x.Words-1]) < 0 {
		sign = 1<<64 - 1
	}
	for k := range f.mag {
		f.mag[k] = uint64(words[2*k])
		if 2*k+1 < x.Words {
			f.mag[k] |= uint64(words[2*k+1]) << 32
		} else {
			f.mag[k] |= sign << 32
		}
	}
	if sign != 0 {
		num.Negate(f.mag)
	}
	v := value{neg: sign != 0, mag: direct.Trim(f.mag), err: uint64(bound), exp: x.Unit + x.Left.Exp[i] + x.Right.Exp[j]}
	if bound > 0 {
		v.err++
	}
	f.settle(x.I0+i, x.J0+j, &v)
}

// Exact computes the entries that are left in exact arithmetic, and adds to stats.
func (f *Finisher) Exact(stats *Stats) error {
	err := f.p.exactPass(f.fail)
	stats.Exact += int64(len(f.fail))
	stats.Overflow += f.p.stats.Overflow
	stats.Underflow += f.p.stats.Underflow
	return err
}
