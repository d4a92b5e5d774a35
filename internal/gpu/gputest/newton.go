package gputest

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// NewtonReference returns a fake device with the kernels of kernels/newton/newton.cu, gather.cu and
// fixed.cu in Go.
func NewtonReference(t testing.TB, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("shifted", refShifted)
	drv.Kernel("summed", refSummed)
	drv.Kernel("summedShort", func(l *fake.Launch, k abi.Summing) {
		if k.X.A.Limbs > abi.ShortSumLimbs || k.D.A.Limbs > abi.ShortSumLimbs || k.Words > abi.ShortSumWords {
			panic("summedShort is not for these")
		}
		refSummed(l, k)
	})
	drv.Kernel("lessSquares", refLessSquares)
	drv.Kernel("gathered", refGathered)
	drv.Kernel("solveSmall", refSolveSmall)
	fixedReference(drv)
	return opened(t, drv)
}

// exponentsOf returns a list of the fake's memory, or zeros.
func exponentsOf(l *fake.Launch, at cuda.Pointer, n int32) []int64 {
	if at == 0 {
		return make([]int64, n)
	}
	return fake.Slice[int64](l, at, int(n))
}

func refShifted(l *fake.Launch, k abi.Shifting) {
	x, z := matOf(l, k.X), resultsOf(l, k.Z, k.X)
	rows, cols := exponentsOf(l, k.Rows, k.X.N), exponentsOf(l, k.Cols, k.X.K)
	odd := &fake.Slice[uint32](l, k.Odd, 1)[0]
	const far = 1 << 29
	var buf [num.MaxValueWords]uint64
	for j := range x.Cols {
		for i := range x.Rows {
			r := x.Arr.Value(x.At(i, j), buf[:])
			by := rows[i] + cols[j]
			e := topOf(r)
			if r.Class > num.Finite || r.Class == num.Finite && (max(e, -e) > far || max(by, -by) > far) {
				*odd++
				if r.Class > num.Finite {
					z.Arr.Set(z.At(i, j), num.Real{})
				}
				continue
			}
			r.Exp += by
			if z.Arr.Set(z.At(i, j), r) != 0 {
				panic("a shift rounds")
			}
		}
	}
}

func refSummed(l *fake.Launch, k abi.Summing) {
	x, d, z := matOf(l, k.X), matOf(l, k.D), resultsOf(l, k.Z, k.X)
	if d.Arr.Kind == num.F64 {
		m := num.NewMat(num.Precision(64), d.Rows, d.Cols)
		for j := range d.Cols {
			for i := range d.Rows {
				m.SetFloat64(i, j, d.Arr.F64[0][d.At(i, j)])
			}
		}
		d = m
	}
	if !x.Format().IsMP() || !d.Format().IsMP() {
		panic("gputest: sums of numbers that are not in MP")
	}
	rows, cols := exponentsOf(l, k.Rows, k.X.N), exponentsOf(l, k.Cols, k.X.K)
	words := (int(k.Words) + 1) / 2 // of 64 bits
	for j := range x.Cols {
		for i := range x.Rows {
			if k.Triangle == 'U' && i > j || k.Triangle == 'L' && i < j {
				continue
			}
			neg, mag, exp := refWindow(x, d, i, j, words)
			to := z.At(i, j)
			err := 0.0
			if k.Errors != 0 {
				e := -exp
				if k.ByRows != 0 {
					e += exponentsOf(l, k.Errors, k.X.N)[i]
				} else {
					e += exponentsOf(l, k.Errors, k.X.K)[j]
				}
				if int64(num.BitLen(mag)) <= e {
					leave(l, k.Rest, i, j)
					continue
				}
				spare := max(e-26, 0) / 32 * 32 // bits that the error covers
				for w := range mag {
					mag[w] = num.WordAt(mag, spare+int64(64*w))
				}
				exp, e = exp+spare, e-spare
				err = 4
				if e >= 0 {
					err += float64(int64(1) << e)
				}
			}
			if drop := k.Unit - exp; k.Errors == 0 && drop > 0 {
				for w := range mag {
					if b := drop - int64(64*w); b >= 64 {
						mag[w] = 0
					} else {
						mag[w] &= ^uint64(0) << max(b, 0)
					}
				}
			}
			if num.IsZero(mag) {
				if err == 0 {
					z.Arr.Set(to, num.Real{})
				} else {
					leave(l, k.Rest, i, j)
				}
				continue
			}
			if !storeReference(z.Arr, to, neg, mag, exp+rows[i]+cols[j], err, 0) {
				leave(l, k.Rest, i, j)
			}
		}
	}
}

// refWindow returns x_ij + d_ij, both truncated to words words. It returns no words for zeros.
func refWindow(x, d num.Mat, i, j, words int) (neg bool, mag []uint64, exp int64) {
	numbers := [2]num.Real{
		x.Arr.Value(x.At(i, j), make([]uint64, num.ValueWords(x.Arr.Format))),
		d.Arr.Value(d.At(i, j), make([]uint64, num.ValueWords(d.Arr.Format))),
	}
	some := false
	for _, r := range numbers {
		if r.Class == num.Finite {
			if e := topOf(r) - int64(64*words); !some || e > exp {
				exp = e
			}
			some = true
		}
	}
	if !some {
		return false, nil, 0
	}
	mag = make([]uint64, words+1)
	for _, r := range numbers {
		if r.Class != num.Finite {
			continue
		}
		part := make([]uint64, words+1)
		for k := range part {
			part[k] = num.WordAt(r.Mag, exp-r.Exp+int64(64*k))
		}
		if r.Neg {
			num.SubShifted(mag, part)
		} else {
			num.AddShifted(mag, part)
		}
	}
	if neg = int64(mag[words]) < 0; neg {
		num.Negate(mag)
	}
	return neg, mag, exp
}

func refLessSquares(l *fake.Launch, k abi.Squaring) {
	d, z := resultsOf(l, k.D, k.Z), matOf(l, k.Z)
	square := num.NewMat(MP(128*z.Arr.Limbs()), 1, 1)
	for i := range z.Rows {
		r := z.Arr.Value(z.At(i, 0), make([]uint64, num.ValueWords(z.Arr.Format)))
		less := num.Real{Class: r.Class, Neg: true, Exp: 2 * r.Exp, Mag: make([]uint64, 2*len(r.Mag))}
		if r.Class == num.Finite {
			x := new(big.Int).SetBits(wordsOf(r.Mag))
			for j, w := range x.Mul(x, x).Bits() {
				less.Mag[j] = uint64(w)
			}
		}
		square.Arr.Set(0, less)
		one := num.Mat{Arr: d.Arr, Off: d.At(i, 0), RS: 1, CS: 1, Rows: 1, Cols: 1}
		neg, mag, exp := refWindow(one, square, 0, 0, d.Arr.Limbs()+1)
		if len(mag) > 0 && !storeReference(d.Arr, d.At(i, 0), neg, mag, exp-1, 0, 0) {
			leave(l, k.Rest, i, 0)
		}
	}
}

// wordsOf returns the words of 64 bits of a natural number as math/big has them, which requires
// words of that size, as kernels do.
func wordsOf(x []uint64) []big.Word {
	z := make([]big.Word, len(x))
	for i, w := range x {
		z[i] = big.Word(w)
	}
	return z
}

func refGathered(l *fake.Launch, g abi.Gathering) {
	x, z := matOf(l, g.X), resultsOf(l, g.Z, g.X)
	for i, row := range fake.Slice[int32](l, g.Order, x.Rows) {
		for j := range x.Cols {
			z.Arr.CopyFrom(z.At(i, j), x.Arr, x.At(int(row), j))
		}
	}
}
