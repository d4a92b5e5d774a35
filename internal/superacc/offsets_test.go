package superacc

import (
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// edgeWords returns words with runs of ones and zeros.
func edgeWords(n int, next func() uint64) []uint64 {
	x := make([]uint64, n)
	for k := range x {
		switch r := next(); r % 4 {
		case 0:
		case 1:
			x[k] = ^uint64(0)
		default:
			x[k] = next() >> (r >> 8 % 64)
		}
	}
	return x
}

// TestOffsetKernels compares the kernels with their references.
func TestOffsetKernels(t *testing.T) {
	if !Assembly() || offsetWordsOf(2) == nil || rowKernelOf(2) == nil {
		t.Skip("no assembly of these kernels at this level")
	}
	r := testseed.Rand(t, 5, 6)
	for trial := range testlength.Of(300, 1500, 50000) {
		words := OffsetWords(2 + trial%(MaxOffsetWords-1))
		k, columns := 1+r.IntN(5), 1+r.IntN(4)
		x := edgeWords(words, r.Uint64)
		sum := edgeWords(words+1, r.Uint64)
		d, sign := 1+r.Uint64N(63), -(r.Uint64() & 1)
		want, got := make([]uint64, words), make([]uint64, words)
		wantSum, gotSum := slices.Clone(sum), slices.Clone(sum)
		offsetWords(want, x, d, sign, wantSum)
		offsetWordsOf(words)(&got[0], &x[0], d, sign, &gotSum[0])
		if !slices.Equal(want, got) || !slices.Equal(wantSum, gotSum) {
			t.Fatalf("trial %d: offsetWords of %x 2^-%d, sign %x: %x, sum %x, want %x, %x", trial, x, d, sign, got, gotSum, want, wantSum)
		}
		u, v := edgeWords(k*words, r.Uint64), edgeWords(columns*k*words, r.Uint64)
		acc := edgeWords(words+1, r.Uint64)
		wantAcc, gotAcc := slices.Clone(acc), slices.Clone(acc)
		digits, c := edgeWords(k, r.Uint64), edgeWords(words+1, r.Uint64)
		shift, low, high := 1+uint(r.IntN(63)), r.Uint64(), r.Uint64()
		addRow(wantAcc, shift, c, low, high, u, digits)
		rowKernelOf(words)(&gotAcc[0], uint64(shift), &c[0], low, high, &u[0], &digits[0], k)
		if !slices.Equal(wantAcc, gotAcc) {
			t.Fatalf("trial %d: addRow of %x by %x to %x 2^%d + %x: %x, want %x", trial, u, digits, acc, shift, c, gotAcc, wantAcc)
		}
		uc, vc := edgeWords(words+1, r.Uint64), edgeWords(columns*(words+1), r.Uint64)
		wantOut, gotOut := make([]uint64, columns*(words+2)), make([]uint64, columns*(words+2)+1)
		gotOut[columns*(words+2)] = 77
		dotHigh(words, wantOut, u, uc, v, vc)
		dotHighFast(words, gotOut, u, uc, v, vc)
		if !slices.Equal(wantOut, gotOut[:columns*(words+2)]) || gotOut[columns*(words+2)] != 77 {
			t.Fatalf("trial %d: dotHigh of %x and %x with %x, %x: %x, want %x", trial, u, v, uc, vc, gotOut, wantOut)
		}
	}
}

// TestOffsetVectors compares sums of products of integers with exact sums of products of the
// numbers, and products with words.
func TestOffsetVectors(t *testing.T) {
	r := testseed.Rand(t, 7, 8)
	bigOf := func(x []uint64) *big.Int {
		z := new(big.Int)
		for k := len(x) - 1; k >= 0; k-- {
			z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(x[k]))
		}
		return z
	}
	for trial := range testlength.Of(200, 1000, 30000) {
		words := 2 + trial%(MaxOffsetWords-1)
		f := []num.Format{{Kind: num.MP, Prec: uint32(2 + r.IntN(64*words-1))}, num.Float64, num.Float32}[max(0, r.IntN(5)-2)]
		rows, k := 1+r.IntN(3), 1+r.IntN(6)
		var m [2]num.Mat
		var o [2]OffsetVectors
		for s := range m {
			m[s] = num.NewMat(f, rows, k)
			if r.IntN(2) == 0 { // by rows
				m[s] = num.NewMat(f, k, rows).T()
			}
			spread := r.IntN(3) * r.IntN(40*words)
			for i := range rows {
				for j := range k {
					if r.IntN(4) == 0 && !(j == 0) {
						continue
					}
					x := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: edgeWords(words, r.Uint64), Exp: int64(-64*words - r.IntN(1+spread))}
					x.Mag[0] |= 1
					if f.Kind == num.F32 {
						x.Mag, x.Exp = x.Mag[:1], -int64(r.IntN(60))
					}
					m[s].Arr.Set(m[s].At(i, j), x)
				}
			}
			o[s].Set(m[s], words)
		}
		uc, vc := o[0].Halves(nil, 0), o[1].Halves(nil, 1)
		for i := range rows {
			for s := range o {
				if o[s].Class[i] != num.Finite {
					t.Fatalf("trial %d: class %d of a finite row", trial, o[s].Class[i])
				}
			}
			out := make([]uint64, rows*(words+2))
			DotHigh(out, &o[0], i, uc, &o[1], vc, rows)
			for j := range rows {
				exact := new(big.Float).SetPrec(4000)
				for h := range k {
					x, y := m[0].Big(i, h), m[1].Big(j, h)
					exact.Add(exact, new(big.Float).SetPrec(2000).Mul(x, y))
				}
				exact.SetMantExp(exact, -int(o[0].Exp[i]+o[1].Exp[j])+64*words-2) // in units of W
				rec := out[j*(words+2):][:words+2]
				got := new(big.Float).SetPrec(4000).SetInt(bigOf(rec[1:]))
				if rec[0] != 0 {
					got.Neg(got)
				}
				if got.Sub(got, exact).Abs(got).Cmp(new(big.Float).SetInt(new(big.Int).SetUint64(HighError(words, k)))) >= 0 {
					t.Fatalf("trial %d: %d words, %v, row %d, column %d: error %g of %d", trial, words, f, i, j, got, HighError(words, k))
				}
			}
			acc := edgeWords(words+1, r.Uint64)
			shift := 1 + uint(r.IntN(63))
			want := new(big.Int).Lsh(bigOf(acc), shift)
			all, flipped := new(big.Int), make([]uint64, k)
			var sum [2]uint64
			offset := new(big.Int).Lsh(big.NewInt(1), uint(64*words-1))
			for h := range k {
				u := bigOf(o[0].U[(i*k+h)*words:][:words])
				all.Add(all, u)
				d := int64(edgeWords(1, r.Uint64)[0]>>1) * int64(1-2*r.IntN(2))
				want.Sub(want, new(big.Int).Mul(u.Sub(u, offset), big.NewInt(d)))
				flipped[h] = 1<<63 - uint64(d)
				var c uint64
				sum[0], c = bits.Add64(sum[0], flipped[h], 0)
				sum[1] += c
			}
			if all.Cmp(bigOf(o[0].Sums[i*(words+1):][:words+1])) != 0 {
				t.Fatalf("trial %d: sum of row %d", trial, i)
			}
			o[0].StepRow(acc, i, shift, o[0].Constants(nil), flipped, &sum)
			if bigOf(acc).Cmp(want.And(want, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(64*words+64)), big.NewInt(1)))) != 0 {
				t.Fatalf("trial %d: StepRow of row %d", trial, i)
			}
		}
	}
}
