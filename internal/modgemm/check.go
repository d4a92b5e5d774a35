package modgemm

// Misuse by the engine above panics: the assembly trusts its arguments.
const (
	badSize      = "modgemm: negative size"
	badRange     = "modgemm: range out of range"
	badStride    = "modgemm: stride shorter than a row"
	shortOperand = "modgemm: operand too short"
	badModulus   = "modgemm: modulus out of range"
	badWidth     = "modgemm: width of moduli out of range"
	badModuli    = "modgemm: wrong number of row moduli"
)

func checkSizes(x, y, z int) {
	if x < 0 || y < 0 || z < 0 {
		panic(badSize)
	}
}

// checkRange checks that from <= to is a range of n.
func checkRange(from, to, n int) {
	if from < 0 || from > to || to > n {
		panic(badRange)
	}
}

func checkLen(have, want int) {
	if have < want {
		panic(shortOperand)
	}
}

// checkRows checks that have elements hold rows x cols at the given stride.
func checkRows(have, rows, cols, stride int) {
	if rows == 0 || cols == 0 {
		return
	}
	if stride < cols {
		panic(badStride)
	}
	checkLen(have, (rows-1)*stride+cols)
}

func checkMatrix(src []int16, rows, cols, ld int) {
	checkSizes(rows, cols, ld)
	checkRows(len(src), rows, cols, ld)
}
