package gputest

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// SpectralReference gives the kernels of kernels/seed/spectral.cu, merge.cu and
// spectra.cu, in Go, to a driver.
func SpectralReference(t testing.TB, drv *fake.Driver) {
	t.Helper()
	mergeReference(t, drv)
	spectraReference(drv)
	drv.Kernel("spectralColumn", refSpectralColumn)
	drv.Kernel("spectralDots", refSpectralDots)
	drv.Kernel("spectralUpdate", refSpectralUpdate)
	drv.Kernel("spectralProducts", refSpectralProducts)
	drv.Kernel("spectralFactors", refSpectralFactors)
	drv.Kernel("spectralTurn", refSpectralTurn)
}

// reflectorOf returns the reflector of a column, from its first number and the sum of the squares
// of the others.
func reflectorOf(squares []float64) (beta, tau, scale float64) {
	head, sum := squares[0], 0.0
	for _, x := range squares[1:] {
		sum += x
	}
	if !(sum >= 0x1p-900) {
		return head, 0, 0
	}
	beta = -math.Copysign(math.Sqrt(float64(head*head)+sum), head)
	return beta, (beta - head) / beta, 1 / (head - beta)
}

// squaresOf returns the sums for column j.
func squaresOf(l *fake.Launch, g abi.Spectral, j int) []float64 {
	return fake.Slice[float64](l, g.Squares[j&1], 1+(int(g.N)-j+abi.SpectralRows-1)/abi.SpectralRows)
}

func refSpectralColumn(l *fake.Launch, g abi.Spectral, first32, j32, more int32) {
	n, first, j := int(g.N), int(first32), int(j32)
	vector := func(p cuda.Pointer) []float64 { return fake.Slice[float64](l, p, n) }
	v, w := fake.Slice[float64](l, g.V, n*n)[first*n:], fake.Slice[float64](l, g.W, n*abi.SeedBlock)
	u, stored := vector(g.U), j-first-1
	p, q := fake.Slice[float64](l, g.P, abi.SeedBlock), fake.Slice[float64](l, g.Q, abi.SeedBlock)
	if stored >= 0 {
		beta, tau, scale := reflectorOf(squaresOf(l, g, j-1))
		vector(g.E)[j-1], vector(g.Tau)[j-1] = beta, tau
		cross := 0.0
		for _, x := range fake.Slice[float64](l, g.Cross, (n-j+abi.SpectralColumns-1)/abi.SpectralColumns) {
			cross += x
		}
		for c := range stored {
			cross += float64(2 * p[c] * q[c])
		}
		raw := vector(g.Raw[(j+1)&1])
		for r := j; r < n; r++ {
			y, x := u[r], float64(scale*raw[r])
			for c := range stored {
				y += float64(v[r+c*n]*q[c]) + float64(w[r+c*n]*p[c])
			}
			if r == j {
				x = 1
			}
			v[r+stored*n] = x
			w[r+stored*n] = -(float64(tau*y) - float64(tau*tau/2*cross*x))
		}
	}
	if more == 0 {
		return
	}
	a, raw, squares := fake.Slice[float64](l, g.A, n*n), vector(g.Raw[j&1]), squaresOf(l, g, j)
	clear(squares)
	for r := j; r < n; r++ {
		x := a[r+j*n]
		for c := range stored + 1 {
			x += float64(v[r+c*n]*w[j+c*n]) + float64(w[r+c*n]*v[j+c*n])
		}
		switch raw[r] = 0; r {
		case j:
			vector(g.D)[j] = x
		case j + 1:
			squares[0] = x
		default:
			raw[r] = x
			squares[1] += float64(x * x)
		}
	}
}

func refSpectralDots(l *fake.Launch, g abi.Spectral, first32, j32 int32) {
	n, first, j := int(g.N), int(first32), int(j32)
	_, _, scale := reflectorOf(squaresOf(l, g, j))
	raw := fake.Slice[float64](l, g.Raw[j&1], n)
	a, v, w := fake.Slice[float64](l, g.A, n*n), fake.Slice[float64](l, g.V, n*n)[first*n:], fake.Slice[float64](l, g.W, n*abi.SeedBlock)
	u, p, q := fake.Slice[float64](l, g.U, n), fake.Slice[float64](l, g.P, abi.SeedBlock), fake.Slice[float64](l, g.Q, abi.SeedBlock)
	dot := func(x []float64) float64 {
		sum := 0.0
		for r := j + 2; r < n; r++ {
			sum += float64(x[r] * raw[r])
		}
		return float64(scale*sum) + x[j+1]
	}
	for c := range j - first {
		p[c], q[c] = dot(v[c*n:]), dot(w[c*n:])
	}
	cross := fake.Slice[float64](l, g.Cross, (n-j-1+abi.SpectralColumns-1)/abi.SpectralColumns)
	clear(cross)
	for c := j + 1; c < n; c++ {
		x := float64(scale * raw[c])
		if c == j+1 {
			x = 1
		}
		u[c] = dot(a[c*n:])
		cross[0] += float64(u[c] * x)
	}
}

func refSpectralUpdate(l *fake.Launch, g abi.SpectralRank) {
	n := int(g.N)
	f := fake.Slice[float64](l, g.F, n*n)
	left, right := fake.Slice[float64](l, g.Left, abi.SeedBlock*n), fake.Slice[float64](l, g.Right, abi.SeedBlock*n)
	for j := int(g.Column); j < n; j++ {
		for h := range abi.SeedBlock {
			if x := right[h*n+j]; x != 0 {
				for i := int(g.Row); i < n; i++ {
					f[i+j*n] += float64(left[h*n+i] * x)
				}
			}
		}
	}
}

// transposedProduct returns number j of row c of V'Z, for rows from row on.
func transposedProduct(v, z []float64, n, row, c, j int) (sum float64) {
	for r := row; r < n; r++ {
		sum += float64(v[r+c*n] * z[r+j*n])
	}
	return sum
}

func refSpectralProducts(l *fake.Launch, g abi.SpectralProduct) {
	n := int(g.N)
	v, z := fake.Slice[float64](l, g.V, abi.SeedBlock*n), fake.Slice[float64](l, g.Z, n*n)
	to := fake.Slice[float64](l, g.To, int(g.Parts)*abi.SeedBlock*n)
	clear(to)
	for c := range abi.SeedBlock {
		for j := range n {
			to[c*n+j] = transposedProduct(v, z, n, int(g.Row), c, j)
		}
	}
}

func refSpectralFactors(l *fake.Launch, g abi.Spectral, to cuda.Pointer) {
	const b = abi.SeedBlock
	n := int(g.N)
	tau := fake.Slice[float64](l, g.Tau, n)
	for first := 0; first < n; first += b {
		v := fake.Slice[float64](l, g.V, n*n)[first*n:]
		f := fake.Slice[float64](l, to, b*n)[first*b:][:b*b]
		clear(f)
		for c := range b {
			f[c*b+c] = tau[first+c]
			for i := range c {
				sum := 0.0
				for h := i; h < c; h++ {
					sum += float64(f[i*b+h] * transposedProduct(v, v, n, first, h, c))
				}
				f[i*b+c] = -tau[first+c] * sum
			}
		}
	}
}

func refSpectralTurn(l *fake.Launch, g abi.SpectralProduct, factor cuda.Pointer) {
	const b = abi.SeedBlock
	n := int(g.N)
	f, to := fake.Slice[float64](l, factor, b*b), fake.Slice[float64](l, g.To, int(g.Parts)*b*n)
	for j := range n {
		var x [b]float64
		for c := range int(g.Parts) * b {
			x[c%b] += to[c*n+j]
		}
		for c := range b {
			sum := 0.0
			for h := c; h < b; h++ {
				sum -= float64(f[c*b+h] * x[h])
			}
			to[c*n+j] = sum
		}
	}
}
