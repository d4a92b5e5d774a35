package modgemm

// The generic kernel is the definition of what every kernel computes. Its sums are
// int64, so it needs neither blocks between folds nor reciprocals.
const (
	genericMR = 6
	genericNR = 16
)

var generic = &Kernel{
	Name: "generic", MR: genericMR, NR: genericNR,
	MaxModulus: maxModulus, ResiduePairs: residuePairs, DigitPairs: digitPairs,
	kc: 256, mc: 40,
	modTile:     modTileGeneric,
	combineTile: combineTileGeneric,
	packPlanes:  packPlanesGeneric,
}

// modTileGeneric computes, for i < MR, j < NR,
//
//	c[i ldc + j] = ((accumulate ? c[i ldc + j] : 0) + Σ_h A_ih B_hj) mod mod[i]
//
// with the representative in (-m/2, m/2], A the first kPairs pairs of panel a and B
// of panel b, folding every block pairs (see bounds.go for what then must hold).
func modTileGeneric(c []int16, ldc int, a, b []int16, kPairs, _ int, mod []int32, _ []float32, accumulate bool) {
	for i := range genericMR {
		row := c[i*ldc:][:genericNR]
		var sum [genericNR]int64
		rowSums(&sum, a, b, i, kPairs)
		for j := range row {
			if accumulate {
				sum[j] += int64(row[j])
			}
			row[j] = int16(balanced(sum[j], int64(mod[i])))
		}
	}
}

// combineTileGeneric computes, for g < MR/3, j < NR, and P = A B,
//
//	out[g ldo + j] = (accumulate ? out[g ldo + j] : 0) + P_3g,j + 2^13 P_3g+1,j + 2^26 P_3g+2,j
func combineTileGeneric(out []int64, ldo int, a, b []int16, kPairs int, accumulate bool) {
	for g := range genericMR / 3 {
		row := out[g*ldo:][:genericNR]
		if !accumulate {
			clear(row)
		}
		for d := range 3 {
			var sum [genericNR]int64
			rowSums(&sum, a, b, 3*g+d, kPairs)
			for j := range row {
				row[j] += sum[j] << (combineBits * d)
			}
		}
	}
}

// rowSums adds row i of panel a times panel b to sum.
func rowSums(sum *[genericNR]int64, a, b []int16, i, kPairs int) {
	for q := range kPairs {
		x := a[2*(q*genericMR+i):][:2]
		y := b[2*q*genericNR:][:2*genericNR]
		x0, x1 := int32(x[0]), int32(x[1])
		for j := range sum {
			sum[j] += int64(x0*int32(y[2*j]) + x1*int32(y[2*j+1]))
		}
	}
}

// balanced is the representative of x modulo m in (-m/2, m/2].
func balanced(x, m int64) int64 {
	r := x % m
	switch {
	case 2*r > m:
		r -= m
	case 2*r <= -m:
		r += m
	}
	return r
}

// packPlanesGeneric writes one panel of a right operand whose index h is the plane:
// for h < planes, j < NR, dst[(h/2 NR + j) 2 + h%2] = src[h planeStride + j], and zeros
// for the plane that completes the last pair.
func packPlanesGeneric(dst, src []int16, planeStride, planes int) {
	for h := range planes + planes%2 {
		to := dst[h/2*2*genericNR:][:2*genericNR]
		for j := range genericNR {
			if h < planes {
				to[2*j+h%2] = src[h*planeStride+j]
			} else {
				to[2*j+h%2] = 0
			}
		}
	}
}
