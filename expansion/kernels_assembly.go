//go:build (amd64 || arm64) && !purego

package expansion

func binaryBlocks(f func(z, x, y *float64, n int)) func(z, x, y *block, n int) {
	return func(z, x, y *block, n int) { f(&z[0][0], &x[0][0], &y[0][0], n) }
}

func unaryBlocks(f func(z, x *float64, n int)) func(z, x *block, n int) {
	return func(z, x *block, n int) { f(&z[0][0], &x[0][0], n) }
}

func floatBlocks(f func(z, x, y *float64, n int)) func(z, x *block, y *row, n int) {
	return func(z, x *block, y *row, n int) { f(&z[0][0], &x[0][0], &y[0], n) }
}

// hornerSteps applies one coefficient after the other to all lanes, so that no lane waits for
// itself.
func hornerSteps(step func(z, s, x, c *float64, n int)) func(z, x *block, c []QD, n int) {
	return func(z, x *block, c []QD, n int) {
		for j := range c {
			step(&z[0][0], &z[0][0], &x[0][0], &c[j][0], n)
		}
	}
}
