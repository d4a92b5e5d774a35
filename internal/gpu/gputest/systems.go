package gputest

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/residual"
)

// refSolveSmall is kernels/newton/small.cu in Go.
func refSolveSmall(l *fake.Launch, p abi.SmallBatch) {
	list, done := fake.Slice[abi.SmallSystem](l, p.Systems, int(p.Count)), fake.Slice[int32](l, p.Done, int(p.Count))
	room := new(residual.Room)
	for i, s := range list {
		n, k := int(s.N), int(s.K)
		a := smallMat(l, p.A, s.A, n, n, int(s.RS[0]), int(s.CS[0]))
		b := smallMat(l, p.B, s.B, n, k, int(s.RS[1]), int(s.CS[1]))
		x := smallMat(l, p.X, s.X, n, k, 1, n)
		done[i] = 0
		if room.Solve(a, b, x) {
			done[i] = 1
		}
	}
}

// smallMat returns a matrix whose entry (0, 0) has these planes.
func smallMat(l *fake.Launch, f abi.SmallFormat, plane [3]cuda.Pointer, rows, cols, rs, cs int) num.Mat {
	down, across := (rows-1)*rs, (cols-1)*cs
	lo, hi := min(down, 0)+min(across, 0), max(down, 0)+max(across, 0)+1
	n := abi.Numbers{Kind: f.Kind, Limbs: f.Limbs}
	for t, size := range [3]int{8 * int(f.Limbs), 4, 1} {
		if f.Kind == int32(num.F32) {
			size = 4
		}
		n.Plane[t] = cuda.Pointer(int64(plane[t]) + int64(lo*size))
	}
	prec := 0
	if num.Kind(f.Kind) == num.MP {
		prec = int(f.Prec)
	}
	return num.Mat{Arr: arrayOf(l, n, prec, hi-lo), Off: -lo, RS: rs, CS: cs, Rows: rows, Cols: cols}
}
