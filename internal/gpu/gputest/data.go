package gputest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Family selects how entries are drawn.
type Family int

const (
	Uniform   Family = iota // full significands, exponents 0 to -1
	Spread                  // exponents over 40 octaves
	Integers                // small integers: ties, exact zeros
	Cancel                  // the second half of a row is the negative of the first
	Special                 // with zeros of both signs, infinities and NaN
	Scaled                  // rows and columns scaled by up to 2^300
	Edges                   // rows scaled such that squares are around the ends of the range
	Sparse                  // mostly zeros of both signs
	Ascending               // exponents from -400 to 400 along the rows
	Scattered               // few numbers but zeros, of exponents far apart
)

// String returns the name of f.
func (f Family) String() string {
	return [...]string{"uniform", "spread", "integers", "cancel", "special", "scaled", "edges", "sparse", "ascending", "scattered"}[f]
}

// RandomMat returns an m x n matrix whose entries are drawn as kind says.
func RandomMat(rng *rand.Rand, f num.Format, kind Family, m, n int) num.Mat {
	a := num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}
	mag := make([]uint64, (f.Bits()+63)/64)
	for j := range n {
		for i := range m {
			for k := range mag {
				mag[k] = rng.Uint64()
			}
			r := num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(-64 * len(mag))}
			switch kind {
			case Spread:
				r.Exp -= int64(rng.IntN(40))
			case Integers:
				clear(mag)
				mag[0] = uint64(rng.IntN(8))
				r.Exp = 0
			case Cancel:
				if j >= n/2 && j-n/2 < n/2 {
					a.Arr.CopyFrom(a.At(i, j), a.Arr, a.At(i, j-n/2))
					Negate(a.Arr, a.At(i, j))
					continue
				}
			case Special:
				switch rng.IntN(40) {
				case 0:
					r.Class = num.NaN
				case 1:
					r.Class = num.Inf
				case 2, 3, 4, 5:
					r.Class = num.Zero
				}
			case Sparse:
				if rng.IntN(3) != 0 {
					r.Class = num.Zero
				}
			case Edges:
				r.Exp += int64(edgesOf(f)[i%5])
			case Scaled:
				r.Exp += int64(i*37%20 - 10)
				if f.Kind != num.F32 {
					r.Exp += int64((i%3 - 1) * 100)
				}
			case Ascending:
				r.Exp += int64((j*2 - n) * farthest(f) / n)
			case Scattered:
				if rng.IntN(50) != 0 {
					r.Class = num.Zero
				}
				r.Exp += int64((rng.IntN(3) - 1) * farthest(f))
			}
			a.Arr.Set(a.At(i, j), r)
		}
	}
	return a
}

// edgesOf returns exponents for factors. Products of two of them overflow, almost overflow, are
// ordinary, or underflow.
func edgesOf(f num.Format) [5]int {
	switch f.Kind {
	case num.F32:
		return [5]int{63, 62, 0, -64, -70}
	case num.MP:
		return [5]int{1 << 30, 1<<30 - 2, 0, -1 << 30, -1<<30 - 60}
	}
	return [5]int{511, 510, 0, -512, -533}
}

// farthest is an exponent from whose square f is far enough.
func farthest(f num.Format) int {
	if f.Kind == num.F32 {
		return 20
	}
	return 400
}

// Negate changes the sign of number i of a.
func Negate(a *num.Array, i int) {
	switch a.Kind {
	case num.F32:
		a.F32[i] = -a.F32[i]
	case num.MP:
		a.Cls[i] ^= 1
	default:
		for t := range a.Terms() {
			a.F64[t][i] = -a.F64[t][i]
		}
	}
}

// Scalar returns x as a num.Real.
func Scalar(x float64) num.Real {
	var buf [1]uint64
	a := num.New(num.Float64, 1)
	a.F64[0][0] = x
	r := a.Value(0, buf[:])
	r.Mag = append([]uint64{}, r.Mag...)
	return r
}

// Show returns number i of a as text.
func Show(a *num.Array, i int) string {
	var buf [num.MaxValueWords]uint64
	r := a.Value(i, buf[:])
	return fmt.Sprintf("{%v %v %x 2^%d}", r.Class, r.Neg, r.Mag, r.Exp)
}

// MP returns the format of p bits.
func MP(p int) num.Format { return num.Format{Kind: num.MP, Prec: uint32(p)} }

// RandomOnDevice returns an n x n matrix of numbers of sizes (u - 1/2) exp(phi g), u uniform, g
// normal, and random full significands.
func RandomOnDevice(s *cuda.Stream, f num.Format, n int, phi float64, seed uint64) (mem.Matrix, error) {
	h := num.New(f, n*n)
	err := par.For(context.Background(), runtime.GOMAXPROCS(0), n, func(_, j int) {
		rng := rand.New(rand.NewPCG(seed, uint64(j)))
		mag := make([]uint64, (f.Bits()+63)/64)
		for i := j * n; i < (j+1)*n; i++ {
			for k := range mag {
				mag[k] = rng.Uint64()
			}
			mag[len(mag)-1] |= 1 << 63
			_, e := math.Frexp((float64(rng.Float64()) - 0.5) * math.Exp(phi*rng.NormFloat64()))
			h.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(e - 64*len(mag))})
		}
	})
	if err != nil {
		return mem.Matrix{}, err
	}
	a, err := mem.Upload(s, h)
	return mem.Matrix{Arr: a, RS: 1, CS: n, Rows: n, Cols: n}, err
}
