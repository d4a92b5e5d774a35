package gputest

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// fixedReference gives a driver the kernels of kernels/newton/fixed.cu in Go.
func fixedReference(drv *fake.Driver) {
	drv.Kernel("fixedPlanes", refFixedPlanes)
	drv.Kernel("fixedBegin", refFixedBegin)
	drv.Kernel("fixedCorrection", refFixedCorrection)
	drv.Kernel("fixedJoin", refFixedJoin)
	drv.Kernel("fixedProduct", refFixedProduct)
	drv.Kernel("fixedResidual", refFixedResidual)
	drv.Kernel("fixedNumbers", refFixedNumbers)
}

// integers are numbers in two's complement, of words apart.
type integers struct {
	words       []uint64
	step, count int
}

func (x integers) get(i int) *big.Int {
	z := new(big.Int)
	for k := x.count - 1; k >= 0; k-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(x.words[k*x.step+i]))
	}
	if z.Bit(64*x.count-1) == 1 {
		z.Sub(z, new(big.Int).Lsh(big.NewInt(1), uint(64*x.count)))
	}
	return z
}

func (x integers) set(i int, z *big.Int) {
	if z.Sign() < 0 {
		z = new(big.Int).Add(z, new(big.Int).Lsh(big.NewInt(1), uint(64*x.count)))
	}
	for k := range x.count {
		x.words[k*x.step+i] = new(big.Int).And(new(big.Int).Rsh(z, uint(64*k)), new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	}
}

// shiftedDown returns floor(x 2^e).
func shiftedDown(x *big.Int, e int) *big.Int {
	if e >= 0 {
		return new(big.Int).Lsh(x, uint(e))
	}
	return new(big.Int).Rsh(x, uint(-e))
}

// towards0 returns number i times 2^e, cut off.
func towards0(a *num.Array, i int, e int64) *big.Int {
	r := a.Value(i, make([]uint64, num.ValueWords(a.Format)))
	z := new(big.Int)
	if r.Class != num.Finite {
		return z
	}
	for k := len(r.Mag) - 1; k >= 0; k-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(r.Mag[k]))
	}
	if z = shiftedDown(z, int(r.Exp+e)); r.Neg {
		z.Neg(z)
	}
	return z
}

func lengthOf(x *big.Int) int {
	if x.Sign() < 0 {
		x = new(big.Int).Not(x)
	}
	return x.BitLen()
}

func refFixedPlanes(l *fake.Launch, q abi.Refining) {
	n, width, count := int(q.N), int(q.Width), int(q.Count)
	f := matOf(l, q.F)
	words := fake.Slice[uint64](l, q.Planes, count*n*width)
	to := integers{make([]uint64, count), 1, count}
	for j := range width {
		for i := range n {
			to.set(0, towards0(f.Arr, f.At(i, j), 64*int64(count)-1-int64(q.Top)))
			for k, w := range to.words {
				words[((count-1-k)*width+j)*n+i] = w
			}
		}
	}
}

// fixedVectors returns r and y.
func fixedVectors(l *fake.Launch, q abi.Refining) (r, y integers) {
	width, words := int(q.Width), int(q.Words)
	return integers{fake.Slice[uint64](l, q.R, (words+1)*width), width, words + 1}, integers{fake.Slice[uint64](l, q.Y, (words+2)*width), width, words + 2}
}

func refFixedBegin(l *fake.Launch, q abi.Refining) {
	r, y := fixedVectors(l, q)
	g, top := matOf(l, q.G), &fake.Slice[int32](l, q.Tops, 1)[0]
	for i := range int(q.Width) {
		v := towards0(g.Arr, g.At(i, 0), 64*int64(q.Words)-q.Shift)
		r.set(i, v)
		y.set(i, new(big.Int))
		*top = max(*top, int32(lengthOf(v)))
	}
}

func refFixedCorrection(l *fake.Launch, q abi.Refining) {
	n := int(q.N)
	r, _ := fixedVectors(l, q)
	x, top := matOf(l, q.X), fake.Slice[int32](l, q.Tops, int(q.Step)+1)[q.Step]
	parts := fake.Slice[float64](l, q.Parts, n*int(l.Grid.Y))
	clear(parts)
	for j := range int(q.Width) {
		lead := shiftedDown(r.get(j), 62-int(top))
		v := float64(lead.Int64())
		for i := range n {
			at := j/int(q.Columns)*n + i
			parts[at] = math.FMA(x.Arr.F64[0][x.At(i, j)], v, parts[at])
		}
	}
}

// fixedTop returns an element of q.Tops or q.Highest.
func fixedTop(l *fake.Launch, tops cuda.Pointer, q abi.Refining) *int32 {
	return &fake.Slice[int32](l, tops, int(q.Step)+1)[q.Step]
}

func refFixedJoin(l *fake.Launch, q abi.Refining) {
	n, joined, top := int(q.N), fake.Slice[float64](l, q.Joined, int(q.Width)), fixedTop(l, q.Highest, q)
	*top = 0
	for d := range q.GPUs {
		*top = max(*top, *fixedTop(l, q.AllTops[d], q))
	}
	clear(joined)
	for d := range q.GPUs {
		slices := int((q.AllWidths[d] + q.Columns - 1) / q.Columns)
		parts := fake.Slice[float64](l, q.AllParts[d], n*slices)
		for j := range joined {
			v := 0.0
			for s := range slices {
				v += parts[s*n+int(q.Begin)+j]
			}
			joined[j] += math.Ldexp(v, int(*fixedTop(l, q.AllTops[d], q)-*top))
		}
	}
}

func refFixedProduct(l *fake.Launch, q abi.Refining) {
	n, width, count, slices := int(q.N), int(q.Width), int(q.Count), int(q.Slices)
	_, y := fixedVectors(l, q)
	top := int(*fixedTop(l, q.Highest, q))
	parts := fake.Slice[float64](l, q.Parts, width*slices)
	c := make([]*big.Int, width)
	for j := range width {
		v := 0.0
		for s := range slices {
			v += parts[s*width+j]
		}
		c[j] = big.NewInt(int64(math.RoundToEven(math.Ldexp(v, -int(q.Scale)))))
		y.set(j, new(big.Int).Add(y.get(j), shiftedDown(c[j], 2+top+int(q.Scale))))
	}
	words := fake.Slice[uint64](l, q.Planes, count*n*width)
	for z := range int(l.Grid.Z) {
		for p := range int(l.Grid.Y) {
			to := fixedSums(l, q, q.Sums, int(l.Grid.Y), z, p)
			for i := range n {
				sum := new(big.Int)
				for j := p * int(q.Slice); j < min(width, (p+1)*int(q.Slice)); j++ {
					f := new(big.Int)
					for p := z * abi.FixedChunk; p < (z+1)*abi.FixedChunk; p++ {
						f.Lsh(f, 64)
						if p < int(q.Used) {
							f.Or(f, new(big.Int).SetUint64(words[(p*width+j)*n+i]))
						}
					}
					if z == 0 && f.Bit(64*abi.FixedChunk-1) == 1 {
						f.Sub(f, new(big.Int).Lsh(big.NewInt(1), 64*abi.FixedChunk))
					}
					sum.Add(sum, f.Mul(f, c[j]))
				}
				to.set(i, sum)
			}
		}
	}
}

// fixedSums returns the integers of a chunk and a slice of F. slices is the number of slices of the
// GPU.
func fixedSums(l *fake.Launch, q abi.Refining, of cuda.Pointer, slices, chunk, slice int) integers {
	n, words := int(q.N), abi.FixedChunk+1
	at := of + cuda.Pointer(8*(chunk*slices+slice)*words*n)
	return integers{fake.Slice[uint64](l, at, words*n), n, words}
}

func refFixedResidual(l *fake.Launch, q abi.Refining) {
	r, _ := fixedVectors(l, q)
	tops, top := fake.Slice[int32](l, q.Tops, int(q.Step)+2), int(*fixedTop(l, q.Highest, q))
	chunks := (int(q.Used) + abi.FixedChunk - 1) / abi.FixedChunk
	for i := range int(q.Width) {
		all := new(big.Int)
		for z := range chunks {
			all.Lsh(all, 64*abi.FixedChunk)
			for d := range q.GPUs {
				slices := int((q.AllWidths[d] + q.Slice - 1) / q.Slice)
				for s := range slices {
					all.Add(all, fixedSums(l, q, q.AllSums[d], slices, z, s).get(int(q.Begin)+i))
				}
			}
		}
		v := r.get(i)
		v.Sub(v, shiftedDown(all, int(q.Top)+1-64*abi.FixedChunk*chunks-62+top+int(q.Scale)))
		r.set(i, v)
		tops[q.Step+1] = max(tops[q.Step+1], int32(lengthOf(v)))
	}
}

func refFixedNumbers(l *fake.Launch, q abi.Refining) {
	_, y := fixedVectors(l, q)
	z := matOf(l, q.Z)
	z.Arr.Prec = uint32(64 * (q.Words + 2))
	for i := range int(q.Width) {
		v := y.get(i)
		x := num.Real{}
		if v.Sign() != 0 {
			x = num.Real{Class: num.Finite, Neg: v.Sign() < 0, Exp: q.Shift - 64*int64(q.Words+1)}
			for v.Abs(v); v.Sign() > 0; v.Rsh(v, 64) {
				x.Mag = append(x.Mag, new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
			}
		}
		z.Arr.Set(z.At(i, 0), x)
	}
}
